package compat

const exampleCodex = `{"questions": [{"id": "database", "header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]}]}`

// codexQuestion reads a question of Codex's tool request_user_input. The result refers to the
// question by its id.
func codexQuestion(r *lenientReader, n node) clientQuestion {
	a := clientQuestion{keyField: "id"}
	r.fields(n, map[string]func(node){
		"id": r.text(&a.key), "header": r.text(&a.Header), "question": r.text(&a.Text),
		"options":  r.options(&a, "label", "description"),
		"isOther":  func(node) {}, // free text is always offered
		"isSecret": r.rejectIfSet("answers are stored and shown to others, so a question must not ask for a secret", "ask for it elsewhere"),
	})
	if a.key == "" {
		r.problem(n.pointer+"/id", "id is missing", "name it in snake_case")
	}
	return a
}

type codexAnswer struct {
	Answers []string `json:"answers"`
}

// codexReply returns {"answers": {"<id>": {"answers": ["…"]}}}. Notes and other remarks are
// further strings with a prefix, such as "user_note: ".
func codexReply(all []clientAnswer) any {
	out := map[string]codexAnswer{}
	for _, s := range all {
		values := append([]string{}, s.Values()...)
		for _, r := range s.remarks {
			name := map[string]string{"notes": "user_note", "comment": "user_note"}[r.kind]
			if name == "" {
				name = r.kind
			}
			values = append(values, name+": "+r.text)
		}
		out[s.key] = codexAnswer{values}
	}
	return map[string]any{"answers": out}
}
