package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A snippet marks the words of a search, in the first text that has these words. It is short, and begins and
// ends with whole characters. Its text is safe.
func TestSnippetMarksTheFoundWords(t *testing.T) {
	a := askback.Ask{
		Title: "Orders",
		Questions: []askback.Question{{
			Text:    "Which \u202etable\x1b[31m should " + strings.Repeat("really ", 40) + "go?",
			Options: []askback.Option{{Label: "Archive", Description: "It moves to the archive"}},
		}},
		Context: json.RawMessage(`{"note":"<b>bold</b>"}`),
		Tags:    []string{strings.Repeat("é", 30) + " prods " + strings.Repeat("é", 100), "later"},
		Outcome: &askback.Outcome{
			Answers: []askback.QuestionAnswer{{Other: "Only\nmonths", Notes: "all of them"}},
			Comment: "Until March.", Reason: "Which year?",
		},
	}
	for query, want := range map[string]string{
		"orders":        "[Orders]",
		"which tab":     "[Which] ⟨U+202E⟩[table]␛ should " + strings.Repeat("really ", 21) + "…",
		"which go":      "[Which] ⟨U+202E⟩table␛ should " + strings.Repeat("really ", 21) + "…",
		"go":            "… ally really really really really really [go]?",
		"archive":       "[Archive]",
		"moves":         "It [moves] to the archive",
		"bold":          `{   "note": "<b>[bold]</b>" }`,
		"prods":         "… " + strings.Repeat("é", 20) + " [prods] " + strings.Repeat("é", 66) + " …",
		"later":         "[later]",
		"months":        "by a person: Only [months]",
		"them":          "by a person: all of [them]",
		"march":         "by a person: Until [March].",
		`"until march"`: "by a person: [Until March].",
		"year":          "by a person: Which [year]?",
		"none":          "",
		"":              "",
	} {
		s := view.SnippetOf(a, query)
		got := ""
		for _, p := range s.Pieces {
			if p.Marked {
				got += "[" + p.Text.String() + "]"
			} else {
				got += p.Text.String()
			}
		}
		if s.OfPerson {
			got = "by a person: " + got
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}
