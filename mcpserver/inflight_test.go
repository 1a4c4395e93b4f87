package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/mcpserver"
)

// postInSession sends a body in a session. It returns the response when its header has arrived.
func (f *fixture) postInSession(agent, session, body string) *http.Response {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "http://askback.test/mcp",
		strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": withSessions, "Mcp-Session-Id": session,
	} {
		r.Header.Set(name, value)
	}
	res, err := f.httpClient(agent).Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// callInSession sends a call with an id in the session "mine", and returns a channel for the reply.
func (f *fixture) callInSession(id int, args string) <-chan string {
	replies := make(chan string, 1)
	go func() {
		res := f.postInSession("bot", "mine", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": %s}}`, id, args))
		raw, _ := io.ReadAll(res.Body)
		replies <- string(raw)
	}()
	synctest.Wait()
	return replies
}

// cancelInSession sends a cancellation of the request with an id.
func (f *fixture) cancelInSession(agent, session string, id int) {
	f.t.Helper()
	f.postInSession(agent, session, fmt.Sprintf(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d, "reason": "timed out"}}`, id))
	synctest.Wait()
}

// The TypeScript SDK 1.x keeps the connection of a call that it gave up, and sends a
// cancellation. The call then delivers nothing, and the same call gets the answer. A
// cancellation of another session or agent has no effect (B7, F9).
func TestCancelledCallDeliversNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		reply := f.callInSession(7, database)
		f.cancelInSession("bot", "another", 7)
		f.cancelInSession("spy", "mine", 7)
		f.cancelInSession("bot", "mine", 8)
		select {
		case text := <-reply:
			t.Fatalf("another client cancelled the call: %s", text)
		default:
		}
		f.cancelInSession("bot", "mine", 7)
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if text := <-reply; strings.Contains(text, "SQLite") {
			t.Errorf("a cancelled call got %s", text)
		}
		if text := <-f.callInSession(9, database); !strings.Contains(text, "SQLite") {
			t.Errorf("the same call got %s", text)
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("there is another ask: %v", asks)
		}
	})
}

// If a client uses an id for two concurrent requests, a cancellation ends the later request.
func TestCancellationOfReusedIDEndsTheLaterRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		first := f.callInSession(7, `{"question": "First?"}`)
		one := f.pendingAsk().ID
		second := f.callInSession(7, `{"question": "Second?"}`)
		f.answer(one, askback.Choose("yes"))
		if text := <-first; !strings.Contains(text, "yes") {
			t.Fatalf("the first got %s", text)
		}
		f.cancelInSession("bot", "mine", 7)
		f.answer(f.pendingAsk().ID, askback.Choose("too late"))
		if text := <-second; strings.Contains(text, "too late") {
			t.Errorf("a cancelled call got %s", text)
		}
		if text := <-f.callInSession(8, `{"question": "Second?"}`); !strings.Contains(text, "too late") {
			t.Errorf("the same call got %s", text)
		}
	})
}

// A wireClient is a client of a revision with cancellations. It sends messages unchanged.
type wireClient struct {
	send   func(id int, message string) // sends a request
	cancel func(id string)
	read   func() string // returns the next reply
	end    func()
}

// httpWireClient returns a client over HTTP, in the session "mine".
func (f *fixture) httpWireClient(*testing.T) *wireClient {
	replies := make(chan *http.Response, 10)
	return &wireClient{
		send: func(_ int, message string) {
			go func() { replies <- f.postInSession("bot", "mine", message) }()
			synctest.Wait()
		},
		cancel: func(id string) { f.postInSession("bot", "mine", cancelMessage(id)); synctest.Wait() },
		read: func() string {
			raw, _ := io.ReadAll((<-replies).Body)
			synctest.Wait()
			return string(raw)
		},
		end: func() {},
	}
}

// stdioClient returns a client on stdio. The server cannot write more than the test reads.
func (f *fixture) stdioClient(t *testing.T) *wireClient {
	r, w := io.Pipe()
	c := f.stdioPeer(t, w)
	lines := bufio.NewScanner(r)
	read := func() string { lines.Scan(); synctest.Wait(); return lines.Text() }
	read() // the reply to initialize
	return &wireClient{
		send:   func(_ int, message string) { c.send(t, message) },
		cancel: func(id string) { c.send(t, cancelMessage(id)) },
		read:   read,
		end:    func() { _ = c.in.Close(); _ = r.Close(); <-c.served },
	}
}

// eachWire runs a test over HTTP and on stdio.
func eachWire(t *testing.T, run func(t *testing.T, f *fixture, a *wireClient)) {
	t.Helper()
	for transport, connect := range map[string]func(*fixture, *testing.T) *wireClient{
		"HTTP": (*fixture).httpWireClient, "stdio": (*fixture).stdioClient,
	} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				a := connect(f, t)
				defer a.end()
				run(t, f, a)
			})
		})
	}
}

func cancelMessage(id string) string {
	return `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ` + id +
		`, "RequestId": 99, "reason": "AbortError: The operation was aborted."}}`
}

func callMessage(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": %q, "arguments": %s}}`,
		id, tool, args)
}

