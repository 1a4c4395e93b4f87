package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// An ask of a hosted run has the subject of the run, so that people can tell two runs of one agent apart: the title
// or the beginning of the prompt and of the payload.
func TestAskHasTheSubjectOfItsRun(t *testing.T) {
	for _, c := range []struct {
		title, prompt, payload, want string
	}{
		{"Scheduled for Mon", "Go.", `{"ticket":71}`, "Scheduled for Mon"},
		{"", "Close the tickets.\nAll of them.", "", "Close the tickets."},
		{"", "", `{"ticket":71,"text":"Refund\n please","tags":["a"],"urgent":true}`, "ticket: 71, text: Refund please"},
		{"", "Close this.", `{"ticket":1e400}`, "Close this. · ticket: 1e400"},
		{"", "", `["a", "b"]`, `["a","b"]`},
		{"", "", `{"tags": ["a"]}`, `{"tags":["a"]}`},
		{"", "", `"a text"`, `"a text"`},
		{"", strings.Repeat("ü", 300), "", strings.Repeat("ü", 59) + "…"},
		{"", "Go. Prepare the release of v1.2! Not before Monday.", "", "Go. Prepare the release of v1.2!"},
		{
			"", "Look at each of the tickets that came in since yesterday, and close the old ones.", "",
			"Look at each of the tickets that came in since yesterday…",
		},
		{"", "The payload: what is it?", "", "The payload: what is it?"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {says("I ask.", call("ask", `{"question": "Which?"}`)), says("End.")},
			}})
			defer h.stop()
			s, err := h.ana.Start(t.Context(), askback.SessionRequest{
				Agent: "poem", Title: c.title, Prompt: c.prompt, Payload: json.RawMessage(c.payload),
			})
			if err != nil {
				t.Fatal(err)
			}
			h.settled(s.ID)
			h.check("subject", h.asked().SessionTitle, c.want)
		})
	}
}

// An ask of a sub-agent has the beginning of its task.
func TestAskOfASubAgentHasItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem":  {says("", call("spawn", `{}`)), says("End.")},
			"child": {says("", call("ask", `{"question": "Which?"}`)), says("Result.")},
		}})
		defer h.stop()
		s, err := h.ana.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go.", Title: "Whole"})
		if err != nil {
			t.Fatal(err)
		}
		h.settled(s.ID)
		page, err := h.ana.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) == 0 {
			t.Fatalf("got %v, %v", page.Items, err)
		}
		tasks := map[string]bool{}
		for _, a := range page.Items {
			tasks[a.SessionTitle] = true
		}
		h.check("tasks", fmt.Sprint(tasks), "map[task 0:true task 1:true]")
	})
}

// An ask in a session of another program has the title of the session. An ask of its own has none.
func TestAskHasTheTitleOfItsSession(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	if _, err := bot.Start(t.Context(), askback.SessionRequest{Key: "run", Title: "Release 2.4"}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"run": "Release 2.4", "other": "", "": ""} {
		a, err := bot.Ask(t.Context(), askback.Request{
			SessionKey: key, Questions: []askback.Question{{Text: "Which?"}}, Title: "Before I start",
		})
		if err != nil || a.SessionTitle != want {
			t.Errorf("session %q: got %q, %v, want %q", key, a.SessionTitle, err, want)
		}
	}
}
