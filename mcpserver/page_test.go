package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// pageOptions returns the options of a client that shows pages. show is called for each page and returns the
// action of the person.
func pageOptions(show func(*mcp.ElicitParams) string) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: show(r.Params)}, nil
		},
	}
}

// In the revision without sessions, a client that can show a page is asked once to show the page. Its report
// about the page is not an answer (F9).
func TestClientShowsThePageOnce(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, _ func() *mcp.ClientSession) {
		version := withSessions
		if strings.Contains(t.Name(), stateless) {
			version = stateless
		}
		var pages []string
		o := pageOptions(func(p *mcp.ElicitParams) string {
			pages = append(pages, p.Mode+" "+p.URL+" "+p.ElicitationID)
			return "accept"
		})
		cs := f.connectStdio("mcp-inspector", version, o)
		if strings.Contains(t.Name(), "http") {
			cs = f.connectHTTP("bot", "mcp-inspector", version, o)
		}
		done := startCall(t.Context(), cs, "ask_user_question", database)
		ask := f.pendingAsk()
		f.answer(ask.ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
		want := []string{"url https://ask.example.com/asks/" + ask.ID + " " + ask.ID}
		if version == withSessions { // in this revision, requests declare no capabilities
			want = nil
		}
		if fmt.Sprint(pages) != fmt.Sprint(want) {
			t.Errorf("shown %v, want %v", pages, want)
		}
	})
}

// A client that does not show the page does not decline the ask: the call waits as long as
// without a page.
func TestDecliningThePageDoesNotDeclineTheAsk(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			cs := f.connectHTTP("bot", "mcp-inspector", stateless,
				pageOptions(func(*mcp.ElicitParams) string { return action }))
			started := time.Now()
			got := callTool(t.Context(), cs, "ask_user_question", database)
			if s := got.structured(t); s["status"] != "pending" || s["question_id"] != f.pendingAsk().ID ||
				time.Since(started) != 45*time.Second {
				t.Errorf("%s: got %v after %s", action, s, time.Since(started))
			}
			done := startCall(t.Context(), cs, "ask_user_question", database)
			f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
			if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("%s: got %q", action, got)
			}
		})
	}
}

// Only clients that are known to show pages well are asked to show a page. Calls of other clients wait.
func TestOnlyKnownClientsShowPages(t *testing.T) {
	for program, waits := range map[string]time.Duration{
		"copilot-cli": 45 * time.Second, "codex-mcp-client": 240 * time.Second, "claude-code": 25 * time.Minute,
		"Visual Studio Code": 45 * time.Second, "program": 45 * time.Second,
	} {
		t.Run(program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				cs := f.connectStdio(program, stateless,
					pageOptions(func(p *mcp.ElicitParams) string { t.Errorf("shown %s", p.URL); return "accept" }))
				started := time.Now()
				if got := callTool(t.Context(), cs, "ask_user_question",
					database).structured(t); got["status"] != "pending" || time.Since(started) != waits {
					t.Errorf("got %v after %s, want %s", got, time.Since(started), waits)
				}
			})
		})
	}
}

// pageCall returns a call of a client that shows pages.
func pageCall(tool, args string) string {
	return withClientName("mcp-inspector", toolCall(tool, args, `{"elicitation": {"url": {}}}`))
}

func TestAnswerAfterAPageIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		_, got := post(t, httpClient, "tools/call", "ask_user_question", pageCall("ask_user_question", database))
		first, _ := got["result"].(map[string]any)
		state, _ := first["requestState"].(string)
		id := f.pendingAsk().ID
		f.answer(id, askback.Choose("SQLite"))
		resumed := withState("ask_user_question", database, state)
		if _, got := post(t, httpClient, "tools/call", "ask_user_question",
			resumed); !strings.Contains(fmt.Sprint(got["result"]), "SQLite") {
			t.Errorf("got %v", got)
		}
		_, got = post(t, httpClient, "tools/call", "ask_user_question", resumed)
		if again := f.pendingAsk().ID; again == id || !strings.Contains(fmt.Sprint(got["result"]), again) {
			t.Errorf("%s after %s; got %v", again, id, got)
		}
	})
}

// withState returns a call that is resumed after a page.
func withState(tool, args, state string) string {
	return strings.Replace(pageCall(tool, args), `"_meta"`,
		fmt.Sprintf(`"requestState": %q, "inputResponses": {"page": {"action": "decline"}}, "_meta"`, state), 1)
}

// A requestState is signed for one agent and one call, and expires. Any other requestState
// is rejected (T21).
func TestForgedStatesAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient, made := f.httpClient("bot"), time.Now()
		_, got := post(t, httpClient, "tools/call", "ask_user_question", pageCall("ask_user_question", database))
		first, _ := got["result"].(map[string]any)
		state, _ := first["requestState"].(string)
		if first["resultType"] != "input_required" || state == "" {
			t.Fatalf("got %v", got)
		}
		ask := f.pendingAsk()
		_, got = post(t, httpClient, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if !strings.Contains(fmt.Sprint(got["result"]), ask.ID) {
			t.Fatalf("the true one: got %v", got)
		}
		f.restart() // the secret is the same, because it is in the options
		_, got = post(t, httpClient, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if !strings.Contains(fmt.Sprint(got["result"]), ask.ID) {
			t.Errorf("after a restart: got %v", got)
		}
		rejected := func(what, agent, tool, args, state string) {
			t.Helper()
			_, got := post(t, f.httpClient(agent), "tools/call", tool, withState(tool, args, state))
			failed, _ := got["error"].(map[string]any)
			if failed["code"] != -32602.0 || !strings.Contains(fmt.Sprint(failed["message"]), "requestState") {
				t.Errorf("%s: got %v", what, got)
			}
		}
		body, sum, _ := strings.Cut(state, ".")
		rejected("of another agent", "cat", "ask_user_question", database, state)
		rejected("of another call", "bot", "ask_user_question", `{"question": "Which name?"}`, state)
		rejected("of another tool", "bot", "confirm_action", `{"action": "Delete it"}`, state)
		rejected("another body", "bot", "ask_user_question", database, body+"x."+sum)
		rejected("another signature", "bot", "ask_user_question", database, body+"."+sum[1:])
		rejected("no signature", "bot", "ask_user_question", database, body)
		<-time.After(time.Until(made.Add(10*time.Minute - time.Second))) // takes no real time
		_, got = post(t, httpClient, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if got["result"] == nil {
			t.Errorf("before its end: got %v", got)
		}
		<-time.After(time.Second)
		rejected("too old", "bot", "ask_user_question", database, state)
		f.options.Secret = []byte(strings.Repeat("t", 32))
		f.restart()
		rejected("of another server", "bot", "ask_user_question", database, state)
		if f.pendingAsk().ID != ask.ID {
			t.Error("there is another ask")
		}
	})
}
