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
		gathered()
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

// A cancelledAgent is one of a revision with cancellations: it looks for an answer
// under an id, reads the reply and cancels.
type cancelledAgent struct {
	look   func(id int, ask string)
	cancel func(id string)
	read   func() // what comes
	end    func()
}

// overHTTP is one in the session "mine".
func (d *desk) overHTTP(*testing.T) *cancelledAgent {
	replies := make(chan *http.Response, 10)
	return &cancelledAgent{
		look: func(id int, ask string) {
			go func() { replies <- d.legacyPost("bot", "mine", look(id, ask)) }()
			synctest.Wait()
		},
		cancel: func(id string) { d.legacyPost("bot", "mine", cancelOf(id)); synctest.Wait() },
		read:   func() { _, _ = io.ReadAll((<-replies).Body); synctest.Wait() },
		end:    func() {},
	}
}

// overStdio is one on stdio. Nothing is written that is not read.
func (d *desk) overStdio(t *testing.T) *cancelledAgent {
	r, w := io.Pipe()
	c := d.terminal(t, w)
	lines := bufio.NewScanner(r)
	read := func() { lines.Scan(); synctest.Wait() }
	read() // to initialize
	return &cancelledAgent{
		look:   func(id int, ask string) { c.send(t, look(id, ask)) },
		cancel: func(id string) { c.send(t, cancelOf(id)) },
		read:   read,
		end:    func() { _ = c.in.Close(); _ = r.Close(); <-c.served },
	}
}

func cancelOf(id string) string {
	return `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ` + id + `, "RequestId": 99}}`
}

// A reply and a cancellation may cross, and nobody reads the reply then: it was not
// given. Later, and for another request, a cancellation changes nothing (B7).
func TestACancellationMayCrossTheReply(t *testing.T) {
	const window = mcpserver.GatherTime
	for name, c := range map[string]struct {
		cancels string
		after   time.Duration // the reply was read; -1: it is being written
		given   bool
	}{
		"while it is written":   {`7`, -1, false},
		"at once":               {`7`, 0, false},
		"within the window":     {`7`, window - time.Millisecond, false},
		"in its second half":    {`7`, 2*window - time.Millisecond, false},
		"too late":              {`7`, 2*window + time.Millisecond, true},
		"another request":       {`8`, 0, true},
		"an id of another kind": {`"7"`, 0, true},
		"no id":                 {`null`, 0, true},
	} {
		for transport, connect := range map[string]func(*desk, *testing.T) *cancelledAgent{"HTTP": (*desk).overHTTP, "stdio": (*desk).overStdio} {
			t.Run(name+" over "+transport, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t)
					id := d.answered(t).ID
					a := connect(d, t)
					defer a.end()
					a.look(7, id)
					if c.after < 0 {
						a.cancel(c.cancels)
						a.read()
					} else {
						a.read()
						pass(c.after)
						a.cancel(c.cancels)
					}
					gathered()
					if d.received(t, id) != c.given || d.server.Remembers(id) != c.given {
						t.Errorf("there is a receipt: %t, and it counts as given: %t; want %t", d.received(t, id), d.server.Remembers(id), c.given)
					}
					listed := call(t.Context(), d.http("bot", "program", modern, nil), "list_open_questions", `{}`).text(t)
					if strings.Contains(listed, id) == c.given {
						t.Errorf("given %t: listed %s", c.given, listed)
					}
					if n := d.server.InFlight(); n != 0 {
						t.Errorf("%d requests are kept", n)
					}
				})
			})
		}
	}
}

// A client that uses an id again means the later request, and what the first was given
// keeps its receipt. Nobody takes back what another session or agent was given.
func TestWhatAnotherRequestWasGivenIsNotTakenBack(t *testing.T) {
	for _, written := range []bool{false, true} { // the first receipt, before the cancellation
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			one, two := d.answered(t).ID, d.answered(t).ID
			a := d.overHTTP(t)
			a.look(7, one)
			a.read()
			pass(mcpserver.GatherTime + time.Millisecond)
			a.look(7, two)
			a.read()
			d.legacyCancel("bot", "another", 7)
			d.legacyCancel("spy", "mine", 7)
			if !d.server.Remembers(one) || !d.server.Remembers(two) {
				t.Error("somebody else took it back")
			}
			if written {
				pass(mcpserver.GatherTime)
			}
			if d.received(t, one) != written || d.received(t, two) {
				t.Errorf("receipts %t and %t before the cancellation", d.received(t, one), d.received(t, two))
			}
			d.legacyCancel("bot", "mine", 7)
			gathered()
			if !d.received(t, one) || d.received(t, two) {
				t.Errorf("receipts %t and %t, want the first only", d.received(t, one), d.received(t, two))
			}
		})
	}
}

// The call that is repeated after a cancellation that crossed is given the answer, and
// nobody is asked again.
func TestACallThatCrossedIsGivenItsAnswerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		given := d.legacyCall(7, database)
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if text := <-given; !strings.Contains(text, "SQLite") {
			t.Fatalf("got %s", text)
		}
		d.legacyCancel("bot", "mine", 7)
		if text := <-d.legacyCall(8, database); !strings.Contains(text, "SQLite") {
			t.Errorf("the same call got %s", text)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("it was asked again: %v", asks)
		}
	})
}
