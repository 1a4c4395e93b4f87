package compat

import (
	"strconv"

	"github.com/askback/askback"
)

// geminiQuestion reads a question of ask_user: a choice, yes or no, or text.
func geminiQuestion(in *input, n node) asked {
	var a asked
	kind, hint := "choice", ""
	in.fields(n, map[string]func(node){
		"question": in.text(&a.Text), "header": in.text(&a.Header), "type": in.text(&kind), "placeholder": in.text(&hint),
		"options": in.options(&a, "label", "description"), "multiSelect": in.flag(&a.MultiSelect),
	})
	switch kind {
	case "choice":
		if len(a.Options) == 0 {
			in.wrong(n.at+"/options", "a choice has 2 to 4 options", "")
		}
	case "yesno":
		a.Options, a.MultiSelect = askback.Options("Yes", "No"), false
	case "text":
		a.Options, a.MultiSelect = nil, false
	default:
		in.wrong(n.at+"/type", "a type is choice, text or yesno", "")
	}
	if hint != "" {
		a.Text += "\n(" + hint + ")"
	}
	return a
}

// geminiReply is {"answers": {"0": "…"}}, by position.
func geminiReply(all []said, ask askback.Ask) (any, error) {
	if err := answeredOnly(ask); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, s := range all {
		if line := s.line(); line != "" {
			out[strconv.Itoa(i)] = line
		}
	}
	return map[string]any{"answers": out}, nil
}
