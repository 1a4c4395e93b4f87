package mcpserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
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
		synctest.Wait()
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
