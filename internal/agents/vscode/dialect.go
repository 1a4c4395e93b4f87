package vscode

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
)

// Dialect is the format of the editor's tool vscode_askQuestions.
var Dialect = compat.Client{
	Name: Name, Example: dialectExample, ReadCall: compat.QuestionsBy(dialectQuestion, dialectReply),
}

const dialectExample = `{"questions": [{"header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite", "recommended": true}]}]}`

// dialectQuestion reads a question of vscode_askQuestions. The header is the key of the answer,
// so it is kept in full even if only a part is shown.
func dialectQuestion(r *compat.Reader, n compat.Node) compat.ClientQuestion {
	a := compat.ClientQuestion{KeyField: "header"}
	message := ""
	r.Fields(n, map[string]func(compat.Node){
		"header": r.Text(&a.Key), "question": r.Text(&a.Text), "message": r.Text(&message),
		"options":            r.Options(&a, "label", "description", "recommended"),
		"multiSelect":        r.Flag(&a.MultiSelect),
		"allowFreeformInput": r.NegatedFlag(&a.NoOther),
	})
	a.Header = a.Key
	if a.Key == "" {
		r.Problem(n.Pointer+"/header", "header is missing", "give each question its own")
	}
	if message != "" {
		a.Text += "\n\n" + message
	}
	if !a.MultiSelect && len(a.Default) > 1 {
		a.Default = nil // a single answer cannot have several defaults
	}
	return a
}

type dialectAnswer struct {
	Selected []string `json:"selected"`
	FreeText *string  `json:"freeText"`
	Skipped  bool     `json:"skipped"`
}

// dialectReply returns {"answers": {"<header>": {selected, freeText, skipped}}}. If the person
// declined without a reason, every question is skipped. After any other outcome without an
// answer or default, it returns an *[compat.Unanswered].
func dialectReply(all []compat.ClientAnswer, ask askback.Ask) (any, error) {
	if err := compat.AnsweredOnly(ask); err != nil &&
		(ask.Outcome.Status != askback.Declined || ask.Outcome.Reason != "") {
		return nil, err
	}
	out := map[string]dialectAnswer{}
	for _, s := range all {
		a := dialectAnswer{Selected: append([]string{}, s.Selected...)}
		own := s
		own.Selected = nil
		if text := own.Line(); text != "" {
			a.FreeText = &text
		}
		a.Skipped = len(s.Values()) == 0
		out[s.Key] = a
	}
	return map[string]any{"answers": out}, nil
}
