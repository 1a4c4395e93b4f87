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

// each runs a test on stdio and over HTTP, in the revisions before and after
// sessions were removed.
func each(t *testing.T, run func(t *testing.T, d *desk, connect func() *mcp.ClientSession)) {
	for _, version := range []string{legacy, modern} {
		t.Run("stdio "+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				run(t, d, func() *mcp.ClientSession { return d.stdio("program", version, nil) })
			})
		})
		t.Run("http "+version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				run(t, d, func() *mcp.ClientSession { return d.http("bot", "program", version, nil) })
			})
		})
	}
}

// The whole way: a model calls the tool, a person answers, the model reads the
// answer (A1, B7, C1, F9).
func TestAPersonAnswersAModel(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		done := start(t.Context(), connect(), "ask_user_question", database)
		ask := d.only()
		if ask.Owner != "bot" || ask.Questions[0].Text != "Which database?" {
			t.Errorf("got %+v", ask)
		}
		d.answer(ask.ID, askback.Choose("SQLite"))
		got := <-done
		if want := `User has answered your questions: "Which database?" = "SQLite".`; got.text(t) != want || got.IsError {
			t.Errorf("got %q, error %t; want %q", got.text(t), got.IsError, want)
		}
		if answers := fmt.Sprint(got.structured(t)["answers"]); answers != "map[Which database?:SQLite]" {
			t.Errorf("got %s", answers)
		}
	})
}

// confirm_action: only a person approves, and a denial is a normal result (C3, F4).
func TestAnApprovalAndADenial(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, decision := range []askback.Decision{askback.Approve, askback.Deny} {
			done := start(t.Context(), cs, "confirm_action", `{"action": "Delete `+string(decision)+`", "default": true}`)
			d.answer(d.only().ID, askback.Decide(decision, ""))
			got := <-done
			if confirmed := got.structured(t)["confirmed"]; confirmed != (decision == askback.Approve) || got.IsError {
				t.Errorf("%s: confirmed %v, error %t", decision, confirmed, got.IsError)
			}
		}
	})
}

// Nobody answers: the wait ends before the client does, with a normal result that
// says what to do, and the ask goes on; so does the wait for it, after a restart
// as well (B3, F9).
func TestAWaitThatEndsLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		begun := time.Now()
		got := call(t.Context(), connect(), "ask_user_question", database)
		if waited := time.Since(begun); waited != 45*time.Second {
			t.Errorf("waited %s, want 45s", waited)
		}
		s := got.structured(t)
		ask := d.only()
		if got.IsError || s["status"] != "pending" || s["question_id"] != ask.ID || s["page_url"] != "https://ask.example.com/asks/"+ask.ID {
			t.Errorf("error %t, %v", got.IsError, s)
		}
		for _, said := range []string{got.text(t), fmt.Sprint(s["next"])} {
			if !strings.Contains(said, "Do not ask this again") || !strings.Contains(said, "Call wait_for_answer") || !strings.Contains(said, "never call get_answer in a loop") {
				t.Errorf("%q does not say what to do", said)
			}
		}
		d.restart()
		cs := connect()
		id := `{"question_id": "` + ask.ID + `"}`
		done := start(t.Context(), cs, "wait_for_answer", id)
		d.answer(ask.ID, askback.Choose("PostgreSQL"))
		first := (<-done).text(t)
		d.restart()
		cs = connect()
		for _, tool := range []string{"wait_for_answer", "get_answer", "get_answer"} {
			if again := call(t.Context(), cs, tool, id).text(t); again != first || !strings.Contains(again, `= "PostgreSQL"`) {
				t.Errorf("%s: got %q, want %q", tool, again, first)
			}
		}
	})
}

