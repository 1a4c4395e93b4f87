package opencode

import "github.com/askback/askback/internal/wire/compat"

// Dialect is the format of OpenCode's tool question.
var Dialect = compat.Client{
	Name: Name, Example: compat.ExampleQuestions, FieldNames: "multiSelect multiple",
	ReadCall: compat.QuestionsBy(dialectQuestion, compat.Answered(dialectReply)),
}

// dialectQuestion reads a question of the tool "question" of OpenCode and its forks.
func dialectQuestion(r *compat.Reader, n compat.Node) compat.ClientQuestion {
	var a compat.ClientQuestion
	r.Fields(n, map[string]func(compat.Node){
		"question": r.Text(&a.Text), "header": r.Text(&a.Header), "options": r.Options(&a, "label", "description"),
		"multiple": r.Flag(&a.MultiSelect), "custom": r.NegatedFlag(&a.NoOther),
	})
	return a
}

// dialectReply returns {"answers": [["…"]]} like OpenCode's server, with a list for each
// question.
func dialectReply(all []compat.ClientAnswer) any {
	out := make([][]string, len(all))
	for i, s := range all {
		out[i] = s.AllValues()
	}
	return map[string]any{"answers": out}
}
