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

// A wrappedEngine is an engine whose clients are wrapped.
type wrappedEngine struct {
	*engine.Engine
	client func(askback.Client) askback.Client
}

func (g wrappedEngine) As(p askback.Principal) askback.Client { return g.client(g.Engine.As(p)) }

// wrappedHTTPClient returns an HTTP client of bot whose askback.Client is wrapped.
func (f *fixture) wrappedHTTPClient(client func(askback.Client) askback.Client) *http.Client {
	h := f.server.Handler(wrappedEngine{f.engine, client})
	return &http.Client{Transport: &handlerTransport{handler: func() http.Handler {
		return h
	}, serving: &f.serving, secret: f.secret(askback.Agent, "bot")}}
}

// A slowClient is a client whose methods wait for a channel, even after their context has ended.
type slowClient struct {
	askback.Client
	get, ack <-chan struct{} // if nil, the method does not wait
	acked    *bool           // set when Ack is called
}

func (s slowClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	if s.get != nil {
		<-s.get
	}
	return s.Client.Get(context.WithoutCancel(ctx), id)
}

func (s slowClient) Ack(ctx context.Context, id string) (askback.Ask, error) {
	if s.ack != nil {
		<-s.ack
	}
	if s.acked != nil {
		*s.acked = true
	}
	return s.Client.Ack(ctx, id)
}

// after returns a channel that is closed after a time. A synctest bubble needs no real time for this.
func after(wait time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(wait, func() { close(c) })
	return c
}

// Finish returns when every outcome is acknowledged, also the outcomes of requests that were still being
// served (B7).
func TestFinishWaitsForRequestsAndAcks(t *testing.T) {
	for name, newClient := range map[string]func() slowClient{
		"an ack":    func() slowClient { return slowClient{ack: after(4 * time.Second)} },
		"a request": func() slowClient { return slowClient{get: after(4 * time.Second)} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				id := f.answeredAsk(t).ID
				client := newClient()
				httpClient := f.wrappedHTTPClient(
					func(s askback.Client) askback.Client { client.Client = s; return client },
				)
				replied := make(chan struct{})
				go func() {
					defer close(replied)
					post(t, httpClient, "tools/call", "get_answer",
						toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
				}()
				synctest.Wait()
				f.server.Stop()
				f.server.Finish()
				if !f.acked(t, id) {
					t.Error("Finish has returned, and the outcome is not acknowledged")
				}
				<-replied
			})
		})
	}
}

func TestStdioEndsAfterItsAcks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		id := f.answeredAsk(t).ID
		f.wrap = func(s askback.Client) askback.Client { return slowClient{Client: s, ack: after(4 * time.Second)} }
		c := f.stdioPeer(t, io.Discard)
		c.send(t, getAnswerCall(2, id))
		_ = c.in.Close()
		if err := <-c.served; err != nil || !f.acked(t, id) {
			t.Errorf("stdio ended with %v, acknowledged: %t", err, f.acked(t, id))
		}
	})
}

// Finish has a timeout. Ack is not called after the timeout.
func TestFinishTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		id := f.answeredAsk(t).ID
		get, acked, replied := make(chan struct{}), false, make(chan struct{})
		httpClient := f.wrappedHTTPClient(func(s askback.Client) askback.Client {
			return slowClient{Client: s, get: get, acked: &acked}
		})
		go func() {
			defer close(replied)
			post(t, httpClient, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
		}()
		synctest.Wait()
		f.server.Stop()
		started := time.Now()
		f.server.Finish()
		if took := time.Since(started); took == 0 || took > 5*time.Second { // the whole time is 20 s
			t.Errorf("Finish took %s", took)
		}
		close(get)
		<-replied
		synctest.Wait()
		if acked {
			t.Error("Ack was called after Finish")
		}
	})
}

// Requests during Finish are served or rejected, and later requests are rejected.
func TestRequestsDuringFinishAreServedOrRejected(t *testing.T) {
	f := newFixture(t)
	id := f.answeredAsk(t).ID
	httpClient := f.wrappedHTTPClient(func(s askback.Client) askback.Client { return s })
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 5 {
				status, reply := post(t, httpClient, "tools/call", "get_answer",
					toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
				if status != http.StatusOK && status != http.StatusServiceUnavailable {
					t.Errorf("got %d %v", status, reply)
				}
			}
		})
	}
	f.server.Stop()
	f.server.Finish()
	clients.Wait()
	if status, _ := post(t, httpClient, "tools/list", "", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("after the end: got %d", status)
	}
	if err := f.server.ServeStdio(t.Context(), f.engine.As(bot), strings.NewReader(""),
		io.Discard); !errors.Is(err, askback.ErrStopping) {
		t.Errorf("after the end: got %v", err)
	}
}

// A server that stops replies with an error and Retry-After.
func TestStoppingServerRejectsRequests(t *testing.T) {
	f := newFixture(t)
	f.server.Stop()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
	r.Header.Set("Authorization", "Bearer "+f.secret(askback.Agent, "bot"))
	w := httptest.NewRecorder()
	f.server.Handler(f.engine).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), "stopping") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// If serving a request panics, its outcome counts as not delivered.
func TestPanicDeliversNothing(t *testing.T) {
	f := newFixture(t)
	ask := f.answeredAsk(t)
	func() {
		defer func() {
			if p := recover(); p == nil {
				t.Error("ServeOutcome did not panic")
			}
		}()
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
		f.server.ServeOutcome(f.engine.As(bot), ask, httptest.NewRecorder(), r,
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}()
	if f.server.Finish(); f.server.Delivered(ask.ID) || f.acked(t, ask.ID) {
		t.Error("the outcome counts as delivered")
	}
}

// A failingRecorder is a response whose writes fail.
type failingRecorder struct{ *httptest.ResponseRecorder }

func (failingRecorder) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// An outcome counts as delivered once its reply was written to a client that was still
// connected. Many clients close the connection as soon as they have the reply.
func TestUnwrittenReplyDeliversNothing(t *testing.T) {
	for name, c := range map[string]struct {
		w             http.ResponseWriter
		before, after bool // the client leaves before or after the reply is written
		delivered     bool
	}{
		"written":     {httptest.NewRecorder(), false, false, true},
		"not written": {failingRecorder{httptest.NewRecorder()}, false, false, false},
		"gone":        {httptest.NewRecorder(), true, false, false},
		"goes":        {httptest.NewRecorder(), false, true, true},
	} {
		f := newFixture(t)
		ask := f.answeredAsk(t)
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`)).WithContext(ctx)
		f.server.ServeOutcome(f.engine.As(bot), ask, c.w, r, func(w http.ResponseWriter, _ *http.Request) {
			if c.before {
				cancel()
			}
			_, _ = io.WriteString(w, "Ada")
			if c.after {
				cancel()
			}
		})
		cancel()
		if f.server.Finish(); f.server.Delivered(ask.ID) != c.delivered || f.acked(t, ask.ID) != c.delivered {
			t.Errorf("%s: delivered %t, acknowledged %t; want %t", name, f.server.Delivered(ask.ID),
				f.acked(t, ask.ID), c.delivered)
		}
	}
}

// New panics if the secret is too short.
func TestShortSecretPanics(t *testing.T) {
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
