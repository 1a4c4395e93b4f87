package compat

import "github.com/askback/askback"

const exampleDeepagents = `{"questions": [{"question": "Which database?", "type": "multiple_choice", "choices": [{"value": "PostgreSQL"}, {"value": "SQLite"}]}]}`

// deepagentsQuestion reads a question of the ask_user of deepagents.
func deepagentsQuestion(in *input, n node) asked {
	var a asked
	kind := "text"
	in.fields(n, map[string]func(node){
		"question": in.text(&a.Text), "type": in.text(&kind), "choices": in.options(&a, "value"), "required": in.unless(&a.Optional),
	})
	switch {
	case kind != "text" && kind != "multiple_choice" && kind != "multi_select":
		in.wrong(n.at+"/type", "a type is text, multiple_choice or multi_select", "")
	case kind == "text" && len(a.Options) > 0:
		in.wrong(n.at+"/options", "a question of type text has no choices", "")
	case kind != "text" && len(a.Options) == 0:
		in.wrong(n.at+"/options", "a choice has 2 to 4 choices", "")
	}
	a.MultiSelect = kind == "multi_select"
	return a
}

type deepagentsResult struct {
	Status  string   `json:"status"`
	Answers []string `json:"answers"`
	Error   string   `json:"error,omitempty"`
}

// deepagentsReply is {"status", "answers"}, by position. An answer with several
// choices is a list written as JSON: a comma may stand inside a choice.
func deepagentsReply(all []said, ask askback.Ask) (any, error) {
	out := deepagentsResult{Status: "answered", Answers: []string{}}
	if err := answeredOnly(ask); err != nil {
		out.Status, out.Error = "cancelled", err.Error()
		if ask.Outcome.Status == askback.Expired {
			out.Status = "error" // a person cancels, a clock does not
		}
		return out, nil
	}
	for _, s := range all {
		text := s.line()
		if s.MultiSelect {
			list, err := marshal(s.values())
			if err != nil {
				return nil, err
			}
			text = string(list)
		}
		out.Answers = append(out.Answers, text)
	}
	return out, nil
}
