package compat

import (
	"slices"
	"strings"

	"github.com/askback/askback"
)

// A ClientAnswer is the answer to one question, with the remarks for the client.
type ClientAnswer struct {
	ClientQuestion
	askback.QuestionAnswer
	Remarks []Remark
}

// A Remark is a note on an answer. For a client without a field for notes, it is part of the
// answer.
type Remark struct{ Kind, Text string }

// The remarks on an answer if a timer applied the defaults. With a remark, the default does not look like a
// choice.
const (
	defaulted   = "there was no answer in time; a timer applied the default, and no person chose it"
	undefaulted = "there was no answer in time, and there is no default"
)

// answers returns the answer to each question. The comment on the whole ask becomes a remark on the last
// answer.
func (c Call) answers(ask askback.Ask) []ClientAnswer {
	out := make([]ClientAnswer, len(c.questions))
	for i, a := range c.questions {
		a.Question = ask.Questions[i]
		out[i] = ClientAnswer{ClientQuestion: a, QuestionAnswer: askback.QuestionAnswer{ID: a.Question.ID}}
		for _, given := range ask.Outcome.Answers {
			if given.ID == a.Question.ID {
				out[i].QuestionAnswer = given
			}
		}
		out[i].AddRemark("notes", out[i].Notes)
		switch chosen := len(out[i].Values()) > 0; {
		case ask.Outcome.Defaulted && chosen:
			out[i].AddRemark("note", defaulted)
		case ask.Outcome.Defaulted:
			out[i].AddRemark("note", undefaulted)
		}
	}
	if len(out) > 0 {
		out[len(out)-1].AddRemark("comment", ask.Outcome.Comment)
	}
	return out
}

// AddRemark adds a remark, unless its text is blank.
func (s *ClientAnswer) AddRemark(kind, text string) {
	if strings.TrimSpace(text) != "" {
		s.Remarks = append(s.Remarks, Remark{kind, text})
	}
}

// AllNotes returns the remarks as one string. The notes of the person come first, unchanged.
func (s ClientAnswer) AllNotes() string {
	var out []string
	for _, r := range s.Remarks {
		if r.Kind == "notes" {
			out = append(out, r.Text)
			continue
		}
		out = append(out, r.Kind+": "+r.Text)
	}
	return strings.Join(out, "\n")
}

// Joined returns the values as one string, for clients whose answers are strings. The values are separated by
// commas or, if they are [ClientAnswer.Divided], by line ends.
func (s ClientAnswer) Joined() string { return joined(s.Options, s.Values()) }

// Divided reports whether the answer has several values, and a comma or a line end in a value or a label could be
// mistaken for a separator.
func (s ClientAnswer) Divided() bool { return divided(s.Options, s.Values()) }

func joined(options []askback.Option, values []string) string {
	if divided(options, values) {
		return strings.Join(values, "\n")
	}
	return strings.Join(values, separator)
}

func divided(options []askback.Option, values []string) bool {
	ambiguous := func(s string) bool { return strings.ContainsAny(s, ",\n") }
	return len(values) > 1 && (slices.ContainsFunc(values, ambiguous) ||
		slices.ContainsFunc(options, func(o askback.Option) bool { return ambiguous(o.Label) }))
}

// Line returns the whole answer as one string, for clients whose answers are strings.
func (s ClientAnswer) Line() string {
	out := s.Joined()
	for _, r := range s.Remarks {
		out = strings.TrimSpace(out + " [" + r.Kind + ": " + Quoted(r.Text) + "]")
	}
	return out
}

// AllValues returns the chosen labels, the text of the person, and each remark, as strings.
func (s ClientAnswer) AllValues() []string {
	out := s.Values()
	for _, r := range s.Remarks {
		out = append(out, r.Kind+": "+r.Text)
	}
	return append([]string{}, out...)
}

// AnsweredOnly returns an *[Unanswered] unless there is an answer or a default. It is for clients whose
// format can express only answers.
func AnsweredOnly(ask askback.Ask) error {
	if ask.Outcome.Status == askback.Answered || ask.Outcome.Defaulted {
		return nil
	}
	return unanswered(ask)
}

// Answered returns a [ReplyFunc] for a format that can express only answers. For other outcomes, the
// ReplyFunc returns an *[Unanswered].
func Answered(reply func([]ClientAnswer) any) ReplyFunc {
	return func(all []ClientAnswer, ask askback.Ask) (any, error) {
		if err := AnsweredOnly(ask); err != nil {
			return nil, err
		}
		return reply(all), nil
	}
}
