package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
)

// A canary is a question or a permission that askback doctor asks through a client's entry, and
// answers itself.
type canary struct {
	text       string // the text, with the entry, and a token that no other ask has
	token      string
	answer     string // the answer to a question, or the reason of a denial; only an answer of a person contains it
	permission bool
}

// tokenSize is the length of a token in characters of 5 bits.
const tokenSize = 10

// newCanary returns the canary for an entry, which people see in the history.
func newCanary(entry string, permission bool) canary {
	c := canary{token: rand.Text()[:tokenSize], answer: "arrived-" + rand.Text()[:tokenSize], permission: permission}
	answers := "answers"
	if permission {
		answers = "denies"
	}
	c.text = fmt.Sprintf("This is a check of %s by askback doctor, which %s it itself (%s).", entry, answers, c.token)
	return c
}

// ask asks through a client's entry, and answers as the local user. It returns an error if the answer is not
// in the output. want is a text that each output with an answer contains. If the ask is then still open, it
// is declined.
func (c canary) ask(
	ctx context.Context, conn *connection.Connector, want string, through func(context.Context) (string, error),
) error {
	answered := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { answered <- c.settle(waiting, conn, true) }()
	out, err := through(ctx)
	stop()
	unanswered := <-answered
	if err == nil && strings.Contains(out, c.answer) && strings.Contains(out, want) {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pollTime)
	defer cancel()
	_ = c.settle(last, conn, false) // no ask was made, or the ask is answered
	switch {
	case err != nil:
		return err
	case unanswered != nil:
		return fmt.Errorf("%w, and the output is %q", unanswered, strings.TrimSpace(out))
	}
	return fmt.Errorf("the answer did not arrive: the output is %q", strings.TrimSpace(out))
}

// pollTime is the interval at which a check searches for its ask.
const pollTime = 100 * time.Millisecond

// settle answers the ask of the canary as soon as the ask exists, or declines the ask if answer is false. It
// returns an error if ctx ends before the ask exists.
func (c canary) settle(ctx context.Context, conn *connection.Connector, answer bool) error {
	for {
		page, err := conn.Person.List(ctx, askback.Query{Status: askback.Pending, Limit: askback.MaxLimit})
		if i := slices.IndexFunc(page.Items, c.is); i >= 0 {
			id := page.Items[i].ID
			switch {
			case !answer:
				_, err = conn.Person.Decline(ctx, id, "the check is over")
			case c.permission:
				_, err = conn.Person.Answer(ctx, id, askback.Decide(askback.Deny, c.answer))
			default:
				_, err = conn.Person.Answer(ctx, id, askback.Choose(c.answer))
			}
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(err, ctx.Err()) { // the end of ctx made the list fail
				err = nil
			}
			return errors.Join(err, errors.New("people were not asked"))
		case <-time.After(pollTime):
		}
	}
}

// is reports whether an ask is the ask of the canary.
func (c canary) is(ask askback.Ask) bool {
	if c.permission {
		return ask.Confirmation != nil && strings.Contains(string(ask.Confirmation.Input), c.token)
	}
	return len(ask.Questions) == 1 && strings.Contains(ask.Questions[0].Text, c.token)
}
