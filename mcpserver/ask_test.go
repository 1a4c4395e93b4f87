package mcpserver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// eachTransport runs a test on stdio and over HTTP, in the revisions with and without
// sessions.
func eachTransport(t *testing.T, run func(t *testing.T, f *fixture, connect func() *mcp.ClientSession)) {
	for _, version := range []string{withSessions, stateless} {
		t.Run("stdio "+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				run(t, f, func() *mcp.ClientSession { return f.connectStdio("program", version, nil) })
			})
		})
		t.Run("http "+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				run(t, f, func() *mcp.ClientSession { return f.connectHTTP("bot", "program", version, nil) })
			})
		})
	}
}

// A model calls the tool, a person answers, and the model gets the answer (A1, B7, C1, F9).
func TestPersonAnswersModel(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		done := startCall(t.Context(), connect(), "ask_user_question", database)
		ask := f.pendingAsk()
		if ask.Owner != "bot" || ask.Questions[0].Text != "Which database?" {
			t.Errorf("got %+v", ask)
		}
		f.answer(ask.ID, askback.Choose("SQLite"))
		got := <-done
		if want := `User has answered your questions: "Which database?" = "SQLite".`; got.text(t) != want ||
			got.IsError {
			t.Errorf("got %q, error %t; want %q", got.text(t), got.IsError, want)
		}
		if answers := fmt.Sprint(got.structured(t)["answers"]); answers != "map[Which database?:SQLite]" {
			t.Errorf("got %s", answers)
		}
	})
}

// A denial is a normal result that confirms nothing. It is not an error (C3, F4).
func TestOnlyApprovalConfirms(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, decision := range []askback.Decision{askback.Approve, askback.Deny} {
			done := startCall(t.Context(), cs, "confirm_action",
				`{"action": "Delete `+string(decision)+`", "default": true}`)
			f.answer(f.pendingAsk().ID, askback.Decide(decision, ""))
			got := <-done
			if confirmed := got.structured(t)["confirmed"]; confirmed != (decision == askback.Approve) || got.IsError {
				t.Errorf("%s: confirmed %v, error %t", decision, confirmed, got.IsError)
			}
		}
	})
}

// A wait that ends without an answer returns a normal result with the next step. The ask stays pending, also
// after a restart (B3, F9).
func TestWaitEndsWithAPendingResult(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		started := time.Now()
		got := callTool(t.Context(), connect(), "ask_user_question", database)
		if waited := time.Since(started); waited != 45*time.Second {
			t.Errorf("waited %s, want 45s", waited)
		}
		s := got.structured(t)
		ask := f.pendingAsk()
		if got.IsError || s["status"] != "pending" || s["question_id"] != ask.ID ||
			s["page_url"] != "https://ask.example.com/asks/"+ask.ID {
			t.Errorf("error %t, %v", got.IsError, s)
		}
		for _, text := range []string{got.text(t), fmt.Sprint(s["next"])} {
			if !strings.Contains(text, "Do not ask this again") || !strings.Contains(text, "Call wait_for_answer") ||
				!strings.Contains(text, "never call get_answer in a loop") {
				t.Errorf("%q does not say what to do", text)
			}
		}
		f.restart()
		cs := connect()
		id := `{"question_id": "` + ask.ID + `"}`
		done := startCall(t.Context(), cs, "wait_for_answer", id)
		f.answer(ask.ID, askback.Choose("PostgreSQL"))
		first := (<-done).text(t)
		f.restart()
		cs = connect()
		for _, tool := range []string{"wait_for_answer", "get_answer", "get_answer"} {
			if again := callTool(t.Context(), cs, tool, id).text(t); again != first ||
				!strings.Contains(again, `= "PostgreSQL"`) {
				t.Errorf("%s: got %q, want %q", tool, again, first)
			}
		}
	})
}

