package compat

import "github.com/askback/askback"

const exampleVSCode = `{"questions": [{"header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite", "recommended": true}]}]}`

// vscodeQuestion reads a question of vscode_askQuestions. Its header is the key
// of its answer, so it is kept whole however much of it is shown.
func vscodeQuestion(in *input, n node) asked {
	a := asked{keyField: "header"}
	message := ""
	in.fields(n, map[string]func(node){
		"header": in.text(&a.key), "question": in.text(&a.Text), "message": in.text(&message),
		"options":            in.options(&a, "label", "description", "recommended"),
		"multiSelect":        in.flag(&a.MultiSelect),
		"allowFreeformInput": in.unless(&a.NoOther),
	})
	a.Header = a.key
	if a.key == "" {
		in.wrong(n.at+"/header", "a question has a header", "give each its own")
	}
	if message != "" {
		a.Text += "\n\n" + message
	}
	if !a.MultiSelect && len(a.Default) > 1 {
		a.Default = nil // one answer has one recommendation, or none
	}
	return a
}

type vscodeAnswer struct {
	Selected []string `json:"selected"`
	FreeText *string  `json:"freeText"`
	Skipped  bool     `json:"skipped"`
}

// vscodeReply is {"answers": {"<header>": {selected, freeText, skipped}}}.
// Whoever declined skipped every question; silence is nobody's skip.
func vscodeReply(all []said, ask askback.Ask) (any, error) {
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
