package mcpserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
)

// A token that is revoked while its call waits hears no outcome and spends no
// approval (F7).
func TestARevokedTokenHearsNothing(t *testing.T) {
	for tool, c := range map[string]struct {
		args   string
		answer askback.Answer
	}{
		"permission_prompt": {`{"tool_name": "Bash", "input": {"command": "ls"}}`, askback.Decide(askback.Approve, "")},
		"confirm_action":    {`{"action": "Deploy"}`, askback.Decide(askback.Approve, "")},
		"ask_user_question": {database, askback.Choose("SQLite")},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			done := start(t.Context(), d.http("bot", "gemini-cli", modern, nil), tool, c.args)
			id := d.only().ID
			tokens, err := d.admin.Tokens(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, token := range tokens {
				if token.Name == "bot" {
					if _, err := d.admin.RevokeToken(t.Context(), token.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			d.answer(id, c.answer)
			if got := <-done; got.err == nil && (!got.IsError || strings.Contains(got.text(t), "SQLite")) {
				t.Errorf("%s: the revoked token heard %q", tool, got.text(t))
			}
			nextTick()
			if ask, err := d.engine.As(bot).Get(t.Context(), id); err != nil || !ask.AckedAt.IsZero() {
				t.Errorf("%s: the approval is spent, or the answer received, %v", tool, err)
			}
		})
	}
}

// A list of messages is refused whole: nothing of it is done, whatever it says its
// revision is.
func TestBatchesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		one := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": ` + database + `}}`
		for _, body := range []string{"[" + one + "]", " \n[" + one + "," + one + "]", "[]", strings.Repeat(" ", 100) + "[" + one + "]"} {
			for _, version := range []string{"", "2025-03-26", legacy, modern} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
				if version != "" {
					r.Header.Set("Mcp-Protocol-Version", version)
				}
				res, err := web.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
					t.Errorf("%q %.20q: got %s", version, body, res.Status)
				}
			}
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("asked: %v", asks)
		}
	})
}

// The name of a member is its exact name: another spelling of it names no task.
func TestTheTaskIsFoundByItsExactName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		mine := fmt.Sprint(d.newTask(web, "ask_user_question", database)["taskId"])
		for _, params := range []string{`"taskId": %q, "TaskId": "other"`, `"TaskId": "other", "taskId": %q`} {
			body := strings.Replace(taskCall("tasks/get", mine, withTasks), fmt.Sprintf(`"taskId": %q`, mine), fmt.Sprintf(params, mine), 1)
			if !strings.Contains(body, "TaskId") {
				t.Fatalf("got %s", body)
			}
			if status, got := post(t, web, "tasks/get", "other", body); status != http.StatusBadRequest {
				t.Errorf("the header names another: got %d %v", status, got)
			}
		}
	})
}

// A token that is revoked while the body of its call comes does nothing, and is told
// nothing.
func TestATokenThatIsRevokedMeanwhileDoesNothing(t *testing.T) {
	for tool, args := range map[string]string{
		"ask_user_question": strings.Replace(database, "Which database", "Which other database", 1), "confirm_action": `{"action": "Deploy"}`,
		"list_open_questions": `{}`, "get_answer": `{"question_id": "ID"}`, "withdraw_question": `{"question_id": "ID"}`,
		"permission_prompt": `{"tool_name": "Bash", "input": {"command": "ls"}}`,
	} {
		for _, version := range []string{"", legacy, modern} {
			d := newDesk(t)
			token, secret, err := d.admin.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Agent, Name: "bot"})
			if err != nil {
				t.Fatal(err)
			}
			ask, err := d.engine.As(bot).Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which database?"}}})
			if err != nil {
				t.Fatal(err)
			}
			body := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + tool + `", "arguments": ` + strings.Replace(args, "ID", ask.ID, 1)
			if version == modern {
				body += `, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
					"io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"}}`
			}
			revoke := func() {
				if _, err := d.admin.RevokeToken(t.Context(), token.ID); err != nil {
					t.Error(err)
				}
			}
			r := httptest.NewRequest(http.MethodPost, "/mcp", meanwhile{strings.NewReader(body + "}}"), revoke})
			r.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + secret},
				"Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
			}
			if version != "" {
				r.Header.Set("Mcp-Protocol-Version", version)
			}
			w := httptest.NewRecorder()
			d.server.Handler(d.engine).ServeHTTP(w, r)
			if asks := d.open(); len(asks) != 1 || strings.Contains(w.Body.String(), "Which database") || !strings.Contains(w.Body.String(), "token must be replaced") {
				t.Errorf("%s, %q: %d are open, and it says %s", tool, version, len(asks), w.Body)
			}
		}
	}
}

// meanwhile is a body during which something happens.
type meanwhile struct {
	*strings.Reader
	during func()
}

func (l meanwhile) Read(p []byte) (int, error) { l.during(); return l.Reader.Read(p) }
