package compat

import (
	"strings"

	"github.com/askback/askback"
)

// said is the answer to one question as a client is told it.
type said struct {
	asked
	askback.QuestionAnswer
	remarks []remarked
}

// remarked is what goes with an answer, and whose word it is: a client that
// has no place for it gets it beside the answer, not instead of it.
type remarked struct{ kind, text string }

// What is said wherever a timer ended the ask: nobody may take it for a person.
const (
	defaulted   = "nobody answered in time; a timer applied the default, no person chose it"
	undefaulted = "nobody answered in time, and there is no default"
)

// said puts each answer beside its question. A comment on the whole form goes
// with the last question, which every client has.
func (c Call) said(ask askback.Ask) []said {
	out := make([]said, len(c.asked))
	for i, a := range c.asked {
		a.Question = ask.Questions[i]
		out[i] = said{asked: a, QuestionAnswer: askback.QuestionAnswer{ID: a.Question.ID}}
		for _, given := range ask.Outcome.Answers {
			if given.ID == a.Question.ID {
				out[i].QuestionAnswer = given
			}
		}
		out[i].remark("notes", out[i].Notes)
		switch chosen := len(out[i].Values()) > 0; {
		case ask.Outcome.Defaulted && chosen:
			out[i].remark("note", defaulted)
		case ask.Outcome.Defaulted:
			out[i].remark("note", undefaulted)
		}
	}
	if len(out) > 0 {
		out[len(out)-1].remark("comment", ask.Outcome.Comment)
	}
	return out
}

func (s *said) remark(kind, text string) {
	if strings.TrimSpace(text) != "" {
		s.remarks = append(s.remarks, remarked{kind, text})
	}
}

// notes are the remarks as one text: what the person wrote beside the answer
// stands first and as it is.
func (s said) notes() string {
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

// line is the whole answer as one text, for clients with nothing but texts.
func (s said) line() string {
	out := s.String()
	for _, r := range s.remarks {
		out = strings.TrimSpace(out + " [" + r.kind + ": " + quoted(r.text) + "]")
	}
	return out
}

// values are the labels and the text, and each remark as a text of its own.
func (s said) values() []string {
	out := s.Values()
	for _, r := range s.remarks {
		out = append(out, r.kind+": "+r.text)
	}
	return append([]string{}, out...)
}

// answeredOnly is the error for clients that can say an answer and nothing else.
func answeredOnly(ask askback.Ask) error {
	if ask.Outcome.Status == askback.Answered || ask.Outcome.Defaulted {
		return nil
	}
	return unanswered(ask)
}
