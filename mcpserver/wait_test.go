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

// A failingWait is a client whose first calls of Wait fail. The first call that succeeds has the number
// until.
type failingWait struct {
	askback.Client
	err   error
	until int32
	tries *atomic.Int32
}

func (c failingWait) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if c.tries.Add(1) < c.until {
		return askback.Ask{}, c.err
	}
	return c.Client.Wait(ctx, id)
}

// transientErrors are errors after which an ask can still be waited for.
var transientErrors = []error{
	askback.ErrTooMany, askback.ErrBusy, askback.ErrFull, askback.ErrUnreachable, askback.ErrStopping,
}

// If Wait fails, the call still waits: after an immediate pending result, a model would call again
// immediately (B7).
func TestFailedWaitDoesNotReturnEarly(t *testing.T) {
	for _, err := range transientErrors {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			var tries atomic.Int32
			f.wrap = func(s askback.Client) askback.Client { return failingWait{s, err, 1 << 30, &tries} }
			cs := f.connectStdio("program", stateless, nil)
			started := time.Now()
			got := callTool(t.Context(), cs, "ask_user_question", database)
			if waited := time.Since(started); waited != 45*time.Second || got.structured(t)["status"] != "pending" {
				t.Errorf("%v: got %v after %s", err, got.structured(t), waited)
			}
			if n := tries.Load(); n != 5 { // at 0, 10, 20, 30 and 40 s
				t.Errorf("%v: %d tries", err, n)
			}
			id := `{"question_id": "` + f.pendingAsk().ID + `"`
			for args, want := range map[string]time.Duration{
				id + `}`: 45 * time.Second, id + `, "max_wait_s": 1}`: time.Second,
			} {
				started = time.Now()
				callTool(t.Context(), cs, "wait_for_answer", args).text(t)
				if waited := time.Since(started); waited != want {
					t.Errorf("%v: %s waited %s, want %s", err, args, waited, want)
				}
			}
		})
	}
}

// If Wait fails, it is called again, and the ask is read in the meantime.
func TestFailedWaitIsTriedAgain(t *testing.T) {
	for name, until := range map[string]int32{"Wait succeeds in the end": 3, "Wait never succeeds": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.wrap = func(s askback.Client) askback.Client {
					return failingWait{s, askback.ErrTooMany, until, new(atomic.Int32)}
				}
				started := time.Now()
				done := startCall(t.Context(), f.connectStdio("program", withSessions, nil), "ask_user_question",
					database)
				<-time.After(25 * time.Second) // takes no real time
				f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
				got, waited := <-done, time.Since(started)
				if got.structured(t)["answers"] == nil || waited > 30*time.Second ||
					until == 3 && waited != 25*time.Second {
					t.Errorf("got %v after %s", got.structured(t), waited)
				}
			})
		})
	}
}

// A failingWaitEngine is an engine whose clients cannot wait.
type failingWaitEngine struct{ *engine.Engine }

func (g failingWaitEngine) As(p askback.Principal) askback.Client {
	return failingWait{g.Engine.As(p), askback.ErrTooMany, 1 << 30, new(atomic.Int32)}
}

func TestTokenRevokedDuringFailedWaitGetsNoOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		cs := connect(t, &mcp.StreamableClientTransport{
			Endpoint: "http://askback.test/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
			HTTPClient: &http.Client{Transport: &handlerTransport{
				handler: func() http.Handler { return f.server.Handler(failingWaitEngine{f.engine}) },
				serving: &f.serving, secret: f.secret(askback.Agent, "bot"),
			}},
		}, "program", stateless, nil)
		done := startCall(t.Context(), cs, "ask_user_question", database)
		tokens, err := f.admin.Tokens(t.Context())
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		if _, err := f.admin.RevokeToken(t.Context(), tokens[0].ID); err != nil {
			t.Fatal(err)
		}
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if got := <-done; got.err == nil && strings.Contains(got.text(t), "SQLite") {
			t.Errorf("the revoked token got %q", got.text(t))
		}
	})
}

// A wait that fails ends when the client is gone or the server stops.
func TestFailedWaitEndsWithClientAndServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.wrap = func(s askback.Client) askback.Client {
			return failingWait{s, askback.ErrTooMany, 1 << 30, new(atomic.Int32)}
		}
		cs := f.connectStdio("program", withSessions, nil)
		started := time.Now()
		done := startCall(t.Context(), cs, "ask_user_question", database)
		f.server.Stop()
		if got := (<-done).structured(t); got["status"] != "pending" || time.Since(started) != 0 {
			t.Errorf("stopped: got %v after %s", got, time.Since(started))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var tries atomic.Int32
		f.wrap = func(s askback.Client) askback.Client { return failingWait{s, askback.ErrTooMany, 1 << 30, &tries} }
		cs := f.connectStdio("program", withSessions, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		done := startCall(ctx, cs, "ask_user_question", database)
		giveUp()
		<-done
		<-time.After(time.Minute) // takes no real time
		if n := tries.Load(); n != 1 {
			t.Errorf("gone: %d tries", n)
		}
	})
}

// A breakableWriter is a response whose writes fail once broken is set.
type breakableWriter struct {
	http.ResponseWriter
	broken atomic.Bool
}

func (s *breakableWriter) Write(p []byte) (int, error) {
	if s.broken.Load() {
		return 0, io.ErrClosedPipe
	}
	return s.ResponseWriter.Write(p)
}

func (s *breakableWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// If a progress notification cannot be sent, the client is gone and the wait ends.
func TestWaitEndsWhenProgressCannotBeSent(t *testing.T) {
	for broken, want := range map[bool]time.Duration{false: 45 * time.Second, true: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			body := strings.Replace(toolCall("ask_user_question", database, "{}"), `"_meta": {`,
				`"_meta": {"progressToken": "t1", `, 1)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
				strings.NewReader(body))
			for k, v := range map[string]string{
				"Authorization": "Bearer " + f.secret(askback.Agent, "bot"), "Content-Type": "application/json",
				"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": stateless,
				"Mcp-Method": "tools/call", "Mcp-Name": "ask_user_question",
			} {
				r.Header.Set(k, v)
			}
			started, served := time.Now(), make(chan struct{})
			w := &breakableWriter{ResponseWriter: httptest.NewRecorder()}
			go func() {
				defer close(served)
				f.server.Handler(f.engine).ServeHTTP(w, r)
			}()
			synctest.Wait()
			id := f.pendingAsk().ID
			w.broken.Store(broken)
			<-served
			if waited := time.Since(started); waited != want || f.pendingAsk().ID != id {
				t.Errorf("broken %t: ended after %s, want %s", broken, waited, want)
			}
		})
	}
}
