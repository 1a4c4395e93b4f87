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

// pipes is a network within the process: nothing is buffered, and time can be
// stopped.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// serve serves agents with a real HTTP server, unless that has a handler, and
// returns how to reach it.
func (d *desk) serve(t *testing.T, o *http.Server) *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	handler := o.Handler
	if handler == nil {
		handler = d.server.Handler(d.engine)
	}
	o.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.serving.Add(1)
		defer d.serving.Add(-1)
		handler.ServeHTTP(w, r)
	})
	served := make(chan error, 1)
	go func() { served <- o.Serve(p) }()
	t.Cleanup(func() { _ = o.Close(); <-served })
	return p
}

// answered is an ask of bot that is answered and was given to nobody.
func (d *desk) answered(t *testing.T) askback.Ask {
	t.Helper()
	ask, err := d.engine.As(bot).Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which name?"}}})
	if err != nil {
		t.Fatal(err)
	}
	return d.answer(ask.ID, askback.Choose("Ada"))
}

// received says whether an ask has its receipt.
func (d *desk) received(t *testing.T, id string) bool {
	t.Helper()
	ask, err := d.engine.As(bot).Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return !ask.AckedAt.IsZero()
}

// write writes a call of bot, without sessions, to a connection that is closed after
// the reply.
func (d *desk) write(conn net.Conn, tool, args string) {
	d.t.Helper()
	body := toolCall(tool, args, `{}`)
	_, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: %s\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		d.secret(askback.Agent, "bot"), modern, tool, len(body), body)
	if err != nil {
		d.t.Fatal(err)
	}
}

// Who does not read its reply is cut off, and was given nothing; who reads it
// slowly gets it whole.
func TestAReaderThatDoesNotReadIsCutOff(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			id := d.answered(t).ID
			conn := d.serve(t, &http.Server{}).dial()
			defer conn.Close()
			d.write(conn, "get_answer", `{"question_id": "`+id+`"}`)
			synctest.Wait()
			if n := d.serving.Load(); n != 1 {
				t.Fatalf("%d requests are served, want 1", n)
			}
			if reads {
				<-time.After(9 * time.Second) // by the clock of the bubble
				if raw, err := io.ReadAll(conn); err != nil || !strings.Contains(string(raw), "Ada") {
					t.Errorf("got %s, %v", raw, err)
				}
			} else {
				<-time.After(11 * time.Second)
			}
			synctest.Wait()
			if n := d.serving.Load(); n != 0 {
				t.Errorf("reads %t: %d requests are still served", reads, n)
			}
			nextTick()
			if got := d.received(t, id); got != reads {
				t.Errorf("reads %t: there is a receipt: %t", reads, got)
			}
		})
	}
}

// Who reads slowly gets a large reply whole: what is bounded is a piece of it.
func TestASlowReaderGetsAllOfIt(t *testing.T) {
	const size = 400 << 10
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ask := d.answered(t)
		conn := d.give(t, ask, size).dial()
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got := 0
		for begun, piece := time.Now(), make([]byte, 16<<10); ; <-time.After(2 * time.Second) {
			n, err := io.ReadFull(conn, piece)
			got += n
			if err != nil {
				if took := time.Since(begun); !errors.Is(err, io.ErrUnexpectedEOF) || got < size || took < 20*time.Second {
					t.Errorf("%d bytes in %s, and then %v", got, took, err)
				}
				break
			}
		}
		if nextTick(); !d.received(t, ask.ID) {
			t.Error("there is no receipt")
		}
	})
}

// A reply that still lies in a buffer did not arrive.
func TestAReplyThatNobodyTookHasNoReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ask := d.answered(t)
		conn := d.give(t, ask, 10).dial()
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-time.After(time.Minute)
		if synctest.Wait(); d.received(t, ask.ID) || d.server.Delivered(ask.ID) {
			t.Error("it counts as given")
		}
	})
}

// What is left in a buffer at the end holds no connection for ever either.
func TestAConnectionThatNobodyReadsIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		closed := make(chan struct{})
		conn := d.serve(t, &http.Server{ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(closed)
			}
		}}).dial()
		defer conn.Close()
		body := `{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "ask_1"}}`
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: %s\r\n"+
			"Mcp-Method: tasks/get\r\nMcp-Name: ask_2\r\nContent-Length: %d\r\n\r\n%s", d.secret(askback.Agent, "bot"), modern, len(body), body)
		select {
		case <-closed:
		case <-time.After(time.Hour): // by the clock of the bubble
			t.Error("it is open")
		}
	})
}

// give is a server whose every reply gives an ask, in so many bytes at once.
func (d *desk) give(t *testing.T, ask askback.Ask, size int) *pipes {
	return d.serve(t, &http.Server{WriteTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.server.ServeOutcome(d.engine.As(bot), ask, w, r, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, size)) // what became of it is what is tested
		})
	})})
}

// A call waits for a person far longer than a server gives a reply (B7).
func TestACallOutlivesTheTimeToWrite(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				protocols := &http.Protocols{}
				protocols.SetHTTP1(version == 1)
				protocols.SetUnencryptedHTTP2(version == 2)
				p := d.serve(t, &http.Server{ReadTimeout: time.Second, WriteTimeout: time.Second, Protocols: protocols})
				transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }}
				defer transport.CloseIdleConnections()
				web := &http.Client{Transport: showing{transport, d.secret(askback.Agent, "bot")}}
				go func() {
					<-time.After(40 * time.Second)
					d.answer(d.only().ID, askback.Choose("SQLite"))
				}()
				_, got := post(t, web, "tools/call", "ask_user_question", toolCall("ask_user_question", database, `{}`))
				if !strings.Contains(fmt.Sprint(got["result"]), "SQLite") {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// showing shows a token.
type showing struct {
	http.RoundTripper
	secret string
}

func (s showing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.secret)
	return s.RoundTripper.RoundTrip(r)
}
