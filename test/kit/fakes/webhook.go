package fakes

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/channeltest"
)

// webhook is a program that receives webhooks. Each attempt is one of its messages.
type webhook struct {
	*askbacktest.Receiver
	failures
}

func newWebhook(t testing.TB, _ Options) Service {
	return &webhook{Receiver: askbacktest.NewReceiver(t, nil)}
}

// Describe implements [Service].
func (s *webhook) Describe() Description {
	return Description{
		Name: "webhook", Channel: "webhook", Addresses: map[string]string{"url": s.URL()},
		Secrets: []string{askbacktest.ReceiverSecret},
		Settings: fmt.Sprintf("  webhook: {url: %q, secret: %q, allow: [%q]}\n", s.URL(), askbacktest.ReceiverSecret,
			s.Address()),
	}
}

// Messages implements [Service].
func (s *webhook) Messages(person string, texts ...string) (all []Message, err error) {
	if person != Receiver {
		return nil, fmt.Errorf("webhooks go to %s", Receiver)
	}
	for _, a := range s.Attempts() {
		m := Message{
			ID: a.ID, Ask: a.Question.ID, Text: string(a.Body), Event: string(a.Event), Settled: a.Outcome != nil,
		}
		if a.PageURL != "" {
			m.Links = []string{a.PageURL}
		}
		if a.Err != nil {
			m.Problem = a.Err.Error()
		}
		all = append(all, m)
	}
	return only(all, texts), nil
}

// Press implements [Service].
func (s *webhook) Press(context.Context, string, string, Button) (string, error) {
	return "", errUnsupported
}

// Write implements [Service].
func (s *webhook) Write(context.Context, string, string, string) (string, error) {
	return "", errUnsupported
}

// Fail implements [Service].
func (s *webhook) Fail(how channeltest.Failure, skip, count int) error {
	before := len(s.Attempts())
	s.Next(slices.Concat(slices.Repeat([]askbacktest.Fault{askbacktest.Accept}, skip),
		slices.Repeat([]askbacktest.Fault{map[channeltest.Failure]askbacktest.Fault{
			channeltest.TooMany: askbacktest.StatusRetryAfter(429, 2*time.Second),
			channeltest.Broken:  askbacktest.Status(503), channeltest.LostReply: askbacktest.LoseReply(),
			channeltest.Slow: askbacktest.Hang(),
		}[how]}, count))...)
	s.since(func() (failed int) {
		for _, a := range s.Attempts()[before:] {
			if a.Result != "accepted" && a.Result != "repeated" {
				failed++
			}
		}
		return failed
	})
	return nil
}

// State implements [Service].
func (s *webhook) State() (State, error) { return State{Failed: s.failed()}, nil }
