package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/mcpserver"
)

// door is a gate whose seats are changed.
type door struct {
	*engine.Engine
	seat func(askback.Client) askback.Client
}

func (g door) As(p askback.Principal) askback.Client { return g.seat(g.Engine.As(p)) }

// through is a client of bot that comes through a door.
func (d *desk) through(seat func(askback.Client) askback.Client) *http.Client {
	h := d.server.Handler(door{d.engine, seat})
	return &http.Client{Transport: &direct{handler: func() http.Handler { return h }, serving: &d.serving, secret: d.secret(askback.Agent, "bot")}}
}

// sluggish is a seat that takes its time, whoever waits.
type sluggish struct {
	askback.Client
	get, receive <-chan struct{} // nil: at once
	wrote        *bool           // a receipt, or tried to
}

func (s sluggish) Get(ctx context.Context, id string) (askback.Ask, error) {
	if s.get != nil {
		<-s.get
	}
	return s.Client.Get(context.WithoutCancel(ctx), id)
}

func (s sluggish) Ack(ctx context.Context, id string) (askback.Ask, error) {
	if s.receive != nil {
		<-s.receive
	}
	if s.wrote != nil {
		*s.wrote = true
	}
	return s.Client.Ack(ctx, id)
}

// after ends after a time of the bubble.
func after(wait time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(wait, func() { close(c) })
	return c
}

// Whoever ends the seats after Finish loses no receipt: neither of a reply that was
// sent, nor of a request that was still served (B7).
func TestFinishWaitsForRequestsAndReceipts(t *testing.T) {
	for name, made := range map[string]func() sluggish{
		"a receipt": func() sluggish { return sluggish{receive: after(4 * time.Second)} },
		"a request": func() sluggish { return sluggish{get: after(4 * time.Second)} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				id := d.answered(t).ID
				seat := made()
				web := d.through(func(s askback.Client) askback.Client { seat.Client = s; return seat })
				replied := make(chan struct{})
				go func() {
					defer close(replied)
					post(t, web, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
				}()
				synctest.Wait()
				d.server.Stop()
				d.server.Finish()
				if !d.received(t, id) {
					t.Error("it is finished, and there is no receipt")
				}
				<-replied
			})
		})
	}
}

// A connection on stdio ends after its receipts too: the seat ends with it.
func TestStdioEndsAfterItsReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		id := d.answered(t).ID
		d.seat = func(s askback.Client) askback.Client { return sluggish{Client: s, receive: after(4 * time.Second)} }
		c := d.terminal(t, io.Discard)
		c.send(t, look(2, id))
		_ = c.in.Close()
		if err := <-c.served; err != nil || !d.received(t, id) {
			t.Errorf("it ended with %v, and there is a receipt: %t", err, d.received(t, id))
		}
	})
}

// Finish does not wait for ever, and nothing touches a seat after it.
func TestFinishIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		id := d.answered(t).ID
		get, wrote, replied := make(chan struct{}), false, make(chan struct{})
		web := d.through(func(s askback.Client) askback.Client { return sluggish{Client: s, get: get, wrote: &wrote} })
		go func() {
			defer close(replied)
			post(t, web, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
		}()
		synctest.Wait()
		d.server.Stop()
		begun := time.Now()
		d.server.Finish()
		if took := time.Since(begun); took == 0 || took > 5*time.Second { // of 20 s in all
			t.Errorf("it took %s", took)
		}
		close(get)
		<-replied
		synctest.Wait()
		if wrote {
			t.Error("a receipt was written after the end")
		}
	})
}

// Requests that come while a server ends are served whole or refused, and no
// receipt is left behind.
func TestRequestsThatComeAtTheEnd(t *testing.T) {
	d := newDesk(t)
	id := d.answered(t).ID
	web := d.through(func(s askback.Client) askback.Client { return s })
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 5 {
				status, reply := post(t, web, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
				if status != http.StatusOK && status != http.StatusServiceUnavailable {
					t.Errorf("got %d %v", status, reply)
				}
			}
		})
	}
	d.server.Stop()
	d.server.Finish()
	clients.Wait()
	if status, _ := post(t, web, "tools/list", "", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("after the end: got %d", status)
	}
	if err := d.server.ServeStdio(t.Context(), d.engine.As(bot), strings.NewReader(""), io.Discard); !errors.Is(err, askback.ErrStopping) {
		t.Errorf("after the end: got %v", err)
	}
}

// Once it is told to stop, a server sends its clients elsewhere, or to come back.
func TestAServerThatStopsLetsNobodyIn(t *testing.T) {
	d := newDesk(t)
	d.server.Stop()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
	r.Header.Set("Authorization", "Bearer "+d.secret(askback.Agent, "bot"))
	w := httptest.NewRecorder()
	d.server.Handler(d.engine).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "stopping") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// What a request gave before it broke off was not given.
func TestAPanicGivesNothing(t *testing.T) {
	d := newDesk(t)
	ask := d.answered(t)
	func() {
		defer func() {
			if p := recover(); p == nil {
				t.Error("it did not panic")
			}
		}()
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
		d.server.ServeOutcome(d.engine.As(bot), ask, httptest.NewRecorder(), r, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}()
	if d.server.Finish(); d.server.Delivered(ask.ID) || d.received(t, ask.ID) {
		t.Error("it counts as given")
	}
}

// deaf is a reply that cannot be written.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// An answer was given when its reply was written to a client that was still there. Many
// close the connection as soon as they have it.
func TestWhatDoesNotArriveWasNotGiven(t *testing.T) {
	for name, c := range map[string]struct {
		w             http.ResponseWriter
		before, after bool // the client leaves, before or after the reply is written
		given         bool
	}{
		"written":     {httptest.NewRecorder(), false, false, true},
		"not written": {deaf{httptest.NewRecorder()}, false, false, false},
		"gone":        {httptest.NewRecorder(), true, false, false},
		"goes":        {httptest.NewRecorder(), false, true, true},
	} {
		d := newDesk(t)
		ask := d.answered(t)
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`)).WithContext(ctx)
		d.server.ServeOutcome(d.engine.As(bot), ask, c.w, r, func(w http.ResponseWriter, _ *http.Request) {
			if c.before {
				leave()
			}
			_, _ = io.WriteString(w, "Ada")
			if c.after {
				leave()
			}
		})
		leave()
		if d.server.Finish(); d.server.Delivered(ask.ID) != c.given || d.received(t, ask.ID) != c.given {
			t.Errorf("%s: it counts as given: %t, and there is a receipt: %t; want %t", name, d.server.Delivered(ask.ID), d.received(t, ask.ID), c.given)
		}
	}
}

// A secret that is too short to sign with is a mistake of whoever wrote the program,
// an empty one too: everybody could sign with it.
func TestAShortSecretPanics(t *testing.T) {
	for n, want := range map[int]bool{-1: false, 0: true, 1: true, 31: true, 32: false} {
		var secret []byte
		if n >= 0 {
			secret = make([]byte, n)
		}
		func() {
			defer func() {
				p := recover()
				if text, _ := p.(string); (p != nil) != want || want && !strings.Contains(text, "Options.Secret") {
					t.Errorf("%d bytes: got %v, want a panic: %t", n, p, want)
				}
			}()
			mcpserver.New(&mcpserver.Options{Secret: secret})
		}()
	}
}
