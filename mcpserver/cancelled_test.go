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

// legacyPost sends a body in a session, and does not wait for the reply.
func (d *desk) legacyPost(agent, session, body string) *http.Response {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": legacy, "Mcp-Session-Id": session,
	} {
		r.Header.Set(name, value)
	}
	res, err := d.web(agent).Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// legacyCall asks under an id in the session "mine", and returns where the reply
// comes.
func (d *desk) legacyCall(id int, args string) <-chan string {
	said := make(chan string, 1)
	go func() {
		res := d.legacyPost("bot", "mine", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": %s}}`, id, args))
		raw, _ := io.ReadAll(res.Body)
		said <- string(raw)
	}()
	synctest.Wait()
	return said
}

// legacyCancel says that nobody waits for the reply to an id any more.
func (d *desk) legacyCancel(agent, session string, id int) {
	d.t.Helper()
	d.legacyPost(agent, session, fmt.Sprintf(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d, "reason": "timed out"}}`, id))
	synctest.Wait()
}

// The TypeScript SDK 1.x keeps the connection of a call that it gave up, and only
// says so in a notification. What would be written there is read by nobody: the same
// call gets the answer. Nobody cancels the call of another session or agent (B7, F9).
func TestACallThatItsClientCancelledGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		given := d.legacyCall(7, database)
		d.legacyCancel("bot", "another", 7)
		d.legacyCancel("spy", "mine", 7)
		d.legacyCancel("bot", "mine", 8)
		select {
		case text := <-given:
			t.Fatalf("somebody else ended the call: %s", text)
		default:
		}
		d.legacyCancel("bot", "mine", 7)
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if text := <-given; strings.Contains(text, "SQLite") {
			t.Errorf("nobody reads %s", text)
		}
		if text := <-d.legacyCall(9, database); !strings.Contains(text, "SQLite") {
			t.Errorf("the same call got %s", text)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("it was asked again: %v", asks)
		}
	})
}

// A client that uses an id twice at once can still cancel the later of the two: the
// end of the first does not hide it.
func TestAnIDThatIsUsedTwiceIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		first := d.legacyCall(7, `{"question": "First?"}`)
		one := d.only().ID
		second := d.legacyCall(7, `{"question": "Second?"}`)
		d.answer(one, askback.Choose("yes"))
		if text := <-first; !strings.Contains(text, "yes") {
			t.Fatalf("the first got %s", text)
		}
		d.legacyCancel("bot", "mine", 7)
		d.answer(d.only().ID, askback.Choose("too late"))
		if text := <-second; strings.Contains(text, "too late") {
			t.Errorf("nobody reads %s", text)
		}
		if text := <-d.legacyCall(8, `{"question": "Second?"}`); !strings.Contains(text, "too late") {
			t.Errorf("the same call got %s", text)
		}
	})
}

// An agentOnWire is a client of a revision with cancellations that sends its messages
// as they are.
type agentOnWire struct {
	send   func(id int, message string) // a request
	cancel func(id string)
	read   func() string // the next reply
	end    func()
}

// overHTTP is one in the session "mine".
func (d *desk) overHTTP(*testing.T) *agentOnWire {
	replies := make(chan *http.Response, 10)
	return &agentOnWire{
		send: func(_ int, message string) {
			go func() { replies <- d.legacyPost("bot", "mine", message) }()
			synctest.Wait()
		},
		cancel: func(id string) { d.legacyPost("bot", "mine", cancelOf(id)); synctest.Wait() },
		read: func() string {
			raw, _ := io.ReadAll((<-replies).Body)
			synctest.Wait()
			return string(raw)
		},
		end: func() {},
	}
}

// overStdio is one on stdio. Nothing is written that is not read.
func (d *desk) overStdio(t *testing.T) *agentOnWire {
	r, w := io.Pipe()
	c := d.terminal(t, w)
	lines := bufio.NewScanner(r)
	read := func() string { lines.Scan(); synctest.Wait(); return lines.Text() }
	read() // to initialize
	return &agentOnWire{
		send:   func(_ int, message string) { c.send(t, message) },
		cancel: func(id string) { c.send(t, cancelOf(id)) },
		read:   read,
		end:    func() { _ = c.in.Close(); _ = r.Close(); <-c.served },
	}
}

// onWire runs a test with an agent over HTTP and one on stdio.
func onWire(t *testing.T, f func(t *testing.T, d *desk, a *agentOnWire)) {
	t.Helper()
	for transport, connect := range map[string]func(*desk, *testing.T) *agentOnWire{"HTTP": (*desk).overHTTP, "stdio": (*desk).overStdio} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				a := connect(d, t)
				defer a.end()
				f(t, d, a)
			})
		})
	}
}

func cancelOf(id string) string {
	return `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ` + id + `, "RequestId": 99, "reason": "AbortError: The operation was aborted."}}`
}

func callOf(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": %q, "arguments": %s}}`, id, tool, args)
}

