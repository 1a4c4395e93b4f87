package compat

import (
	"strconv"

	"github.com/askback/askback"
)

// geminiQuestion reads a question of Gemini CLI's tool ask_user: a choice, yes or no, or text.
func geminiQuestion(r *lenientReader, n node) clientQuestion {
	var a clientQuestion
	kind, hint := "choice", ""
	r.fields(n, map[string]func(node){
		"question": r.text(&a.Text), "header": r.text(&a.Header), "type": r.text(&kind), "placeholder": r.text(&hint),
		"options": r.options(&a, "label", "description"), "multiSelect": r.flag(&a.MultiSelect),
	})
	switch kind {
	case "choice":
		if len(a.Options) == 0 {
			r.problem(n.pointer+"/options", "this type needs 2 to 4 options", "")
		}
	case "yesno":
		a.Options, a.MultiSelect = askback.Options("Yes", "No"), false
	case "text":
		a.Options, a.MultiSelect = nil, false
	default:
		r.problem(n.pointer+"/type", "type must be choice, text or yesno", "")
	}
	if hint != "" {
		a.Text += "\n(" + hint + ")"
	}
	return a
}

// geminiReply returns {"answers": {"0": "…"}}. The keys are the indexes of the questions
// that have an answer or a remark.
func geminiReply(all []clientAnswer) any {
	out := map[string]string{}
	for i, s := range all {
		if line := s.line(); line != "" {
			out[strconv.Itoa(i)] = line
		}
	}
	return map[string]any{"answers": out}
}
