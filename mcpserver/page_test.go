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

// shown are the options of a client that shows pages: what it is asked to show
// goes to the function, which says what the person did.
func shown(show func(*mcp.ElicitParams) string) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: show(r.Params)}, nil
		},
	}
}

// A client that can show a page is asked to, once; what it says about that
// decides nothing, and the answer is the one that was given (F9).
func TestAClientShowsThePageOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk, _ func() *mcp.ClientSession) {
		version := legacy
		if strings.Contains(t.Name(), modern) {
			version = modern
		}
		var pages []string
		o := shown(func(p *mcp.ElicitParams) string {
			pages = append(pages, p.Mode+" "+p.URL+" "+p.ElicitationID)
			return "accept"
		})
		cs := d.stdio("mcp-inspector", version, o)
		if strings.Contains(t.Name(), "http") {
			cs = d.http("bot", "mcp-inspector", version, o)
		}
		done := start(t.Context(), cs, "ask_user_question", database)
		ask := d.only()
		d.answer(ask.ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
		want := []string{"url https://ask.example.com/asks/" + ask.ID + " " + ask.ID}
		if version == legacy { // nothing is declared by a request there
			want = nil
		}
		if fmt.Sprint(pages) != fmt.Sprint(want) {
			t.Errorf("shown %v, want %v", pages, want)
		}
	})
}

// A client that refuses to show the page declines nothing: the ask goes on, and the
// call waits as long as it does without a page.
func TestARefusedPageIsNoAnswer(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			cs := d.http("bot", "mcp-inspector", modern, shown(func(*mcp.ElicitParams) string { return action }))
			begun := time.Now()
			got := call(t.Context(), cs, "ask_user_question", database)
			if s := got.structured(t); s["status"] != "pending" || s["question_id"] != d.only().ID || time.Since(begun) != 45*time.Second {
				t.Errorf("%s: got %v after %s", action, s, time.Since(begun))
			}
			done := start(t.Context(), cs, "ask_user_question", database)
			d.answer(d.only().ID, askback.Choose("SQLite"))
			if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("%s: got %q", action, got)
			}
		})
	}
}

// Clients that block their user, or refuse every page, are asked to show none, and
// neither is a client that is not known to show pages well. Their call waits.
func TestOnlyKnownClientsShowPages(t *testing.T) {
	for program, waits := range map[string]time.Duration{
		"copilot-cli": 45 * time.Second, "codex-mcp-client": 240 * time.Second, "claude-code": 25 * time.Minute, "Visual Studio Code": 45 * time.Second, "program": 45 * time.Second,
	} {
		t.Run(program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				cs := d.stdio(program, modern, shown(func(p *mcp.ElicitParams) string { t.Errorf("shown %s", p.URL); return "accept" }))
				begun := time.Now()
				if got := call(t.Context(), cs, "ask_user_question", database).structured(t); got["status"] != "pending" || time.Since(begun) != waits {
					t.Errorf("got %v after %s, want %s", got, time.Since(begun), waits)
				}
			})
		})
	}
}

// pageCall is a call of a client that shows pages.
func pageCall(tool, args string) string {
	return from("mcp-inspector", toolCall(tool, args, `{"elicitation": {"url": {}}}`))
}

// A call that comes back a second time, after its answer was given, asks anew.
func TestAnAnswerAfterAPageIsGivenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		_, got := post(t, web, "tools/call", "ask_user_question", pageCall("ask_user_question", database))
		first, _ := got["result"].(map[string]any)
		state, _ := first["requestState"].(string)
		id := d.only().ID
		d.answer(id, askback.Choose("SQLite"))
		back := withState("ask_user_question", database, state)
		if _, got := post(t, web, "tools/call", "ask_user_question", back); !strings.Contains(fmt.Sprint(got["result"]), "SQLite") {
			t.Errorf("got %v", got)
		}
		_, got = post(t, web, "tools/call", "ask_user_question", back)
		if again := d.only().ID; again == id || !strings.Contains(fmt.Sprint(got["result"]), again) {
			t.Errorf("%s after %s; got %v", again, id, got)
		}
	})
}

// withState is a call that comes back after a round.
func withState(tool, args, state string) string {
	return strings.Replace(pageCall(tool, args), `"_meta"`, fmt.Sprintf(`"requestState": %q, "inputResponses": {"page": {"action": "decline"}}, "_meta"`, state), 1)
}

// What a client sends back is signed, for this agent and this call, and not for
// long. Anything else is refused, and the ask is found by the call itself.
func TestForgedStatesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web, made := d.web("bot"), time.Now()
		_, got := post(t, web, "tools/call", "ask_user_question", pageCall("ask_user_question", database))
		first, _ := got["result"].(map[string]any)
		state, _ := first["requestState"].(string)
		if first["resultType"] != "input_required" || state == "" {
			t.Fatalf("got %v", got)
		}
		ask := d.only()
		_, got = post(t, web, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if !strings.Contains(fmt.Sprint(got["result"]), ask.ID) {
			t.Fatalf("the true one: got %v", got)
		}
		d.restart() // the secret is in the options
		_, got = post(t, web, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if !strings.Contains(fmt.Sprint(got["result"]), ask.ID) {
			t.Errorf("after a restart: got %v", got)
		}
		refused := func(what, agent, tool, args, state string) {
			t.Helper()
			_, got := post(t, d.web(agent), "tools/call", tool, withState(tool, args, state))
			failed, _ := got["error"].(map[string]any)
			if failed["code"] != -32602.0 || !strings.Contains(fmt.Sprint(failed["message"]), "requestState") {
				t.Errorf("%s: got %v", what, got)
			}
		}
		body, sum, _ := strings.Cut(state, ".")
		refused("of another agent", "cat", "ask_user_question", database, state)
		refused("of another call", "bot", "ask_user_question", `{"question": "Which name?"}`, state)
		refused("of another tool", "bot", "confirm_action", `{"action": "Delete it"}`, state)
		refused("another body", "bot", "ask_user_question", database, body+"x."+sum)
		refused("another signature", "bot", "ask_user_question", database, body+"."+sum[1:])
		refused("no signature", "bot", "ask_user_question", database, body)
		<-time.After(time.Until(made.Add(10*time.Minute - time.Second))) // by the clock of the bubble
		_, got = post(t, web, "tools/call", "ask_user_question", withState("ask_user_question", database, state))
		if got["result"] == nil {
			t.Errorf("before its end: got %v", got)
		}
		<-time.After(time.Second)
		refused("too old", "bot", "ask_user_question", database, state)
		d.options.Secret = []byte(strings.Repeat("t", 32))
		d.restart()
		refused("of another server", "bot", "ask_user_question", database, state)
		if d.only().ID != ask.ID {
			t.Error("somebody was asked again")
		}
	})
}
