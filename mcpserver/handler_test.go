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

// Only agents are let in, and whoever is not is told how (design: who may do what).
func TestOnlyAgentsAreLetIn(t *testing.T) {
	d := newDesk(t)
	for _, test := range []struct {
		authorization, origin string
		status                int
	}{
		{"", "", http.StatusUnauthorized},
		{"Basic " + d.secret(askback.Agent, "bot"), "", http.StatusUnauthorized},
		{"Bearer nonsense", "", http.StatusUnauthorized},
		{"Bearer " + d.secret(askback.Responder, "ana"), "", http.StatusForbidden},
		{"Bearer " + d.secret(askback.Admin, "root"), "", http.StatusForbidden},
		{"Bearer " + d.secret(askback.Operator, "op"), "", http.StatusForbidden},
		{"Bearer " + d.secret(askback.Agent, "bot"), "https://evil.example", http.StatusForbidden},
		{"bearer " + d.secret(askback.Agent, "bot"), "", http.StatusOK},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
		r.Header.Set("Authorization", test.authorization)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		d.server.Handler(d.engine).ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%.16s %s: got %d %s, want %d", test.authorization, test.origin, w.Code, w.Body, test.status)
		}
		if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (w.Code == http.StatusUnauthorized) {
			t.Errorf("%.16s: challenged %t with %d", test.authorization, challenged, w.Code)
		}
	}
}

// Many agents on one server never see or get each other's (D4).
func TestAgentsNeverMix(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				bot, cat := d.http("bot", "program", version, nil), d.http("cat", "program", version, nil)
				ofBot := start(t.Context(), bot, "ask_user_question", database)
				ofCat := start(t.Context(), cat, "ask_user_question", database)
				asks := d.open()
				slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(a.Owner, b.Owner) }) // asked in one instant
				if len(asks) != 2 || asks[0].Owner != "bot" || asks[1].Owner != "cat" {
					t.Fatalf("got %+v", asks)
				}
				id := `{"question_id": "` + asks[0].ID + `"}`
				for _, tool := range []string{"get_answer", "wait_for_answer", "withdraw_question"} {
					if got := call(t.Context(), cat, tool, id); !got.IsError || !strings.Contains(got.text(t), "you have no question called") {
						t.Errorf("%s: %s", tool, got.text(t))
					}
				}
				if got := call(t.Context(), cat, "list_open_questions", `{}`).text(t); strings.Contains(got, asks[0].ID) || !strings.Contains(got, asks[1].ID) {
					t.Errorf("got %s", got)
				}
				d.answer(asks[0].ID, askback.Choose("for bot"))
				d.answer(asks[1].ID, askback.Choose("for cat"))
				if b, c := (<-ofBot).text(t), (<-ofCat).text(t); !strings.Contains(b, "for bot") || !strings.Contains(c, "for cat") {
					t.Errorf("bot got %q, cat got %q", b, c)
				}
			})
		})
	}
}

// Twenty calls at a time on one connection each get their own answer.
func TestTwentyCallsAtATimeGetTheirOwnAnswers(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		var calls [20]<-chan reply
		for i := range calls {
			calls[i] = start(t.Context(), cs, "ask_user_question", fmt.Sprintf(`{"question": "Number %d?"}`, i))
		}
		asks := d.open()
		if len(asks) != len(calls) {
			t.Fatalf("%d asks", len(asks))
		}
		var people sync.WaitGroup
		for i := len(asks) - 1; i >= 0; i-- {
			people.Go(func() { d.answer(asks[i].ID, askback.Choose("to: "+asks[i].Questions[0].Text)) })
		}
		people.Wait()
		for i, done := range calls {
			if got, want := (<-done).text(t), fmt.Sprintf(`"Number %d?" = "to: Number %d?".`, i, i); !strings.HasSuffix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// The same over a real connection, in both revisions.
func TestAConnectionOfTheNetwork(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			d := newDesk(t)
			server := httptest.NewServer(d.server.Handler(d.engine))
			defer server.Close()
			cs := connect(t, &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{
				Transport: bearer{d.secret(askback.Agent, "bot")},
			}}, "program", version, nil)
			if got := cs.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("speaks %s, want %s", got, version)
			}
			go d.whenAsked(t.Context(), askback.Choose("SQLite"))
			if got := call(t.Context(), cs, "ask_user_question", database).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// whenAsked answers the first ask there is.
func (d *desk) whenAsked(ctx context.Context, a askback.Answer) {
	for e, err := range d.engine.As(ana).Events(ctx, "", "") {
		if err != nil {
			return
		}
		var asked struct {
			ID string `json:"question_id"`
		}
		if e.Type == "question_pending" && json.Unmarshal(e.Data, &asked) == nil {
			_, _ = d.engine.As(ana).Answer(ctx, asked.ID, a) // a test that hangs shows it
			return
		}
		if len(d.open()) > 0 {
			_, _ = d.engine.As(ana).Answer(ctx, d.only().ID, a)
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

// Every tool is there, in both revisions, with what clients go by: asking changes
// nothing in the agent's world, so no permission to ask is needed (C4). permission_prompt is
// for Claude Code alone.
func TestTheToolsAreListed(t *testing.T) {
	everyone := map[string]bool{
		"ask_user_question": true, "confirm_action": true, "wait_for_answer": true, "get_answer": true,
		"list_open_questions": true, "withdraw_question": false,
	}
	claudeCode := maps.Clone(everyone)
	claudeCode["permission_prompt"] = false
	for program, want := range map[string]map[string]bool{"program": everyone, "codex-mcp-client": everyone, "claude-code": claudeCode} {
		for _, version := range []string{legacy, modern} {
			t.Run(program+" "+version, func(t *testing.T) {
				d := newDesk(t)
				for _, cs := range []*mcp.ClientSession{d.stdio(program, version, nil), d.http("bot", program, version, nil)} {
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
					if said := cs.InitializeResult().Instructions; !strings.Contains(said, "Do not ask what you can infer") {
						t.Errorf("instructions: %s", said)
					}
				}
			})
		}
	}
}

// Stop gives those who wait what there is, and the asks go on.
func TestStopEndsEveryWait(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		done := start(t.Context(), connect(), "ask_user_question", database)
		begun := time.Now()
		d.server.Stop()
		if got := (<-done).structured(t); got["status"] != "pending" || got["question_id"] != d.only().ID || time.Since(begun) != 0 {
			t.Errorf("got %v after %s", got, time.Since(begun))
		}
	})
}
