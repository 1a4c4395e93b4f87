package compat

import "github.com/askback/askback"

const exampleCodex = `{"questions": [{"id": "database", "header": "Database", "question": "Which database?", "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]}]}`

// codexQuestion reads a question of request_user_input; the result calls it by
// its id.
func codexQuestion(in *input, n node) asked {
	a := asked{keyField: "id"}
	in.fields(n, map[string]func(node){
		"id": in.text(&a.key), "header": in.text(&a.Header), "question": in.text(&a.Text),
		"options":  in.options(&a, "label", "description"),
		"isOther":  func(node) {}, // text of one's own is always offered
		"isSecret": in.refused("an answer is kept and shown to others, so no secret is asked for", "ask for it elsewhere"),
	})
	if a.key == "" {
		in.wrong(n.at+"/id", "a question has an id", "name it in snake_case")
	}
	return a
}

type codexAnswer struct {
	Answers []string `json:"answers"`
}

// codexReply is {"answers": {"<id>": {"answers": ["…"]}}}; what a person noted
// is one more string.
func codexReply(all []said, ask askback.Ask) (any, error) {
	if err := answeredOnly(ask); err != nil {
		return nil, err
	}
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
	return map[string]any{"answers": out}, nil
}
