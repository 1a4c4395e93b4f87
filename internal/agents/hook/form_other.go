package hook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// otherSuffixes lists the ends of the names of properties for another answer. The rest of the name is the
// name of the choice. Claude Code's adapter for editors has question_0 and question_0_custom.
var otherSuffixes = []string{"custom", "other"}

// otherFields finds the properties of a schema that only hold another answer to a choice: an optional text of
// any content, whose name is the name of the choice with one of otherSuffixes. It returns the names of these
// properties, keyed by their choices, and as a set.
func otherFields(properties jcs.Value, required func(string) bool) (others map[string]string, set map[string]bool) {
	others, set = map[string]string{}, map[string]bool{}
	for _, m := range properties.Members() {
		choice, ok := choiceOf(m.Name)
		if !ok || required(m.Name) || !isFreeText(m.Value) || others[choice] != "" {
			continue
		}
		of, _ := properties.Get(choice)
		if items, isList := of.Get("items"); isList {
			of = items
		}
		if options, _, ok := choices(of); ok && len(options) > 0 {
			others[choice], set[m.Name] = m.Name, true
		}
	}
	return others, set
}

// choiceOf returns the name of the choice to which the property with the given name holds another answer. It
// returns false if the name has no such form.
func choiceOf(name string) (choice string, ok bool) {
	for _, suffix := range otherSuffixes {
		title := strings.ToUpper(suffix[:1]) + suffix[1:]
		for _, end := range []string{"_" + suffix, "-" + suffix, "." + suffix, title, "_" + title} {
			if choice, ok := strings.CutSuffix(name, end); ok && choice != "" {
				return choice, true
			}
		}
	}
	return "", false
}

// isFreeText reports whether a property is a text of any content and length, without a default.
func isFreeText(v jcs.Value) bool {
	q, f, ok := questionOf("", v)
	_, has := v.Get("default")
	return ok && f.kind == "string" && len(q.Options) == 0 && q.Format == "" && !has
}

// allowOther makes q, the question of a choice with a property for another answer, take own words. The title
// of the choice becomes the header, if it is short enough and v has a description, which is then the
// question. If the choice is required, own words need the option "Other" of the choice.
func (f field) allowOther(q *askback.Question, v jcs.Value) {
	q.NoOther = !q.Optional && f.otherValue() < 0
	if d := text(v, "description", ""); d != "" {
		*q = withHeader(*q, text(v, "title", ""), d)
	}
}

// withHeader returns a question with a text, and with a title as its header. A title that is too long for a
// header is part of the text.
func withHeader(q askback.Question, title, message string) askback.Question {
	q.Text = message
	switch {
	case utf8.RuneCountInString(title) <= limits.MaxHeader:
		q.Header = title
	default:
		q.Text = title + "\n\n" + message
	}
	return q
}

// otherValue returns the index of the option for another answer, or -1.
func (f field) otherValue() int {
	return slices.IndexFunc(f.options, func(o askback.Option) bool {
		return strings.EqualFold(strings.Trim(o.Label, " .…"), "other")
	})
}

// remarkField returns the index of the last field with a property for another answer, or -1. This property
// also holds the comment on the whole form.
func (f Form) remarkField() int {
	for i := len(f.fields) - 1; i >= 0; i-- {
		if f.fields[i].other != "" {
			return i
		}
	}
	return -1
}

// fillOther sets the property for another answer to the own words, the notes and the comment of a person. It
// returns the chosen values, with the value of the option for another answer if there are own words.
func (f field) fillOther(
	out map[string]any, chosen []string, a askback.QuestionAnswer, comment string,
) []string {
	words := []string{}
	if a.Other != "" {
		words = append(words, a.Other)
		if i := f.otherValue(); i >= 0 {
			chosen = append(chosen, f.values[i])
		}
	}
	switch {
	case a.Notes != "" && a.Other == "" && f.kind == "string":
		words = append(words, a.Notes) // a text beside a choice is a note
	case a.Notes != "":
		words = append(words, "Note: "+a.Notes)
	}
	if comment != "" {
		words = append(words, "Comment on all answers: "+comment)
	}
	if len(words) > 0 {
		out[f.other] = strings.Join(words, "\n")
	}
	return chosen
}
