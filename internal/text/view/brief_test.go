package view_test

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A list offers to approve only calls whose row shows the arguments unchanged and in their order (T3, T9).
func TestListApprovesOnlyCallsThatItShows(t *testing.T) {
	for input, want := range map[string]bool{
		`{"to":"ben"}`:                       true,
		`{"script":"if x:\n    pass"}`:       false, // a row has no line breaks
		`{"move":["\u05d0","\u05d1"]}`:       false, // the browser would swap the two letters
		"{\"move\":[\"\u0627\",\"\u0628\"]}": false,
		`{"to":"ben\u202e"}`:                 false,
		`{"to":"ben","to":"eve"}`:            false,
		// A backslash and an n are rejected like a line break, although a row could show them.
		`{"line":"a\\nb"}`:                          false,
		`{"names":["Ren\u00e9","\u5f20","\u03c9"]}`: true,
	} {
		a := askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &askback.Confirmation{
			ToolName: "files.move", Input: json.RawMessage(input),
		}}
		if got := view.Brief(a).Quick; got != want {
			t.Errorf("Quick of %s is %t, want %t", input, got, want)
		}
	}
}

// An ask that a list cannot answer has the reason in a few words.
func TestAskNamesWhatOnlyItsPageShows(t *testing.T) {
	yesNo := []askback.Option{{Label: "Yes"}, {Label: "No"}}
	question := func(q askback.Question) askback.Ask {
		return askback.Ask{ID: "ask_1", SessionID: "ses_1", Questions: []askback.Question{q}}
	}
	refund := askback.Question{Text: "Refund?", Options: yesNo}
	titled, withContext := question(refund), question(refund)
	titled.Title, withContext.Context = "Customer 48213", json.RawMessage(`"She is angry."`)
	call := func(c askback.Confirmation) askback.Ask {
		return askback.Ask{ID: "ask_1", SessionID: "ses_1", Confirmation: &c}
	}
	for _, c := range []struct {
		ask  askback.Ask
		want string
	}{
		{question(refund), ""},
		{titled, ""}, // the row shows the title
		{withContext, "read first"},
		{question(askback.Question{Text: "Why?"}), "in your own words"},
		{question(askback.Question{Text: "Which?", Options: yesNo, MultiSelect: true}), "any of 2 options"},
		{
			question(askback.Question{Text: "Which?", Options: []askback.Option{
				{Label: "A", Description: "fast"}, {Label: "B"},
			}}), "2 options",
		},
		{
			question(askback.Question{Text: "Which?", Options: []askback.Option{
				{Label: "A", Preview: "x"}, {Label: "B"},
			}}), "2 options",
		},
		{askback.Ask{ID: "ask_1", SessionID: "ses_1", Questions: make([]askback.Question, 3)}, "3 questions"},
		{call(askback.Confirmation{ToolName: "mail", Input: json.RawMessage(`{"to":"ben"}`)}), ""},
		{
			call(askback.Confirmation{ToolName: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}),
			"read first",
		},
		{
			call(askback.Confirmation{ToolName: "rm", Dangerous: true, Input: json.RawMessage(`{}`)}),
			"read first",
		},
		{
			call(askback.Confirmation{ToolName: "mail", Input: json.RawMessage(`{"text":"a\nb"}`)}),
			"read first",
		},
	} {
		got := view.Brief(c.ask)
		if got.OnPage != c.want || got.Quick != (c.want == "") {
			t.Errorf("%s: got %q, quick %t, want %q", got.Headline(), got.OnPage, got.Quick, c.want)
		}
	}
}
