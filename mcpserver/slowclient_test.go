package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
)

// A pipeListener is a net.Listener for connections within the process. The connections have no buffer, and
// work in a synctest bubble.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// serve starts an HTTP server and returns its listener. If o has no handler, the server uses the handler of
// the fixture.
func (f *fixture) serve(t *testing.T, o *http.Server) *pipeListener {
	p := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	handler := o.Handler
	if handler == nil {
		handler = f.server.Handler(f.engine)
	}
	o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.serving.Add(1)
		defer f.serving.Add(-1)
		handler.ServeHTTP(w, r)
	})
	served := make(chan error, 1)
	go func() { served <- o.Serve(p) }()
	t.Cleanup(func() { _ = o.Close(); <-served })
	return p
}

// answeredAsk returns an ask of bot that is answered and not delivered.
func (f *fixture) answeredAsk(t *testing.T) askback.Ask {
	t.Helper()
	ask, err := f.engine.As(bot).Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which name?"}}})
	if err != nil {
		t.Fatal(err)
	}
	return f.answer(ask.ID, askback.Choose("Ada"))
}

// acked reports whether the outcome of an ask is acknowledged.
func (f *fixture) acked(t *testing.T, id string) bool {
	t.Helper()
	ask, err := f.engine.As(bot).Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return !ask.AckedAt.IsZero()
}

// writeCall writes a call of bot to a connection that is closed after the reply.
func (f *fixture) writeCall(conn net.Conn, tool, args string) {
	f.t.Helper()
	body := toolCall(tool, args, `{}`)
	_, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: %s\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nConnection: close\r\nContent-Length: "+
		"%d\r\n\r\n%s",
		f.secret(askback.Agent, "bot"), stateless, tool, len(body), body)
	if err != nil {
		f.t.Fatal(err)
	}
}

// A client that does not read its reply is disconnected, and its outcome counts as not
// delivered. A client that reads slowly gets the reply.
func TestClientThatDoesNotReadIsDisconnected(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			id := f.answeredAsk(t).ID
			conn := f.serve(t, &http.Server{}).dial()
			defer conn.Close()
			f.writeCall(conn, "get_answer", `{"question_id": "`+id+`"}`)
			synctest.Wait()
			if n := f.serving.Load(); n != 1 {
				t.Fatalf("%d requests are served, want 1", n)
			}
			if reads {
				<-time.After(9 * time.Second) // takes no real time
				if raw, err := io.ReadAll(conn); err != nil || !strings.Contains(string(raw), "Ada") {
					t.Errorf("got %s, %v", raw, err)
				}
			} else {
				<-time.After(11 * time.Second)
			}
			synctest.Wait()
			if n := f.serving.Load(); n != 0 {
				t.Errorf("reads %t: %d requests are still served", reads, n)
			}
			nextTick()
			if got := f.acked(t, id); got != reads {
				t.Errorf("reads %t: acknowledged %t", reads, got)
			}
		})
	}
}

// The deadline is for each piece of a reply, so a slow client gets a large reply.
func TestSlowClientGetsTheWholeReply(t *testing.T) {
	const size = 400 << 10
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ask := f.answeredAsk(t)
		conn := f.serveOutcome(t, ask, size).dial()
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got := 0
		for started, piece := time.Now(), make([]byte, 16<<10); ; <-time.After(2 * time.Second) {
			n, err := io.ReadFull(conn, piece)
			got += n
			if err != nil {
				if took := time.Since(started); !errors.Is(err, io.ErrUnexpectedEOF) ||
					got < size || took < 20*time.Second {
					t.Errorf("%d bytes in %s, and then %v", got, took, err)
				}
				break
			}
		}
		if nextTick(); !f.acked(t, ask.ID) {
			t.Error("the outcome is not acknowledged")
		}
	})
}

func TestBufferedReplyIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ask := f.answeredAsk(t)
		conn := f.serveOutcome(t, ask, 10).dial()
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-time.After(time.Minute)
		if synctest.Wait(); f.acked(t, ask.ID) || f.server.Delivered(ask.ID) {
			t.Error("the outcome counts as delivered")
		}
	})
}

func TestConnectionOfAnUnreadReplyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		closed := make(chan struct{})
		conn := f.serve(t, &http.Server{ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(closed)
			}
		}}).dial()
		defer conn.Close()
		body := `{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "ask_1"}}`
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nMcp-Protocol-Version: %s\r\n"+
			"Mcp-Method: tasks/get\r\nMcp-Name: ask_2\r\nContent-Length: %d\r\n\r\n%s", f.secret(askback.Agent, "bot"),
			stateless, len(body), body)
		select {
		case <-closed:
		case <-time.After(time.Hour): // takes no real time
			t.Error("the connection is open")
		}
	})
}

// serveOutcome returns the listener of a server whose reply delivers an outcome. The server writes the reply
// of size bytes in one write.
func (f *fixture) serveOutcome(t *testing.T, ask askback.Ask, size int) *pipeListener {
	return f.serve(t, &http.Server{
		WriteTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f.server.ServeOutcome(f.engine.As(bot), ask, w, r, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(make([]byte, size)) // the test checks the effect
			})
		}),
	})
}

// A call may wait longer than the write timeout of the HTTP server (B7).
func TestCallWaitsLongerThanTheWriteTimeout(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				protocols := &http.Protocols{}
				protocols.SetHTTP1(version == 1)
				protocols.SetUnencryptedHTTP2(version == 2)
				p := f.serve(t, &http.Server{ReadTimeout: time.Second, WriteTimeout: time.Second, Protocols: protocols})
				transport := &http.Transport{
					Protocols:   protocols,
					DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil },
				}
				defer transport.CloseIdleConnections()
				httpClient := &http.Client{Transport: bearerTransport{transport, f.secret(askback.Agent, "bot")}}
				go func() {
					<-time.After(40 * time.Second)
					f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
				}()
				_, got := post(t, httpClient, "tools/call", "ask_user_question",
					toolCall("ask_user_question", database, `{}`))
				if !strings.Contains(fmt.Sprint(got["result"]), "SQLite") {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// bearerTransport adds a token to requests.
type bearerTransport struct {
	http.RoundTripper
	secret string
}

func (s bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.secret)
	return s.RoundTripper.RoundTrip(r)
}
