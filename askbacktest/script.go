package askbacktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
)

// A Reply is one thing that a scripted person says. It is good for one ask,
// unless [Reply.Times] or [Reply.Always] says otherwise.
type Reply struct {
	said  string // as it stands in the test
	fits  func(askback.Ask) bool
	say   func(ctx context.Context, seat askback.Client, a askback.Ask) error
	times int // how many asks it is good for; 0 is all
	form  []field
}

// field is a question of a form and what is put there.
type field struct {
	question string
	values   []string
}

// Answer answers an ask with a question whose text contains question: labels,
// or text of the person's own. Other questions of the same ask are answered
// with [Reply.And], or left empty.
func Answer(question string, values ...string) Reply {
	l := Reply{said: call("Answer", append([]string{question}, values...)...), times: 1}
	return l.with(question, values)
}

// And answers a further question of the same ask. Only an ask that has all of
// them fits the line.
func (l Reply) And(question string, values ...string) Reply {
	if l.form == nil {
		panic("askbacktest: And goes on with an Answer; " + l.said + " is none")
	}
	l.said += "." + call("And", append([]string{question}, values...)...)
	return l.with(question, values)
}

func (l Reply) with(question string, values []string) Reply {
	l.form = append(slices.Clip(l.form), field{question, slices.Clone(values)})
	form := l.form
	l.fits = func(a askback.Ask) bool {
		return !slices.ContainsFunc(form, func(f field) bool { return f.find(a) == "" })
	}
	l.say = func(ctx context.Context, seat askback.Client, a askback.Ask) error {
		var answer askback.Answer
		for _, f := range form {
			answer.Answers = append(answer.Answers, askback.QuestionAnswer{ID: f.find(a), Selected: f.values})
		}
		_, err := seat.Answer(ctx, a.ID, answer)
		return err
	}
	return l
}

// find returns the id of the question a field is for, or nothing.
func (f field) find(a askback.Ask) string {
	for _, q := range a.Questions {
		if strings.Contains(q.Text, f.question) {
			return q.ID
		}
	}
	return ""
}

// Give answers an ask, found by a part of a question's text or of the tool's
// name, with everything that an answer can have: notes, comments, other text.
func Give(about string, answer askback.Answer) Reply {
	return Reply{
		said: call("Give", about), times: 1,
		fits: func(a askback.Ask) bool { return mentions(a, about) },
		say: func(ctx context.Context, seat askback.Client, a askback.Ask) error {
			_, err := seat.Answer(ctx, a.ID, answer)
			return err
		},
	}
}

// Approve approves a confirmation whose tool's name contains tool.
func Approve(tool string) Reply { return decide("Approve", askback.Approve, tool, "") }

// Deny denies a confirmation whose tool's name contains tool.
func Deny(tool, reason string) Reply { return decide("Deny", askback.Deny, tool, reason) }

func decide(word string, d askback.Decision, tool, reason string) Reply {
	l := Give(tool, askback.Decide(d, reason))
	l.fits = func(a askback.Ask) bool { return a.Kind == askback.Confirm && mentions(a, tool) }
	l.said = call(word, tool)
	if reason != "" {
		l.said = call(word, tool, reason)
	}
	return l
}

// Decline refuses to answer an ask, found by a part of a question's text or of
// the tool's name.
func Decline(about, reason string) Reply {
	l := Give(about, askback.Answer{})
	l.said = call("Decline", about, reason)
	l.say = func(ctx context.Context, seat askback.Client, a askback.Ask) error {
		_, err := seat.Decline(ctx, a.ID, reason)
		return err
	}
	return l
}

// Ignore sees an ask, found like those of [Decline], and does nothing, so that
// its deadline can pass.
func Ignore(about string) Reply {
	l := Give(about, askback.Answer{})
	l.said = call("Ignore", about)
	l.say = func(context.Context, askback.Client, askback.Ask) error { return nil }
	return l
}

// Times makes a line good for n asks, and says that as many will come.
func (l Reply) Times(n int) Reply {
	if n < 1 {
		panic(fmt.Sprintf("askbacktest: %s.Times(%d): a line is used at least once", l.said, n))
	}
	l.times = n
	l.said += fmt.Sprintf(".Times(%d)", n)
	return l
}

// Always makes a line good for every ask it fits. There must be one.
func (l Reply) Always() Reply {
	l.times = 0
	l.said += ".Always()"
	return l
}

// String returns the line as it stands in the test.
func (l Reply) String() string { return l.said }

func call(word string, args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return word + "(" + strings.Join(quoted, ", ") + ")"
}

// mentions says whether a question or the tool of an ask is called like this.
func mentions(a askback.Ask, about string) bool {
	if a.Kind == askback.Confirm {
		return strings.Contains(a.Confirmation.ToolName, about)
	}
	return slices.ContainsFunc(a.Questions, func(q askback.Question) bool { return strings.Contains(q.Text, about) })
}