// How long a call waits follows the program that calls, and what the model asks
// for is held within it (W: timeout=1).
func TestAClientIsAskedForAsMuchPatienceAsItHas(t *testing.T) {
	for _, test := range []struct {
		program, version string
		http             bool
		want             time.Duration
	}{
		{"claude-code", legacy, false, 25 * time.Minute},
		{"claude-code", modern, true, 45 * time.Second},
		{"codex-mcp-client", legacy, false, 240 * time.Second},
		{"codex-mcp-client", legacy, true, 240 * time.Second},
		{"gemini-cli-mcp-client-askback", modern, true, 9 * time.Minute},
		{"somebody", legacy, true, 45 * time.Second},
	} {
		t.Run(fmt.Sprint(test.program, test.version, test.http), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				var cs *mcp.ClientSession
				if test.http {
					cs = d.http("bot", test.program, test.version, nil)
				} else {
					cs = d.stdio(test.program, test.version, nil)
				}
				begun := time.Now()
				first := call(t.Context(), cs, "ask_user_question", database)
				if waited := time.Since(begun); waited != test.want {
					t.Errorf("waited %s, want %s", waited, test.want)
				}
				id := fmt.Sprint(first.structured(t)["question_id"])
				for asked, want := range map[string]time.Duration{
					"0": 0, "2": 2 * time.Second, `"12"`: 12 * time.Second, "null": test.want, "999999999999": test.want,
				} {
					begun := time.Now()
					call(t.Context(), cs, "wait_for_answer", `{"question_id": "`+id+`", "max_wait_s": `+asked+`}`).text(t)
					if waited := time.Since(begun); waited != want {
						t.Errorf("max_wait_s %s: waited %s, want %s", asked, waited, want)
					}
				}
			})
		})
	}
}

// A client that wants to know hears every ten seconds that the call lives.
func TestProgressIsToldWhileNobodyAnswers(t *testing.T) {
	each(t, func(t *testing.T, d *desk, _ func() *mcp.ClientSession) {
		version, onStdio := legacy, strings.Contains(t.Name(), "stdio")
		if strings.Contains(t.Name(), modern) {
			version = modern
		}
		notes := make(chan float64, 10)
		o := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			notes <- r.Params.Progress
		}}
		var cs *mcp.ClientSession
		if onStdio {
			cs = d.stdio("program", version, o)
		} else {
			cs = d.http("bot", "program", version, o)
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

// What ended without an answer is an error result that is no consent (F4).
func TestADeclinedAskIsAnErrorInPlainWords(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		done := start(t.Context(), connect(), "ask_user_question", database)
		if _, err := d.engine.As(ana).Decline(t.Context(), d.only().ID, "not my business"); err != nil {
			t.Fatal(err)
		}
		got := <-done
		if text := got.text(t); !got.IsError || !strings.Contains(text, "declined") || !strings.Contains(text, "not consent") {
			t.Errorf("error %t: %s", got.IsError, text)
		}
	})
}

// An agent that starts anew finds what it asked, and can withdraw it.
func TestOpenQuestionsAreListedAndWithdrawn(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		call(t.Context(), connect(), "ask_user_question", database)
		call(t.Context(), connect(), "confirm_action", `{"action": "Say \"no\""}`)
		d.restart()
		cs := connect()
		list := call(t.Context(), cs, "list_open_questions", `{}`)
		rows := list.structured(t)["questions"].([]any)
		if text := list.text(t); len(rows) != 2 || !strings.Contains(text, `["Which database?"]`) || !strings.Contains(text, `["Say \"no\""]`) {
			t.Fatalf("%d rows: %s", len(rows), text)
		}
		id := rows[0].(map[string]any)["question_id"].(string)
		for range 2 { // it may be said again
			if text := call(t.Context(), cs, "withdraw_question", `{"question_id": "`+id+`", "reason": "found out"}`).text(t); !strings.Contains(text, "Withdrawn") {
				t.Errorf("got %s", text)
			}
		}
		if left := d.only(); left.ID == id {
			t.Error("the wrong one was withdrawn")
		}
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		other := rows[1].(map[string]any)["question_id"].(string)
		if text := call(t.Context(), cs, "withdraw_question", `{"question_id": "`+other+`"}`).text(t); !strings.Contains(text, "Approved by") {
			t.Errorf("whoever was quicker is not heard: %s", text)
		}
	})
}

// Clients that show a model only the tools it searches for show these all the same:
// nobody searches for a way to ask (C4).
func TestTheAskToolsAreAlwaysLoaded(t *testing.T) {
	each(t, func(t *testing.T, _ *desk, connect func() *mcp.ClientSession) {
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
