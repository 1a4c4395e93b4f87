package view_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// The origin of an ask tells sub-agents and runs of one agent apart.
func TestOriginTellsRunsApart(t *testing.T) {
	question := []askback.Question{{Text: "Close it?"}}
	for want, a := range map[string]askback.Ask{
		"bot":                             {Agent: "bot", Owner: "bot"},
		"bot (token eve)":                 {Agent: "bot", Owner: "eve"},
		"bot · Ticket 71":                 {Agent: "bot", SessionTitle: "Ticket\n71"},
		"a, a sub-agent of b of c":        {Agent: "a", Path: []string{"c", "b"}},
		"a, a sub-agent of b · Ticket 71": {Agent: "a", Path: []string{"b"}, SessionTitle: "Ticket 71"},
		"bot · " + strings.Repeat("word ", 19) + "word …": {Agent: "bot", SessionTitle: strings.Repeat("word ", 40)},
	} {
		for _, v := range []view.Ask{view.Of(a), view.Brief(a)} {
			if got := v.Origin().String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	for want, a := range map[string]askback.Ask{
		"bot · Run 7 · Release": {Agent: "bot", Title: "Release", SessionTitle: "Run 7", Questions: question},
		"bot · Run 7":           {Agent: "bot", Title: "Run 7", SessionTitle: "Run 7", Questions: question},
		"bot":                   {Agent: "bot", Title: "Release"},
	} {
		if got := view.Of(a).SmallPrint().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// If a list has asks of several sessions of one agent with one subject, each names its session. An ask without a
// session record has none to name.
func TestAsksOfSeveralSessionsNameTheirSession(t *testing.T) {
	var asks []view.Ask
	for _, a := range []askback.Ask{
		{ID: "ask_1", SessionID: "ses_00aaaaaa", Agent: "bot"},
		{ID: "ask_2", SessionID: "ses_00aaaaaa", Agent: "bot"},
		{ID: "ask_3", SessionID: "ses_00bbbbbb", Agent: "bot"},
		{ID: "ask_4", SessionID: "ses_00cccccc", Agent: "bot", SessionTitle: "Ticket 71"},
		{ID: "ask_5", SessionID: "ses_00dddddd", Agent: "poet", SessionTitle: "Write."},
		{ID: "ask_6", SessionID: "ses_00eeeeee", Agent: "poet", SessionTitle: "Write."},
		{ID: "ask_7", SessionID: "ses_7", Agent: "bot"},
	} {
		asks = append(asks, view.Brief(a))
	}
	want := "bot · session aaaaaa, bot · session aaaaaa, bot · session bbbbbb, bot · Ticket 71, " +
		"poet · session dddddd · Write., poet · session eeeeee · Write., bot"
	for range 2 { // a list is shown again and again
		view.TellApart(view.References(asks))
		var got []string
		for _, a := range asks {
			got = append(got, a.Origin().String())
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	view.TellApart(view.References(asks[3:5]))
	if got := asks[4].Origin().String(); got != "poet · Write." {
		t.Errorf("the only session of a list: got %q", got)
	}
}
