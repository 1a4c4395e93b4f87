package compat

import (
	"strings"

	"github.com/askback/askback"
)

// clientAnswer is the answer to one question, with the remarks for the client.
type clientAnswer struct {
	clientQuestion
	askback.QuestionAnswer
	remarks []remark
}

// remark is a note on an answer. For a client without a field for notes, it is part of the
// answer.
type remark struct{ kind, text string }

// The remarks on an answer if a timer applied the defaults: it must not look like a choice.
const (
	defaulted   = "there was no answer in time; a timer applied the default, and no person chose it"
	undefaulted = "there was no answer in time, and there is no default"
)

// answers returns the answer to each question. The comment on the whole ask becomes a remark
// on the last one.
func (c Call) answers(ask askback.Ask) []clientAnswer {
	out := make([]clientAnswer, len(c.questions))
	for i, a := range c.questions {
		a.Question = ask.Questions[i]
		out[i] = clientAnswer{clientQuestion: a, QuestionAnswer: askback.QuestionAnswer{ID: a.Question.ID}}
		for _, given := range ask.Outcome.Answers {
			if given.ID == a.Question.ID {
				out[i].QuestionAnswer = given
			}
		}
		out[i].addRemark("notes", out[i].Notes)
		switch chosen := len(out[i].Values()) > 0; {
		case ask.Outcome.Defaulted && chosen:
			out[i].addRemark("note", defaulted)
		case ask.Outcome.Defaulted:
			out[i].addRemark("note", undefaulted)
		}
	}
	if len(out) > 0 {
		out[len(out)-1].addRemark("comment", ask.Outcome.Comment)
	}
	return out
}

func (s *clientAnswer) addRemark(kind, text string) {
	if strings.TrimSpace(text) != "" {
		s.remarks = append(s.remarks, remark{kind, text})
	}
}

// notes returns the remarks as one string. The notes of the person come first, unchanged.
func (s clientAnswer) notes() string {
	var out []string
	for _, r := range s.remarks {
		if r.kind == "notes" {
			out = append(out, r.text)
			continue
		}
		out = append(out, r.kind+": "+r.text)
	}
	return strings.Join(out, "\n")
}

// line returns the whole answer as one string, for clients whose answers are strings.
func (s clientAnswer) line() string {
	out := s.String()
	for _, r := range s.remarks {
		out = strings.TrimSpace(out + " [" + r.kind + ": " + quoted(r.text) + "]")
	}
	return out
}

// values returns the chosen labels, the text of the person, and each remark, as strings.
func (s clientAnswer) values() []string {
	out := s.Values()
	for _, r := range s.remarks {
		out = append(out, r.kind+": "+r.text)
	}
	return append([]string{}, out...)
}

// answeredOnly returns an *[Unanswered] unless there is an answer or a default. It is for
// clients whose format can express nothing else.
func answeredOnly(ask askback.Ask) error {
	if ask.Outcome.Status == askback.Answered || ask.Outcome.Defaulted {
		return nil
	}
	return unanswered(ask)
}

// answered returns a replyFunc for a format that can express nothing but answers.
func answered(reply func([]clientAnswer) any) replyFunc {
	return func(all []clientAnswer, ask askback.Ask) (any, error) {
		if err := answeredOnly(ask); err != nil {
			return nil, err
		}
		return reply(all), nil
	}
}
