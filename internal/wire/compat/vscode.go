package compat

import "github.com/askback/askback"

const exampleVSCode = `{"questions": [{"header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite", "recommended": true}]}]}`

// vscodeQuestion reads a question of vscode_askQuestions. The header is the key of the answer,
// so it is kept in full even if only a part is shown.
func vscodeQuestion(r *lenientReader, n node) clientQuestion {
	a := clientQuestion{keyField: "header"}
	message := ""
	r.fields(n, map[string]func(node){
		"header": r.text(&a.key), "question": r.text(&a.Text), "message": r.text(&message),
		"options":            r.options(&a, "label", "description", "recommended"),
		"multiSelect":        r.flag(&a.MultiSelect),
		"allowFreeformInput": r.negatedFlag(&a.NoOther),
	})
	a.Header = a.key
	if a.key == "" {
		r.problem(n.pointer+"/header", "header is missing", "give each question its own")
	}
	if message != "" {
		a.Text += "\n\n" + message
	}
	if !a.MultiSelect && len(a.Default) > 1 {
		a.Default = nil // a single answer cannot have several defaults
	}
	return a
}

type vscodeAnswer struct {
	Selected []string `json:"selected"`
	FreeText *string  `json:"freeText"`
	Skipped  bool     `json:"skipped"`
}

// vscodeReply returns {"answers": {"<header>": {selected, freeText, skipped}}}. If the person
// declined without a reason, every question is skipped. After any other outcome without an
// answer or default, it returns an *[Unanswered].
func vscodeReply(all []clientAnswer, ask askback.Ask) (any, error) {
	if err := answeredOnly(ask); err != nil && (ask.Outcome.Status != askback.Declined || ask.Outcome.Reason != "") {
		return nil, err
	}
	out := map[string]vscodeAnswer{}
	for _, s := range all {
		a := vscodeAnswer{Selected: append([]string{}, s.Selected...)}
		own := s
		own.Selected = nil
		if text := own.line(); text != "" {
			a.FreeText = &text
		}
		a.Skipped = len(s.Values()) == 0
		out[s.key] = a
	}
	return map[string]any{"answers": out}, nil
}