// A cancellation of a call whose reply was written, or is being written, changes
// nothing, however soon it comes (B7).
func TestACancellationAfterTheReplyChangesNothing(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"while it is written": -1, "at once": 0, "before the receipt": mcpserver.AckTick - time.Millisecond, "after the receipt": 500 * time.Millisecond,
	} {
		for _, cancels := range []string{`7`, `8`, `"7"`, `null`} {
			t.Run(name+" of "+cancels, func(t *testing.T) {
				onWire(t, func(t *testing.T, d *desk, a *agentOnWire) {
					id := d.answered(t).ID
					a.send(7, look(7, id))
					if after < 0 {
						a.cancel(cancels)
						a.read()
					} else {
						a.read()
						advance(after)
						a.cancel(cancels)
					}
					nextTick()
					if !d.received(t, id) || !d.server.Delivered(id) {
						t.Errorf("there is a receipt: %t, and it counts as given: %t; want both", d.received(t, id), d.server.Delivered(id))
					}
					listed := call(t.Context(), d.http("bot", "program", modern, nil), "list_open_questions", `{}`).text(t)
					if strings.Contains(listed, id) {
						t.Errorf("listed %s", listed)
					}
					if n := d.server.InFlight(); n != 0 {
						t.Errorf("%d requests are kept", n)
					}
				})
			})
		}
	}
}

// A client that cancels each call after its reply, as OpenCode does, and asks the same
// again, has a person asked each time. An answer, a refusal and a denial are given once
// (B7, F7).
func TestAClientThatCancelsAfterEachReplyIsAnsweredAnew(t *testing.T) {
	for _, test := range []struct {
		tool, args string
		settle     []func(d *desk, id string)
		want       []string
	}{
		{"ask_user_question", database, []func(*desk, string){
			func(d *desk, id string) { d.answer(id, askback.Choose("SQLite")) },
			func(d *desk, id string) { d.answer(id, askback.Choose("PostgreSQL")) },
			func(d *desk, id string) { d.decline(id) },
			func(d *desk, id string) { d.answer(id, askback.Choose("neither")) },
		}, []string{"SQLite", "PostgreSQL", "declined", "neither"}},
		{"confirm_action", pay, []func(*desk, string){
			func(d *desk, id string) { d.answer(id, askback.Decide(askback.Deny, "not today")) },
			func(d *desk, id string) { d.answer(id, askback.Decide(askback.Approve, "")) },
			func(d *desk, id string) { d.answer(id, askback.Decide(askback.Deny, "never")) },
		}, []string{"not today", `"confirmed":true`, "never"}},
	} {
		for _, late := range []time.Duration{0, 100 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s %s", test.tool, late), func(t *testing.T) {
				onWire(t, func(t *testing.T, d *desk, a *agentOnWire) {
					seen := map[string]bool{}
					for n, settle := range test.settle {
						a.send(n+7, callOf(n+7, test.tool, test.args))
						id := d.only().ID
						if seen[id] {
							t.Fatalf("call %d: %s is asked again", n, id)
						}
						seen[id] = true
						settle(d, id)
						if text := a.read(); !strings.Contains(text, test.want[n]) {
							t.Errorf("call %d: got %s, want %s", n, text, test.want[n])
						}
						advance(late)
						a.cancel(fmt.Sprint(n + 7))
					}
					nextTick()
					for id := range seen {
						if !d.received(t, id) {
							t.Errorf("%s has no receipt", id)
						}
					}
				})
			})
		}
	}
}

// A cancellation that comes before the reply is written makes the call give nothing,
// even when its result is there already: the same call is given the answer.
func TestACancellationBeforeTheReplyTakesTheAnswerBack(t *testing.T) {
	for _, before := range []bool{true, false} {
		d := newDesk(t)
		ask := d.answered(t)
		d.server.ServeOutcomeAndCancel(d.engine.As(bot), ask, before)
		d.server.Finish()
		if d.server.Delivered(ask.ID) == before || d.received(t, ask.ID) == before {
			t.Errorf("cancelled before the reply: %t; it counts as given: %t, and there is a receipt: %t", before, d.server.Delivered(ask.ID), d.received(t, ask.ID))
		}
	}
}

// The same call twice at a time on one connection: the one whose client gave up gives
// nothing, and the other is given the answer. The next one asks anew.
func TestOneOfTwoCallsIsCancelled(t *testing.T) {
	onWire(t, func(t *testing.T, d *desk, a *agentOnWire) {
		a.send(7, callOf(7, "ask_user_question", database))
		a.send(8, callOf(8, "ask_user_question", database))
		id := d.only().ID
		a.cancel("7")
		a.read() // that it was cancelled
		d.answer(id, askback.Choose("SQLite"))
		if text := a.read(); !strings.Contains(text, "SQLite") {
			t.Errorf("the other got %s", text)
		}
		a.send(9, callOf(9, "ask_user_question", database))
		d.answer(d.only().ID, askback.Choose("PostgreSQL"))
		if text := a.read(); !strings.Contains(text, "PostgreSQL") {
			t.Errorf("the next got %s", text)
		}
	})
}
