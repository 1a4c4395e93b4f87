package compat

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/askback/askback"
)

const exampleCrush = `{"questions": [{"label": "Database", "type": "single_choice", "question": "Which database?", "description": "for the app", "choices": [{"id": "pg", "label": "PostgreSQL"}, {"id": "lite", "label": "SQLite"}]}]}`

// crushQuestion reads a question of the tool "question" of Crush. The result refers to
// options by their ids.
func crushQuestion(r *Reader, n Node) ClientQuestion {
	a := ClientQuestion{KeyField: "id"}
	kind, more := "", ""
	choices := r.Options(&a, "id", "label", "description")
	r.Fields(n, map[string]func(Node){
		"id": r.Text(&a.Key), "label": r.Text(&a.Header), "type": r.Text(&kind), "question": r.Text(&a.Text),
		"description": r.Text(&more), "choices": choices, "options": choices,
	})
	switch kind {
	case "yes_no":
		a.Options, a.ids, a.yesNo, a.NoOther = askback.Options("Yes", "No"), nil, true, true
	case "single_choice", "multi_choice":
		a.MultiSelect = kind == "multi_choice"
		if len(a.Options) == 0 {
			r.Problem(n.Pointer+"/options", "this type needs 2 to 4 choices", "")
		}
	case "free_text":
		a.Options, a.ids = nil, nil
	default:
		r.Problem(n.Pointer+"/type", "type must be yes_no, single_choice, multi_choice or free_text", "")
	}
	for i, id := range a.ids {
		if id == "" || slices.Contains(a.ids[:i], id) {
			r.Problem(n.Pointer+"/options/"+strconv.Itoa(i)+"/id", "each choice needs an id of its own", "")
		}
	}
	if more != "" {
		a.Text += "\n\n" + more
	}
	return a
}

type crushAnswer struct {
	QuestionID  string            `json:"question_id"`
	SelectedIDs []string          `json:"selected_ids,omitempty"`
	FillInText  string            `json:"fill_in_text,omitempty"`
	Yes         *bool             `json:"yes,omitempty"`
	Notes       map[string]string `json:"notes,omitempty"`
}

// crushReply returns a list of answers, in the order of the questions.
func crushReply(all []ClientAnswer) any {
	out := make([]crushAnswer, len(all))
	for i, s := range all {
		out[i] = s.crushAnswer()
	}
	return out
}

func (s ClientAnswer) crushAnswer() crushAnswer {
	out := crushAnswer{QuestionID: cmp.Or(s.Key, s.ClientQuestion.Question.ID), FillInText: s.Other}
	if s.yesNo && len(s.Selected) == 1 {
		out.Yes = new(s.Selected[0] == "Yes")
	}
	for _, label := range s.Selected {
		if i := slices.IndexFunc(s.given, func(o askback.Option) bool { return o.Label == label }); i >= 0 && !s.yesNo {
			out.SelectedIDs = append(out.SelectedIDs, s.ids[i])
		}
	}
	if notes := s.AllNotes(); notes != "" {
		about := out.QuestionID
		if len(out.SelectedIDs) == 1 {
			about = out.SelectedIDs[0]
		}
		out.Notes = map[string]string{about: notes}
	}
	return out
}
