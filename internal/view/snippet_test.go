package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
)

// A snippet marks the words of a search, in the first text that has them. Its text is safe.
func TestSnippetOf(t *testing.T) {
	a := askback.Ask{
		Title:     "Orders",
		Questions: []askback.Question{{Text: "Which \u202etable\x1b[31m should " + strings.Repeat("really ", 40) + "go?"}},
		Context:   json.RawMessage(`{"note":"<b>bold</b>"}`),
		Outcome:   &askback.Outcome{Comment: "Until March."},
	}
	for query, want := range map[string]string{
		"orders":        "[Orders]",
		"tab which":     "[Which] ",
		"go":            "… ",
		"bold":          "[bold]",
		"march":         "Until [March].",
		"none":          "",
		"":              "",
		`"until march"`: "[Until March]",
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
		if !strings.Contains(got, want) || want == "" && got != "" || strings.ContainsAny(got, "\u202e\x1b\n") || len(got) > 400 {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
		if s.OfPerson != strings.Contains(query, "march") {
			t.Errorf("%q: OfPerson is %t", query, s.OfPerson)
		}
	}
}
