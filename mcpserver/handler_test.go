package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// A request from a page of another origin is rejected even with the token of an agent.
func TestOnlyTokensOfAgentsAreAccepted(t *testing.T) {
	f := newFixture(t)
	for _, test := range []struct {
		authorization, origin string
		status                int
	}{
		{"", "", http.StatusUnauthorized},
		{"Basic " + f.secret(askback.Agent, "bot"), "", http.StatusUnauthorized},
		{"Bearer nonsense", "", http.StatusUnauthorized},
		{"Bearer " + f.secret(askback.Responder, "ana"), "", http.StatusForbidden},
		{"Bearer " + f.secret(askback.Admin, "root"), "", http.StatusForbidden},
		{"Bearer " + f.secret(askback.Operator, "op"), "", http.StatusForbidden},
		{"Bearer " + f.secret(askback.Agent, "bot"), "https://evil.example", http.StatusForbidden},
		{"bearer " + f.secret(askback.Agent, "bot"), "", http.StatusOK},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp",
			strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
		r.Header.Set("Authorization", test.authorization)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		f.server.Handler(f.engine).ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%.16s %s: got %d %s, want %d", test.authorization, test.origin, w.Code, w.Body, test.status)
		}
		if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (w.Code == http.StatusUnauthorized) {
			t.Errorf("%.16s: challenged %t with %d", test.authorization, challenged, w.Code)
		}
	}
}

// An agent never sees the asks and answers of other agents (D4).
func TestAgentsAreIsolated(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				bot, cat := f.connectHTTP("bot", "program", version, nil), f.connectHTTP("cat", "program", version, nil)
				ofBot := startCall(t.Context(), bot, "ask_user_question", database)
				ofCat := startCall(t.Context(), cat, "ask_user_question", database)
				asks := f.pendingAsks()
				// created in the same millisecond
				slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(a.Owner, b.Owner) })
				if len(asks) != 2 || asks[0].Owner != "bot" || asks[1].Owner != "cat" {
					t.Fatalf("got %+v", asks)
				}
				id := `{"question_id": "` + asks[0].ID + `"}`
				for _, tool := range []string{"get_answer", "wait_for_answer", "withdraw_question"} {
					if got := callTool(t.Context(), cat, tool, id); !got.IsError ||
						!strings.Contains(got.text(t), "you have no question called") {
						t.Errorf("%s: %s", tool, got.text(t))
					}
				}
				if got := callTool(t.Context(), cat, "list_open_questions",
					`{}`).text(t); strings.Contains(got, asks[0].ID) || !strings.Contains(got, asks[1].ID) {
					t.Errorf("got %s", got)
				}
				f.answer(asks[0].ID, askback.Choose("for bot"))
				f.answer(asks[1].ID, askback.Choose("for cat"))
				if b, c := (<-ofBot).text(t), (<-ofCat).text(t); !strings.Contains(b, "for bot") ||
					!strings.Contains(c, "for cat") {
					t.Errorf("bot got %q, cat got %q", b, c)
				}
			})
		})
	}
}

func TestConcurrentCallsGetTheirOwnAnswers(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		var calls [20]<-chan reply
		for i := range calls {
			calls[i] = startCall(t.Context(), cs, "ask_user_question", fmt.Sprintf(`{"question": "Number %d?"}`, i))
		}
		asks := f.pendingAsks()
		if len(asks) != len(calls) {
			t.Fatalf("%d asks", len(asks))
		}
		var people sync.WaitGroup
		for i := len(asks) - 1; i >= 0; i-- {
			people.Go(func() { f.answer(asks[i].ID, askback.Choose("to: "+asks[i].Questions[0].Text)) })
		}
		people.Wait()
		for i, done := range calls {
			if got, want := (<-done).text(t), fmt.Sprintf(`"Number %d?" = "to: Number %d?".`, i,
				i); !strings.HasSuffix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// The handler serves a client on a network connection, in both revisions.
func TestCallOverTheNetworkIsAnswered(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			f := newFixture(t)
			server := httptest.NewServer(f.server.Handler(f.engine))
			defer server.Close()
			cs := connect(t, &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{
				Transport: bearer{f.secret(askback.Agent, "bot")},
			}}, "program", version, nil)
			if got := cs.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("speaks %s, want %s", got, version)
			}
			go f.answerFirst(t.Context(), askback.Choose("SQLite"))
			if got := callTool(t.Context(), cs, "ask_user_question",
				database).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// answerFirst waits for an ask and answers it as ana.
func (f *fixture) answerFirst(ctx context.Context, a askback.Answer) {
	for e, err := range f.engine.As(ana).Events(ctx, "", "") {
		if err != nil {
			return
		}
		var asked struct {
			ID string `json:"question_id"`
		}
		if e.Type == "question_pending" && json.Unmarshal(e.Data, &asked) == nil {
			_, _ = f.engine.As(ana).Answer(ctx, asked.ID, a) // on an error the test times out
			return
		}
		if len(f.pendingAsks()) > 0 {
			_, _ = f.engine.As(ana).Answer(ctx, f.pendingAsk().ID, a)
			return
		}
	}
}

type bearer struct{ secret string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.secret)
	return http.DefaultTransport.RoundTrip(r)
}

// Every tool is listed in both revisions. The ask tools are marked as read-only, so clients
// need no permission to ask (B7, C4). permission_prompt is listed for Claude Code alone.
func TestToolsAreListed(t *testing.T) {
	everyone := map[string]bool{
		"ask_user_question": true, "confirm_action": true, "wait_for_answer": true, "get_answer": true,
		"list_open_questions": true, "withdraw_question": false,
	}
	claudeCode := maps.Clone(everyone)
	claudeCode["permission_prompt"] = false
	for program, want := range map[string]map[string]bool{
		"program": everyone, "codex-mcp-client": everyone, "claude-code": claudeCode,
	} {
		for _, version := range []string{withSessions, stateless} {
			t.Run(program+" "+version, func(t *testing.T) {
				f := newFixture(t)
				for _, cs := range []*mcp.ClientSession{
					f.connectStdio(program, version, nil), f.connectHTTP("bot", program, version, nil),
				} {
					list, err := cs.ListTools(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					readOnly := map[string]bool{}
					for _, tool := range list.Tools {
						readOnly[tool.Name] = tool.Annotations.ReadOnlyHint
						if n := len(tool.Description); n == 0 || n > 2048 {
							t.Errorf("%s: a description of %d bytes", tool.Name, n)
						}
					}
					if diff := cmp.Diff(want, readOnly); diff != "" {
						t.Error(diff)
					}
					if list.CacheScope != "private" {
						t.Errorf("the list may be cached as %q, but depends on the client", list.CacheScope)
					}
					if got := cs.InitializeResult().Instructions; !strings.Contains(got,
						"Do not ask what you can infer") {
						t.Errorf("instructions: %s", got)
					}
				}
			})
		}
	}
}

// Stop ends waits with a pending result, and the asks stay pending.
func TestStopEndsEveryWait(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		done := startCall(t.Context(), connect(), "ask_user_question", database)
		started := time.Now()
		f.server.Stop()
		if got := (<-done).structured(t); got["status"] != "pending" || got["question_id"] != f.pendingAsk().ID ||
			time.Since(started) != 0 {
			t.Errorf("got %v after %s", got, time.Since(started))
		}
	})
}
