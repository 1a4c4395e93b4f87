package codex

import "github.com/askback/askback/internal/wire/compat"

// Dialect is the format of Codex's tool request_user_input.
var Dialect = compat.Client{
	Name: Name, Example: dialectExample, ReadCall: compat.QuestionsBy(dialectQuestion, compat.Answered(dialectReply)),
}

const dialectExample = `{"questions": [{"id": "database", "header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]}]}`

// dialectQuestion reads a question of Codex's tool request_user_input. The result refers to the
// question by its id.
func dialectQuestion(r *compat.Reader, n compat.Node) compat.ClientQuestion {
	a := compat.ClientQuestion{KeyField: "id"}
	r.Fields(n, map[string]func(compat.Node){
		"id": r.Text(&a.Key), "header": r.Text(&a.Header), "question": r.Text(&a.Text),
		"options": r.Options(&a, "label", "description"),
		"isOther": func(compat.Node) {}, // free text is always offered
		"isSecret": r.RejectIfSet("answers are stored and shown to others, so a question must not ask for a secret",
			"ask for it elsewhere"),
	})
	if a.Key == "" {
		r.Problem(n.Pointer+"/id", "id is missing", "name it in snake_case")
	}
	return a
}

type dialectAnswer struct {
	Answers []string `json:"answers"`
}

// dialectReply returns {"answers": {"<id>": {"answers": ["…"]}}}. Notes and other remarks are
// further strings with a prefix, such as "user_note: ".
func dialectReply(all []compat.ClientAnswer) any {
	out := map[string]dialectAnswer{}
	for _, s := range all {
		values := append([]string{}, s.Values()...)
		for _, r := range s.Remarks {
			name := map[string]string{"notes": "user_note", "comment": "user_note"}[r.Kind]
			if name == "" {
				name = r.Kind
			}
			values = append(values, name+": "+r.Text)
		}
		out[s.Key] = dialectAnswer{values}
	}
	return map[string]any{"answers": out}
}