// How long a call waits depends on the client, and on stdio on the options. max_wait_s can only shorten the
// wait.
func TestWaitTimeDependsOnTheClient(t *testing.T) {
	for _, test := range []struct {
		program, version string
		http             bool
		want             time.Duration
		option           time.Duration
	}{
		{"claude-code", withSessions, false, 25 * time.Minute, 0},
		{"claude-code", stateless, true, 45 * time.Second, 0},
		{"codex-mcp-client", withSessions, false, 240 * time.Second, 0},
		{"codex-mcp-client", withSessions, true, 240 * time.Second, 0},
		{"gemini-cli-mcp-client-askback", stateless, true, 9 * time.Minute, 0},
		{"unknown-client", withSessions, true, 45 * time.Second, 0},
		{"codex-mcp-client", withSessions, false, 23 * time.Hour, 23 * time.Hour},
		{"claude-code", stateless, false, 23 * time.Hour, 23 * time.Hour},
		{"codex-mcp-client", withSessions, true, 240 * time.Second, 23 * time.Hour},
	} {
		t.Run(fmt.Sprint(test.program, test.version, test.http, test.option), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.options.Wait = test.option
				f.restart()
				var cs *mcp.ClientSession
				if test.http {
					cs = f.connectHTTP("bot", test.program, test.version, nil)
				} else {
					cs = f.connectStdio(test.program, test.version, nil)
				}
				started := time.Now()
				first := callTool(t.Context(), cs, "ask_user_question", database)
				if waited := time.Since(started); waited != test.want {
					t.Errorf("waited %s, want %s", waited, test.want)
				}
				id := fmt.Sprint(first.structured(t)["question_id"])
				for asked, want := range map[string]time.Duration{
					"0": 0, "2": 2 * time.Second, `"12"`: 12 * time.Second, "null": test.want,
					"999999999999": test.want,
				} {
					started := time.Now()
					callTool(t.Context(), cs, "wait_for_answer",
						`{"question_id": "`+id+`", "max_wait_s": `+asked+`}`).text(t)
					if waited := time.Since(started); waited != want {
						t.Errorf("max_wait_s %s: waited %s, want %s", asked, waited, want)
					}
				}
			})
		})
	}
}

func TestProgressIsSentWhileWaiting(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, _ func() *mcp.ClientSession) {
		version, onStdio := withSessions, strings.Contains(t.Name(), "stdio")
		if strings.Contains(t.Name(), stateless) {
			version = stateless
		}
		notes := make(chan float64, 10)
		o := &mcp.ClientOptions{ProgressNotificationHandler: func(
			_ context.Context, r *mcp.ProgressNotificationClientRequest,
		) {
			notes <- r.Params.Progress
		}}
		var cs *mcp.ClientSession
		if onStdio {
			cs = f.connectStdio("program", version, o)
		} else {
			cs = f.connectHTTP("bot", "program", version, o)
		}
		p := &mcp.CallToolParams{Name: "ask_user_question", Arguments: map[string]any{"question": "Which name?"}}
		p.SetProgressToken("t1")
		if _, err := cs.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var got []float64
		for len(notes) > 0 {
			got = append(got, <-notes)
		}
		if want := []float64{10, 20, 30, 40}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// The error states that a declined ask is not consent (F4).
func TestDeclinedAskIsAnErrorResult(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		done := startCall(t.Context(), connect(), "ask_user_question", database)
		if _, err := f.engine.As(ana).Decline(t.Context(), f.pendingAsk().ID, "not my business"); err != nil {
			t.Fatal(err)
		}
		got := <-done
		if text := got.text(t); !got.IsError || !strings.Contains(text, "declined") ||
			!strings.Contains(text, "not consent") {
			t.Errorf("error %t: %s", got.IsError, text)
		}
	})
}

// After a restart an agent can list its pending asks, and withdraw them.
func TestOpenQuestionsAreListedAndWithdrawn(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		callTool(t.Context(), connect(), "ask_user_question", database)
		callTool(t.Context(), connect(), "confirm_action", `{"action": "Say \"no\""}`)
		f.restart()
		cs := connect()
		list := callTool(t.Context(), cs, "list_open_questions", `{}`)
		rows := list.structured(t)["questions"].([]any)
		if text := list.text(t); len(rows) != 2 || !strings.Contains(text, `["Which database?"]`) ||
			!strings.Contains(text, `["Say \"no\""]`) {
			t.Fatalf("%d rows: %s", len(rows), text)
		}
		id := rows[0].(map[string]any)["question_id"].(string)
		for range 2 { // withdrawing again changes nothing
			if text := callTool(t.Context(), cs, "withdraw_question",
				`{"question_id": "`+id+`", "reason": "found out"}`).text(t); !strings.Contains(text, "Withdrawn") {
				t.Errorf("got %s", text)
			}
		}
		if left := f.pendingAsk(); left.ID == id {
			t.Error("the wrong one was withdrawn")
		}
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		other := rows[1].(map[string]any)["question_id"].(string)
		if text := callTool(t.Context(), cs, "withdraw_question",
			`{"question_id": "`+other+`"}`).text(t); !strings.Contains(text, "Approved by") {
			t.Errorf("the decision is not returned: %s", text)
		}
	})
}

// Some clients show a model only the tools that it searches for. Only the ask tools are marked to be shown
// always (C4).
func TestAskToolsAreAlwaysLoaded(t *testing.T) {
	eachTransport(t, func(t *testing.T, _ *fixture, connect func() *mcp.ClientSession) {
		list, err := connect().ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var always []string
		for _, tool := range list.Tools {
			if tool.Meta["anthropic/alwaysLoad"] == true {
				always = append(always, tool.Name)
			}
		}
		slices.Sort(always)
		if want := []string{"ask_user_question", "confirm_action"}; !slices.Equal(always, want) {
			t.Errorf("got %v, want %v", always, want)
		}
	})
}
