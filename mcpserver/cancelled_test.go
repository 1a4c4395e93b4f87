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

// The TypeScript SDK 1.x keeps the connection of a call that it gave up, and only
// says so in a notification. What would be written there is read by nobody: the same
// call gets the answer. Nobody cancels the call of another session or agent (B7, F9).
func TestACallThatItsClientCancelledGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		send := func(agent, session, body string) *http.Response {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"Mcp-Protocol-Version": legacy, "Mcp-Session-Id": session,
			} {
				r.Header.Set(name, value)
			}
			res, err := d.web(agent).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = res.Body.Close() })
			return res
		}
		call := func(id int) <-chan string {
			said := make(chan string, 1)
			go func() {
				res := send("bot", "mine", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": %s}}`, id, database))
				raw, _ := io.ReadAll(res.Body)
				said <- string(raw)
			}()
			synctest.Wait()
			return said
		}
		cancel := func(agent, session string, id int) {
			send(agent, session, fmt.Sprintf(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d, "reason": "timed out"}}`, id))
			synctest.Wait()
		}
		given := call(7)
		cancel("bot", "another", 7)
		cancel("spy", "mine", 7)
		cancel("bot", "mine", 8)
		select {
		case text := <-given:
			t.Fatalf("somebody else ended the call: %s", text)
		default:
		}
		cancel("bot", "mine", 7)
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if text := <-given; strings.Contains(text, "SQLite") {
			t.Errorf("nobody reads %s", text)
		}
		if text := <-call(9); !strings.Contains(text, "SQLite") {
			t.Errorf("the same call got %s", text)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("it was asked again: %v", asks)
		}
	})
}
