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

// A token that is revoked while its call waits gets no outcome and consumes no approval
// (F7).
func TestTokenRevokedDuringWaitGetsNoOutcome(t *testing.T) {
	for tool, c := range map[string]struct {
		args   string
		answer askback.Answer
	}{
		"permission_prompt": {`{"tool_name": "Bash", "input": {"command": "ls"}}`, askback.Decide(askback.Approve, "")},
		"confirm_action":    {`{"action": "Deploy"}`, askback.Decide(askback.Approve, "")},
		"ask_user_question": {database, askback.Choose("SQLite")},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			done := startCall(t.Context(), f.connectHTTP("bot", "gemini-cli", stateless, nil), tool, c.args)
			id := f.pendingAsk().ID
			tokens, err := f.admin.Tokens(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, token := range tokens {
				if token.Name == "bot" {
					if _, err := f.admin.RevokeToken(t.Context(), token.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			f.answer(id, c.answer)
			if got := <-done; got.err == nil && (!got.IsError || strings.Contains(got.text(t), "SQLite")) {
				t.Errorf("%s: the revoked token got %q", tool, got.text(t))
			}
			nextTick()
			if ask, err := f.engine.As(bot).Get(t.Context(), id); err != nil || !ask.AckedAt.IsZero() {
				t.Errorf("%s: the outcome is acknowledged, %v", tool, err)
			}
		})
	}
}

// A batch is rejected as a whole, in every revision.
func TestBatchesAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		one := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": ` + database + `}}`
		for _, body := range []string{
			"[" + one + "]", " \n[" + one + "," + one + "]", "[]", strings.Repeat(" ", 100) + "[" + one + "]",
		} {
			for _, version := range []string{"", "2025-03-26", withSessions, stateless} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
					strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{
					"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				}
				if version != "" {
					r.Header.Set("Mcp-Protocol-Version", version)
				}
				res, err := httpClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
					t.Errorf("%q %.20q: got %s", version, body, res.Status)
				}
			}
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked: %v", asks)
		}
	})
}

// Members are found by their exact names, so taskId in another case is not the id of the
// task.
func TestTaskIDIsFoundByItsExactName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "ask_user_question", database)["taskId"])
		for _, params := range []string{`"taskId": %q, "TaskId": "other"`, `"TaskId": "other", "taskId": %q`} {
			body := strings.Replace(taskCall("tasks/get", id, withTasks), fmt.Sprintf(`"taskId": %q`, id),
				fmt.Sprintf(params, id), 1)
			if !strings.Contains(body, "TaskId") {
				t.Fatalf("got %s", body)
			}
			if status, got := post(t, httpClient, "tasks/get", "other", body); status != http.StatusBadRequest {
				t.Errorf("the header names another: got %d %v", status, got)
			}
		}
	})
}

// A token that is revoked while the body of its request is read changes nothing and reads
// nothing.
func TestTokenRevokedDuringBodyChangesNothing(t *testing.T) {
	for tool, args := range map[string]string{
		"ask_user_question":   strings.Replace(database, "Which database", "Which other database", 1),
		"confirm_action":      `{"action": "Deploy"}`,
		"list_open_questions": `{}`, "get_answer": `{"question_id": "ID"}`,
		"withdraw_question": `{"question_id": "ID"}`,
		"permission_prompt": `{"tool_name": "Bash", "input": {"command": "ls"}}`,
	} {
		for _, version := range []string{"", withSessions, stateless} {
			f := newFixture(t)
			token, secret, err := f.admin.CreateToken(t.Context(),
				askback.TokenRequest{Kind: askback.Agent, Name: "bot"})
			if err != nil {
				t.Fatal(err)
			}
			ask, err := f.engine.As(bot).Ask(t.Context(),
				askback.Request{Questions: []askback.Question{{Text: "Which database?"}}})
			if err != nil {
				t.Fatal(err)
			}
			body := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + tool +
				`", "arguments": ` + strings.Replace(args, "ID", ask.ID, 1)
			if version == stateless {
				body += `, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
					"io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"}}`
			}
			revoke := func() {
				if _, err := f.admin.RevokeToken(t.Context(), token.ID); err != nil {
					t.Error(err)
				}
			}
			r := httptest.NewRequest(http.MethodPost, "/mcp", hookedReader{strings.NewReader(body + "}}"), revoke})
			r.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Authorization": {"Bearer " + secret}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
			}
			if version != "" {
				r.Header.Set("Mcp-Protocol-Version", version)
			}
			w := httptest.NewRecorder()
			f.server.Handler(f.engine).ServeHTTP(w, r)
			if asks := f.pendingAsks(); len(asks) != 1 || strings.Contains(w.Body.String(), "Which database") ||
				!strings.Contains(w.Body.String(), "token must be replaced") {
				t.Errorf("%s, %q: %d asks are pending; got %s", tool, version, len(asks), w.Body)
			}
		}
	}
}

// hookedReader calls a function during each Read.
type hookedReader struct {
	*strings.Reader
	during func()
}

func (l hookedReader) Read(p []byte) (int, error) { l.during(); return l.Reader.Read(p) }
