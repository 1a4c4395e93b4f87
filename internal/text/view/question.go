package view

import (
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Question is a question with its choices, for display.
type Question struct {
	ID          safetext.Text
	Text        Markdown
	Header      safetext.Text
	Multi       bool
	Optional    bool
	Choices     []Choice
	OtherKey    string        // key of "Other"; "" if the question has no choices or allows no other answer
	DefaultText safetext.Text // a suggested answer that is not a choice
	HasDefault  bool          // whether the agent suggests an answer

	raw  askback.Question
	keys alphabet
}

// A Choice is an option with its key.
type Choice struct {
	Key         string // text that a person types to pick the choice; see [Question.Match]
	Label       safetext.Text
	Description Markdown
	Preview     safetext.Text // shown exactly, unless PreviewMarkdown is set
	Default     bool

	PreviewMarkdown Markdown // the preview, if it is formatted; its blocks of code are shown exactly
}

// HasPreviews reports whether an option has a preview.
func (q Question) HasPreviews() bool {
	return slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Preview.String() != "" })
}

// Problem returns the reason why a text cannot answer the question, as a sentence, or "".
func (q Question) Problem(text string) string {
	if q.raw.Fits(text) {
		return ""
	}
	return "That is not " + q.raw.Expects() + "."
}

// AllowsOther reports whether a person may answer in their own words.
func (q Question) AllowsOther() bool { return !q.raw.NoOther }

func (c *cleaner) question(of askback.Question) Question {
	text := of.Text
	if expects := of.Expects(); expects != "" && !strings.Contains(text, expects) {
		text += "\n\n(" + expects + ")"
	}
	q := Question{
		ID: c.line(of.ID), Text: c.markdown(text), Header: c.line(of.Header),
		Multi: of.MultiSelect, Optional: of.Optional, HasDefault: len(of.Default) > 0, raw: of, keys: keysFor(of),
	}
	for i, o := range of.Options {
		q.Choices = append(q.Choices, Choice{
			Key: q.keys.key(i), Label: c.line(o.Label), Description: c.markdown(o.Description),
			Preview: c.block(unfenced(o.Preview)), Default: slices.Contains(of.Default, o.Label),
			PreviewMarkdown: formattedPreview(o.Preview),
		})
	}
	if len(of.Options) > 0 && !of.NoOther {
		q.OtherKey = q.keys.key(len(of.Options))
	}
	q.DefaultText = c.block(q.notLabels(of.Default))
	return q
}

// notLabels joins the values that are not labels of options.
func (q Question) notLabels(values []string) string {
	rest := slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		_, isLabel := q.raw.Option(v)
		return isLabel
	})
	return strings.Join(rest, ", ")
}

// DefaultAnswer returns the answer that the agent marked as default.
func (q Question) DefaultAnswer() askback.QuestionAnswer {
	var picks []int
	for i, c := range q.Choices {
		if c.Default {
			picks = append(picks, i)
		}
	}
	return q.Pick(picks, q.notLabels(q.raw.Default))
}

// Pick returns the answer with the given choices, by index, and the person's own words.
// It does not check whether the question accepts this answer.
func (q Question) Pick(choices []int, other string) askback.QuestionAnswer {
	a := askback.QuestionAnswer{ID: q.raw.ID, Question: q.raw.Text, Other: other}
	for _, i := range choices {
		if label := q.raw.Options[i].Label; !slices.Contains(a.Selected, label) {
			a.Selected = append(a.Selected, label)
		}
	}
	return a
}

// Match returns the indexes of the choices that typed can mean. The index len(q.Choices) means "Other". Match
// returns several indexes if labels look the same, or differ from typed only in case. An exact label takes
// precedence over a key, and a key over a label that differs in case.
func (q Question) Match(typed string) []int {
	typed = strings.TrimSpace(typed)
	for i, o := range q.raw.Options {
		if o.Label == typed {
			return []int{i}
		}
	}
	labels := func(same func(a, b string) bool) (found []int) {
		for i, o := range q.raw.Options {
			if same(strings.TrimSpace(o.Label), typed) || same(strings.TrimSpace(q.Choices[i].Label.String()), typed) {
				found = append(found, i)
			}
		}
		return found
	}
	if found := labels(func(a, b string) bool { return a == b }); len(found) > 0 {
		return found
	}
	if i := q.indexOfKey(bareKey(typed)); i >= 0 {
		return []int{i}
	}
	if found := labels(strings.EqualFold); len(found) > 0 {
		return found
	}
	switch strings.ToLower(typed) {
	case "other", "other…", "other...":
		if q.OtherKey != "" {
			return []int{len(q.Choices)}
		}
	}
	return nil
}

func (q Question) indexOfKey(typed string) int {
	if q.OtherKey != "" && strings.EqualFold(typed, q.OtherKey) {
		return len(q.Choices)
	}
	return slices.IndexFunc(q.Choices, func(c Choice) bool { return strings.EqualFold(typed, c.Key) })
}

// LooksLikeKey reports whether words that match no choice were probably meant as a key,
// so that a typing mistake is not recorded as an answer.
func (q Question) LooksLikeKey(typed string) bool {
	return len(q.Choices) > 0 && q.keys.has(bareKey(strings.TrimSpace(typed)))
}

// bareKey returns a key without the punctuation around it, as in "1.", "2)" and "(3)".
func bareKey(typed string) string {
	bare := strings.TrimRight(strings.TrimPrefix(typed, "("), ".):")
	if bare == "" {
		return typed
	}
	return bare
}

// Numbered reports whether the keys are plain numbers.
func (q Question) Numbered() bool { return q.keys == "" }

// Keys returns the range of keys, such as "1-3", or "" if there are no choices.
func (q Question) Keys() string {
	if len(q.Choices) == 0 {
		return ""
	}
	last := q.OtherKey
	if last == "" {
		last = q.Choices[len(q.Choices)-1].Key
	}
	return q.Choices[0].Key + "-" + last
}
