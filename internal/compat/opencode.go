package compat

import "github.com/askback/askback"

// opencodeQuestion reads a question of the tool question, as OpenCode and its
// kin have it.
func opencodeQuestion(in *input, n node) asked {
	var a asked
	in.fields(n, map[string]func(node){
		"question": in.text(&a.Text), "header": in.text(&a.Header), "options": in.options(&a, "label", "description"),
		"multiple": in.flag(&a.MultiSelect), "custom": in.unless(&a.NoOther),
	})
	return a
}

// opencodeReply is a list of lists, by position; it stands under "answers", as
// the reply to a question of its server does.
func opencodeReply(all []said, ask askback.Ask) (any, error) {
	if err := answeredOnly(ask); err != nil {
		return nil, err
	}
	out := make([][]string, len(all))
	for i, s := range all {
		out[i] = s.values()
	}
	return map[string]any{"answers": out}, nil
}
