package view

import (
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
)

// A Question is one question with what a person can do about it.
type Question struct {
	ID       safetext.Text
	Text     Markdown
	Header   safetext.Text
	Multi    bool
	Optional bool
	Choices  []Choice
	OtherKey string        // the key of "Other"; "" where only the choices count, or there are none
	DefaultText  safetext.Text // a default that is none of the choices
	HasDefault bool          // there is a default: choices marked so, or Default

	raw  askback.Question
	keys alphabet
}

// A Choice is an option with the key that picks it.
type Choice struct {
	Key         string // a number; see [Question.Match]
	Label       safetext.Text
	Description Markdown
	Preview     safetext.Text // exact
	Default     bool
}

// AllowsOther says whether a person may answer in words of their own.
func (q Question) AllowsOther() bool { return !q.raw.NoOther }

func (c *cleaner) question(of askback.Question) Question {
	q := Question{
		ID: c.line(of.ID), Text: c.prose(of.Text), Header: c.line(of.Header),
		Multi: of.MultiSelect, Optional: of.Optional, HasDefault: len(of.Default) > 0, raw: of, keys: keysFor(of),
	}
	for i, o := range of.Options {
		q.Choices = append(q.Choices, Choice{
			Key: q.keys.key(i), Label: c.line(o.Label), Description: c.prose(o.Description), Preview: c.block(unfenced(o.Preview)),
			Default: slices.Contains(of.Default, o.Label),
		})
	}
	if len(of.Options) > 0 && !of.NoOther {
		q.OtherKey = q.keys.key(len(of.Options))
	}
	q.DefaultText = c.block(q.own(of.Default))
	return q
}

// own joins the values that are no labels.
func (q Question) own(values []string) string {
	own := slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		_, isLabel := q.raw.Option(v)
		return isLabel
	})
	return strings.Join(own, ", ")
}

// DefaultAnswer returns the answer the asker marked as default.
func (q Question) DefaultAnswer() askback.QuestionAnswer {
	var picks []int
	for i, c := range q.Choices {
		if c.Default {
			picks = append(picks, i)
		}
	}
	return q.Pick(picks, q.own(q.raw.Default))
}

// Pick returns the answer that has these choices, by index, and these words of the
// person's own. Nothing picked and no words is an answer only where the question is
// optional; the root package checks that.
func (q Question) Pick(choices []int, other string) askback.QuestionAnswer {
	a := askback.QuestionAnswer{ID: q.raw.ID, Question: q.raw.Text, Other: other}
	for _, i := range choices {
		if label := q.raw.Options[i].Label; !slices.Contains(a.Selected, label) {
			a.Selected = append(a.Selected, label)
		}
	}
	return a
}

// Match returns the choices that the typed words can mean, by index; len(q.Choices)
// stands for "Other". More than one is a label that looks like another. A label wins
// over a key, a key over a label in other capitals.
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
	if i := q.keyed(bareKey(typed)); i >= 0 {
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

func (q Question) keyed(typed string) int {
	if q.OtherKey != "" && strings.EqualFold(typed, q.OtherKey) {
		return len(q.Choices)
	}
	return slices.IndexFunc(q.Choices, func(c Choice) bool { return strings.EqualFold(typed, c.Key) })
}

// LooksLikeKey says whether words that match nothing were probably meant as a key.
// Nobody should find a slip of the finger recorded as an answer.
func (q Question) LooksLikeKey(typed string) bool {
	return len(q.Choices) > 0 && q.keys.has(bareKey(strings.TrimSpace(typed)))
}

// bareKey returns a key without what people write around it: "1.", "2)" and "(3)".
func bareKey(typed string) string {
	bare := strings.TrimRight(strings.TrimPrefix(typed, "("), ".):")
	if bare == "" {
		return typed
	}
	return bare
}

// Numbered says whether the keys are plain numbers.
func (q Question) Numbered() bool { return q.keys == "" }

// Keys names the range of keys for a sentence: "1-3".
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