// A cancellation during or after the writing of the reply changes nothing (B7).
func TestCancellationAfterTheReplyChangesNothing(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"while it is written": -1, "immediately": 0, "before the ack": mcpserver.AckTick - time.Millisecond,
		"after the ack": 500 * time.Millisecond,
	} {
		for _, cancels := range []string{`7`, `8`, `"7"`, `null`} {
			t.Run(name+" of "+cancels, func(t *testing.T) {
				eachWire(t, func(t *testing.T, f *fixture, a *wireClient) {
					id := f.answeredAsk(t).ID
					a.send(7, getAnswerCall(7, id))
					if after < 0 {
						a.cancel(cancels)
						a.read()
					} else {
						a.read()
						advance(after)
						a.cancel(cancels)
					}
					nextTick()
					if !f.acked(t, id) || !f.server.Delivered(id) {
						t.Errorf("acknowledged %t, delivered %t; want both", f.acked(t, id), f.server.Delivered(id))
					}
					listed := callTool(t.Context(), f.connectHTTP("bot", "program", stateless, nil),
						"list_open_questions", `{}`).text(t)
					if strings.Contains(listed, id) {
						t.Errorf("listed %s", listed)
					}
					if n := f.server.InFlight(); n != 0 {
						t.Errorf("%d requests are kept", n)
					}
				})
			})
		}
	}
}

// If a client cancels each call after its reply, as OpenCode does, and asks the same again,
// a person is asked each time. Each outcome is delivered once (B7, F7).
func TestCallAfterAReplyAndItsCancellationAsksAgain(t *testing.T) {
	for _, test := range []struct {
		tool, args string
		settle     []func(f *fixture, id string)
		want       []string
	}{
		{"ask_user_question", database, []func(*fixture, string){
			func(f *fixture, id string) { f.answer(id, askback.Choose("SQLite")) },
			func(f *fixture, id string) { f.answer(id, askback.Choose("PostgreSQL")) },
			func(f *fixture, id string) { f.decline(id) },
			func(f *fixture, id string) { f.answer(id, askback.Choose("neither")) },
		}, []string{"SQLite", "PostgreSQL", "declined", "neither"}},
		{"confirm_action", pay, []func(*fixture, string){
			func(f *fixture, id string) { f.answer(id, askback.Decide(askback.Deny, "not today")) },
			func(f *fixture, id string) { f.answer(id, askback.Decide(askback.Approve, "")) },
			func(f *fixture, id string) { f.answer(id, askback.Decide(askback.Deny, "never")) },
		}, []string{"not today", `"confirmed":true`, "never"}},
	} {
		for _, pause := range []time.Duration{0, 100 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s %s", test.tool, pause), func(t *testing.T) {
				eachWire(t, func(t *testing.T, f *fixture, a *wireClient) {
					seen := map[string]bool{}
					for n, settle := range test.settle {
						a.send(n+7, callMessage(n+7, test.tool, test.args))
						id := f.pendingAsk().ID
						if seen[id] {
							t.Fatalf("call %d: %s is asked again", n, id)
						}
						seen[id] = true
						settle(f, id)
						if text := a.read(); !strings.Contains(text, test.want[n]) {
							t.Errorf("call %d: got %s, want %s", n, text, test.want[n])
						}
						advance(pause)
						a.cancel(fmt.Sprint(n + 7))
					}
					nextTick()
					for id := range seen {
						if !f.acked(t, id) {
							t.Errorf("%s is not acknowledged", id)
						}
					}
				})
			})
		}
	}
}

// A cancellation before the reply is written discards the outcome, even if the result exists already. A
// cancellation right after the reply does not discard the outcome.
func TestCancellationBeforeTheReplyDiscardsTheOutcome(t *testing.T) {
	for _, before := range []bool{true, false} {
		f := newFixture(t)
		ask := f.answeredAsk(t)
		f.server.ServeOutcomeAndCancel(f.engine.As(bot), ask, before)
		f.server.Finish()
		if f.server.Delivered(ask.ID) == before || f.acked(t, ask.ID) == before {
			t.Errorf("cancelled before the reply: %t; delivered %t, acknowledged %t", before,
				f.server.Delivered(ask.ID), f.acked(t, ask.ID))
		}
	}
}

// Two calls run concurrently on one connection. The cancelled call delivers nothing and the other call gets
// the answer. A later call asks again.
func TestCancellationEndsOnlyOneOfTwoCalls(t *testing.T) {
	eachWire(t, func(t *testing.T, f *fixture, a *wireClient) {
		a.send(7, callMessage(7, "ask_user_question", database))
		a.send(8, callMessage(8, "ask_user_question", database))
		id := f.pendingAsk().ID
		a.cancel("7")
		a.read() // the error of the cancelled call
		f.answer(id, askback.Choose("SQLite"))
		if text := a.read(); !strings.Contains(text, "SQLite") {
			t.Errorf("the other call got %s", text)
		}
		a.send(9, callMessage(9, "ask_user_question", database))
		f.answer(f.pendingAsk().ID, askback.Choose("PostgreSQL"))
		if text := a.read(); !strings.Contains(text, "PostgreSQL") {
			t.Errorf("the next got %s", text)
		}
	})
}
