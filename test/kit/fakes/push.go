package fakes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/webpush/webpushtest"
)

// push is a push service with a browser for each person. Its messages are answered on the page that a click
// opens. That page is not part of the service.
type push struct {
	*webpushtest.Service
	failures

	mu       sync.Mutex
	browsers map[string]*webpushtest.Browser
}

func newPush(t testing.TB, _ Options) Service {
	return &push{Service: webpushtest.NewService(t), browsers: map[string]*webpushtest.Browser{}}
}

// Describe implements [Service].
func (s *push) Describe() Description {
	return Description{
		Name: "push", Channel: "webpush", Addresses: map[string]string{"service": s.URL}, Certificate: string(s.PEM),
		Settings: fmt.Sprintf("  webpush: {subject: \"mailto:ops@example.com\", allow: [%q]}\n",
			strings.TrimPrefix(s.URL, "https://")),
	}
}

// Subscribe implements [Subscriber].
func (s *push) Subscribe(person, key string) (string, error) {
	if err := isPerson(person); err != nil {
		return "", err
	}
	b, err := s.AddBrowser(key)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[person] = b
	return b.Subscription(), nil
}

// Messages implements [Service].
func (s *push) Messages(person string, texts ...string) (all []Message, err error) {
	if err := isPerson(person); err != nil {
		return nil, err
	}
	s.mu.Lock()
	b := s.browsers[person]
	s.mu.Unlock()
	if b == nil {
		return nil, nil
	}
	shown, err := b.Shown()
	for _, n := range shown {
		all = append(all, Message{
			ID: n.Tag, Ask: n.Tag, Text: n.Title + "\n" + n.Body, Links: []string{n.Path}, Live: !n.Settled,
			Settled: n.Settled,
		})
	}
	return only(all, texts), err
}

// Press implements [Service].
func (s *push) Press(context.Context, string, string, Button) (string, error) {
	return "", errors.New("the answer is given on the page of the link")
}

// Write implements [Service].
func (s *push) Write(context.Context, string, string, string) (string, error) {
	return "", errUnsupported
}

// Fail implements [Service].
func (s *push) Fail(how channeltest.Failure, skip, count int) error {
	s.since(s.FailAs(how, skip, count))
	return nil
}

// State implements [Service].
func (s *push) State() (State, error) {
	out := State{Failed: s.failed(), Rejected: s.Problems()}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.browsers {
		out.Secrets = append(out.Secrets, b.Secrets()...)
	}
	return out, nil
}
