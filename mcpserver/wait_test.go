package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// crowded is a seat that lets nobody wait before the n-th try.
type crowded struct {
	askback.Client
	err   error
	until int32
	tries *atomic.Int32
}

func (c crowded) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if c.tries.Add(1) < c.until {
		return askback.Ask{}, c.err
	}
	return c.Client.Wait(ctx, id)
}

// passing are the errors of a wait that leave the ask as it is.
var passing = []error{askback.ErrTooMany, askback.ErrBusy, askback.ErrFull, askback.ErrUnreachable, askback.ErrStopping}

// Where nobody may wait now, the call takes its time all the same: a model that is
// told "pending" at once comes back at once (B7).
func TestAWaitThatFailsTakesItsTime(t *testing.T) {
	for _, err := range passing {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			var tries atomic.Int32
			d.seat = func(s askback.Client) askback.Client { return crowded{s, err, 1 << 30, &tries} }
			cs := d.stdio("program", modern, nil)
			begun := time.Now()
			got := call(t.Context(), cs, "ask_user_question", database)
			if waited := time.Since(begun); waited != 45*time.Second || got.structured(t)["status"] != "pending" {
				t.Errorf("%v: got %v after %s", err, got.structured(t), waited)
			}
			if n := tries.Load(); n != 5 { // at 0, 10, 20, 30 and 40 s
				t.Errorf("%v: %d tries", err, n)
			}
			id := `{"question_id": "` + d.only().ID + `"`
			for args, want := range map[string]time.Duration{id + `}`: 45 * time.Second, id + `, "max_wait_s": 1}`: time.Second} {
				begun = time.Now()
				call(t.Context(), cs, "wait_for_answer", args).text(t)
				if waited := time.Since(begun); waited != want {
					t.Errorf("%v: %s waited %s, want %s", err, args, waited, want)
				}
			}
		})
	}
}

// When it may wait again it does, and meanwhile it looks: the answer is told.
func TestAWaitThatFailsIsTriedAgain(t *testing.T) {
	for name, until := range map[string]int32{"waits in the end": 3, "only looks": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.seat = func(s askback.Client) askback.Client { return crowded{s, askback.ErrTooMany, until, new(atomic.Int32)} }
				begun := time.Now()
				done := start(t.Context(), d.stdio("program", legacy, nil), "ask_user_question", database)
				<-time.After(25 * time.Second) // by the clock of the bubble
				d.answer(d.only().ID, askback.Choose("SQLite"))
				got, waited := <-done, time.Since(begun)
				if got.structured(t)["answers"] == nil || waited > 30*time.Second || until == 3 && waited != 25*time.Second {
					t.Errorf("got %v after %s", got.structured(t), waited)
				}
			})
		})
	}
}

// crowdedGate lets agents in where none may wait.
type crowdedGate struct{ *engine.Engine }

func (g crowdedGate) As(p askback.Principal) askback.Client {
	return crowded{g.Engine.As(p), askback.ErrTooMany, 1 << 30, new(atomic.Int32)}
}

// A token that is revoked while its call may not even wait hears nothing either.
func TestARevokedTokenHearsNothingWhereNobodyMayWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		cs := connect(t, &mcp.StreamableClientTransport{
			Endpoint: "http://askback.test/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
			HTTPClient: &http.Client{Transport: &direct{
				handler: func() http.Handler { return d.server.Handler(crowdedGate{d.engine}) },
				serving: &d.serving, secret: d.secret(askback.Agent, "bot"),
			}},
		}, "program", modern, nil)
		done := start(t.Context(), cs, "ask_user_question", database)
		tokens, err := d.admin.Tokens(t.Context())
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		if _, err := d.admin.RevokeToken(t.Context(), tokens[0].ID); err != nil {
			t.Fatal(err)
		}
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if got := <-done; got.err == nil && strings.Contains(got.text(t), "SQLite") {
			t.Errorf("it heard %q", got.text(t))
		}
	})
}

// Nothing holds a call whose client is gone, or whose server stops.
func TestAWaitThatFailsEndsWithItsClientAndItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.seat = func(s askback.Client) askback.Client {
			return crowded{s, askback.ErrTooMany, 1 << 30, new(atomic.Int32)}
		}
		cs := d.stdio("program", legacy, nil)
		begun := time.Now()
		done := start(t.Context(), cs, "ask_user_question", database)
		d.server.Stop()
		if got := (<-done).structured(t); got["status"] != "pending" || time.Since(begun) != 0 {
			t.Errorf("stopped: got %v after %s", got, time.Since(begun))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var tries atomic.Int32
		d.seat = func(s askback.Client) askback.Client { return crowded{s, askback.ErrTooMany, 1 << 30, &tries} }
		cs := d.stdio("program", legacy, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		done := start(ctx, cs, "ask_user_question", database)
		giveUp()
		<-done
		<-time.After(time.Minute) // by the clock of the bubble
		if n := tries.Load(); n != 1 {
			t.Errorf("gone: %d tries", n)
		}
	})
}

// muted is a reply whose connection breaks, which nobody says.
type muted struct {
	http.ResponseWriter
	broken atomic.Bool
}

func (s *muted) Write(p []byte) (int, error) {
	if s.broken.Load() {
		return 0, io.ErrClosedPipe
	}
	return s.ResponseWriter.Write(p)
}

func (s *muted) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// A client that cannot be told that its call lives is not there any more: nothing
// waits for it.
func TestAWaitEndsWhenProgressCannotBeTold(t *testing.T) {
	for broken, want := range map[bool]time.Duration{false: 45 * time.Second, true: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			body := strings.Replace(toolCall("ask_user_question", database, "{}"), `"_meta": {`, `"_meta": {"progressToken": "t1", `, 1)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
			for k, v := range map[string]string{
				"Authorization": "Bearer " + d.secret(askback.Agent, "bot"), "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "ask_user_question",
			} {
				r.Header.Set(k, v)
			}
			begun, served := time.Now(), make(chan struct{})
			w := &muted{ResponseWriter: httptest.NewRecorder()}
			go func() {
				defer close(served)
				d.server.Handler(d.engine).ServeHTTP(w, r)
			}()
			synctest.Wait()
			id := d.only().ID
			w.broken.Store(broken)
			<-served
			if waited := time.Since(begun); waited != want || d.only().ID != id {
				t.Errorf("broken %t: ended after %s, want %s", broken, waited, want)
			}
		})
	}
}
