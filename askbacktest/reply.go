package askbacktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
)

// A Reply is a reply of a scripted person. It answers one ask, unless [Reply.Times] or [Reply.Always] changes
// that.
type Reply struct {
	source  string // the Go expression that made the reply
	matches func(askback.Ask) bool
	send    func(ctx context.Context, c askback.PersonClient, a askback.Ask) error
	times   int // the number of asks to answer, or 0 for all
	fields  []field
}

// A field has the values for the first question whose text contains the string question.
type field struct {
	question string
	values   []string
}

// Answer returns a reply that answers an ask. The text of a question of the ask must contain question. The
// values are labels of options, or other text. Other questions of the same ask are answered with [Reply.And]
// or left empty.
func Answer(question string, values ...string) Reply {
	r := Reply{source: call("Answer", append([]string{question}, values...)...), times: 1}
	return r.with(question, values)
}

// And returns a reply that also answers another question of the same ask. The reply matches only an ask that
// has all questions of the reply. And panics if r was not made with [Answer].
func (r Reply) And(question string, values ...string) Reply {
	if r.fields == nil {
		panic("askbacktest: And follows Answer, not " + r.source)
	}
	r.source += "." + call("And", append([]string{question}, values...)...)
	return r.with(question, values)
}

func (r Reply) with(question string, values []string) Reply {
	r.fields = append(slices.Clip(r.fields), field{question, slices.Clone(values)})
	fields := r.fields
	r.matches = func(a askback.Ask) bool {
		return !slices.ContainsFunc(fields, func(f field) bool { return f.questionID(a) == "" })
	}
	r.send = func(ctx context.Context, c askback.PersonClient, a askback.Ask) error {
		var answer askback.Answer
		for _, f := range fields {
			answer.Answers = append(answer.Answers, askback.QuestionAnswer{ID: f.questionID(a), Selected: f.values})
		}
		_, err := c.Answer(ctx, a.ID, answer)
		return err
	}
	return r
}

// questionID returns the id of the question in an ask for which the field has values, or "" if there is no
// such question.
func (f field) questionID(a askback.Ask) string {
	for _, q := range a.Questions {
		if strings.Contains(q.Text, f.question) {
			return q.ID
		}
	}
	return ""
}

// Give returns a reply with a complete [askback.Answer], such as an answer with notes and a comment. It
// matches an ask if the text of a question or the name of the tool contains about.
func Give(about string, answer askback.Answer) Reply {
	return Reply{
		source: call("Give", about), times: 1,
		matches: func(a askback.Ask) bool { return mentions(a, about) },
		send: func(ctx context.Context, c askback.PersonClient, a askback.Ask) error {
			_, err := c.Answer(ctx, a.ID, answer)
			return err
		},
	}
}

// Approve returns a reply that approves a confirmation. The name of its tool must contain tool.
func Approve(tool string) Reply { return decide("Approve", askback.Approve, tool, "") }

// Deny returns a reply that denies a confirmation. The name of its tool must contain tool.
func Deny(tool, reason string) Reply { return decide("Deny", askback.Deny, tool, reason) }

func decide(function string, d askback.Decision, tool, reason string) Reply {
	r := Give(tool, askback.Decide(d, reason))
	r.matches = func(a askback.Ask) bool { return a.Kind == askback.Confirm && mentions(a, tool) }
	r.source = call(function, tool)
	if reason != "" {
		r.source = call(function, tool, reason)
	}
	return r
}

// Decline returns a reply that declines an ask. It matches like [Give].
func Decline(about, reason string) Reply {
	r := Give(about, askback.Answer{})
	r.source = call("Decline", about, reason)
	r.send = func(ctx context.Context, c askback.PersonClient, a askback.Ask) error {
		_, err := c.Decline(ctx, a.ID, reason)
		return err
	}
	return r
}

// Ignore returns a reply that leaves an ask pending, so that its deadline can pass. It matches like [Give].
func Ignore(about string) Reply {
	r := Give(about, askback.Answer{})
	r.source = call("Ignore", about)
	r.send = func(context.Context, askback.PersonClient, askback.Ask) error { return nil }
	return r
}

// Times returns a reply that answers n asks. The test fails if the reply answers fewer asks. Times panics if
// n is less than 1.
func (r Reply) Times(n int) Reply {
	if n < 1 {
		panic(fmt.Sprintf("askbacktest: %s.Times(%d): the number must be at least 1", r.source, n))
	}
	r.times = n
	r.source += fmt.Sprintf(".Times(%d)", n)
	return r
}

// Always returns a reply that answers every ask that it matches. The test fails if the reply matches no ask.
func (r Reply) Always() Reply {
	r.times = 0
	r.source += ".Always()"
	return r
}

// String returns the Go expression that made the reply.
func (r Reply) String() string { return r.source }

// call returns the source of a call with string arguments.
func call(function string, args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return function + "(" + strings.Join(quoted, ", ") + ")"
}

// mentions reports whether the text of a question or the name of the tool of an
// ask contains about.
func mentions(a askback.Ask, about string) bool {
	if a.Kind == askback.Confirm {
		return strings.Contains(a.Confirmation.ToolName, about)
	}
	return slices.ContainsFunc(a.Questions, func(q askback.Question) bool { return strings.Contains(q.Text, about) })
}
