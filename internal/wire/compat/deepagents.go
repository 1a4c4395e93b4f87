package compat

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleDeepagents = `{"questions": [{"question": "Which database?", "type": "multiple_choice", "choices": [{"value": "PostgreSQL"}, {"value": "SQLite"}]}]}`

// deepagentsQuestion reads a question of the tool ask_user of deepagents.
func deepagentsQuestion(r *Reader, n Node) ClientQuestion {
	var a ClientQuestion
	kind := "text"
	r.Fields(n, map[string]func(Node){
		"question": r.Text(&a.Text), "type": r.Text(&kind), "choices": r.Options(&a, "value"),
		"required": r.NegatedFlag(&a.Optional),
	})
	switch {
	case kind != "text" && kind != "multiple_choice" && kind != "multi_select":
		r.Problem(n.Pointer+"/type", "type must be text, multiple_choice or multi_select", "")
	case kind == "text" && len(a.Options) > 0:
		r.Problem(n.Pointer+"/options", "a question of type text cannot have choices", "")
	case kind != "text" && len(a.Options) == 0:
		r.Problem(n.Pointer+"/options", "this type needs 2 to 4 choices", "")
	}
	a.MultiSelect = kind == "multi_select"
	return a
}

type deepagentsResult struct {
	Status  string   `json:"status"`
	Answers []string `json:"answers"`
	Error   string   `json:"error,omitempty"`
}

// deepagentsReply returns {"status", "answers"}, with the answers in the order of the
// questions. The answer to a question of type multi_select is a JSON array in a string,
// because a choice may contain a comma. Without an answer, it returns the reason as "error".
func deepagentsReply(all []ClientAnswer, ask askback.Ask) (any, error) {
	out := deepagentsResult{Status: "answered", Answers: []string{}}
	if err := AnsweredOnly(ask); err != nil {
		out.Status, out.Error = "cancelled", err.Error()
		if ask.Outcome.Status == askback.Expired {
			out.Status = "error" // the ask was not cancelled by a person
		}
		return out, nil
	}
	for _, s := range all {
		text := s.Line()
		if s.MultiSelect {
			list, err := jcs.Marshal(s.AllValues())
			if err != nil {
				return nil, err
			}
			text = string(list)
		}
		out.Answers = append(out.Answers, text)
	}
	return out, nil
}
