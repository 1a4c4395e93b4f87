package gemini

import (
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
)

// Dialect is the format of Gemini CLI's tool ask_user.
var Dialect = compat.Client{
	Name: Name, Example: compat.ExampleQuestions,
	ReadCall: compat.QuestionsBy(dialectQuestion, compat.Answered(dialectReply)),
}

// dialectQuestion reads a question of Gemini CLI's tool ask_user: a choice, yes or no, or text.
func dialectQuestion(r *compat.Reader, n compat.Node) compat.ClientQuestion {
	var a compat.ClientQuestion
	kind, hint := "choice", ""
	r.Fields(n, map[string]func(compat.Node){
		"question": r.Text(&a.Text), "header": r.Text(&a.Header), "type": r.Text(&kind), "placeholder": r.Text(&hint),
		"options": r.Options(&a, "label", "description"), "multiSelect": r.Flag(&a.MultiSelect),
	})
	switch kind {
	case "choice":
		if len(a.Options) == 0 {
			r.Problem(n.Pointer+"/options", "this type needs 2 to 4 options", "")
		}
	case "yesno":
		a.Options, a.MultiSelect = askback.Options("Yes", "No"), false
	case "text":
		a.Options, a.MultiSelect = nil, false
	default:
		r.Problem(n.Pointer+"/type", "type must be choice, text or yesno", "")
	}
	if hint != "" {
		a.Text += "\n(" + hint + ")"
	}
	return a
}

// dialectReply returns {"answers": {"0": "…"}}. The keys are the indexes of the questions
// that have an answer or a remark.
func dialectReply(all []compat.ClientAnswer) any {
	out := map[string]string{}
	for i, s := range all {
		if line := s.Line(); line != "" {
			out[strconv.Itoa(i)] = line
		}
	}
	return map[string]any{"answers": out}
}
