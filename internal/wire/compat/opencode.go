package compat

// opencodeQuestion reads a question of the tool "question" of OpenCode and its forks.
func opencodeQuestion(r *lenientReader, n node) clientQuestion {
	var a clientQuestion
	r.fields(n, map[string]func(node){
		"question": r.text(&a.Text), "header": r.text(&a.Header), "options": r.options(&a, "label", "description"),
		"multiple": r.flag(&a.MultiSelect), "custom": r.negatedFlag(&a.NoOther),
	})
	return a
}

// opencodeReply returns {"answers": [["…"]]} like OpenCode's server, with a list for each
// question.
func opencodeReply(all []clientAnswer) any {
	out := make([][]string, len(all))
	for i, s := range all {
		out[i] = s.values()
	}
	return map[string]any{"answers": out}
}
