package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/engine"
)

var members = map[string]slacktest.User{"ana": slacktest.Ana, "ben": slacktest.Ben}

func personOf(member string) (string, bool) {
	for name, u := range members {
		if u.ID == member {
			return name, true
		}
	}
	return "", false
}

// options returns the options of a channel to a fake Slack.
func options(s *slacktest.Server) Options {
	return Options{
		BotToken: slacktest.BotToken, SigningSecret: slacktest.SigningSecret, Channel: slacktest.Room,
		Team: slacktest.Team, Person: personOf, APIURL: s.URL, Pace: time.Nanosecond,
	}
}

// A service is a fake Slack for the suite, over Socket Mode or over HTTP.
type service struct {
	*slacktest.Server
	settings channeltest.Settings
	overHTTP bool
	channel  *Channel

	mu     sync.Mutex
	handle http.Handler
	taken  *sync.Cond // signals that handle is set
	last   func()     // repeats the last action
	fault  slacktest.Fault
	skip   int
	count  int
	failed *int
}

func start(overHTTP bool) func(testing.TB, channeltest.Settings) channeltest.Service {
	return func(t testing.TB, settings channeltest.Settings) channeltest.Service {
		s := &service{Server: slacktest.New(t), settings: settings, overHTTP: overHTTP, failed: new(int)}
		s.Server.Fault, s.Server.Now, s.taken = s.next, settings.Now, sync.NewCond(&s.mu)
		t.Cleanup(func() {
			for _, p := range s.Problems() {
				t.Errorf("Slack rejected: %s", p)
			}
		})
		if overHTTP {
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.mu.Lock()
				for s.handle == nil {
					s.taken.Wait()
				}
				handle := s.handle
				s.mu.Unlock()
				handle.ServeHTTP(w, r)
			}))
			t.Cleanup(app.Close)
			s.SendTo(app.URL + "/channels/slack")
		}
		return s
	}
}

func (s *service) Open(t testing.TB) channeltest.Channel {
	o := options(s.Server)
	o.Log, o.Link, o.Now = s.settings.Log, s.settings.Link, s.settings.Now
	o.Zone = s.settings.Zone
	if !s.overHTTP {
		o.AppToken, o.SigningSecret = slacktest.AppToken, ""
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.channel = c
	s.Cut() // closes the connections of the earlier process
	return channeltest.Channel{Send: c, Run: func(ctx context.Context, e *engine.Engine) {
		s.mu.Lock()
		s.handle = c.Handler(e)
		s.mu.Unlock()
		s.taken.Broadcast()
		c.Run(ctx, e)
	}}
}

func (s *service) Join(context.Context, *engine.Engine, string) error { return nil }

func (s *service) Receivers() (all []engine.Receiver) {
	for name, u := range members {
		all = append(all, engine.Receiver{Channel: "slack", Name: u.ID, Person: name})
	}
	return all
}

func (s *service) Address(person string) string { return members[person].ID }

func (s *service) Secrets() []string {
	return []string{slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret}
}

var (
	askID = regexp.MustCompile(`ask_[0-9a-z]+`)
	links = regexp.MustCompile(`https://ask\.example\.com/\S+`)
)

func (s *service) Messages(person string) (all []channeltest.Message) {
	for _, m := range s.Server.Messages() {
		if m.Channel != "D"+members[person].ID[1:] {
			continue
		}
		link := links.FindString(m.Links())
		one := channeltest.Message{
			ID: m.TS, AskID: askID.FindString(link), Text: m.Shown(), Link: link, Live: m.HasElements(), Damage: m.Live,
			Settled: strings.HasPrefix(m.Shown(), "Done: ") || strings.HasPrefix(m.Shown(), "No answer needed"),
		}
		if m.Unfurl {
			one.Damage = append(one.Damage, "links are fetched")
		}
		all = append(all, one)
	}
	return all
}

// posted returns the message on the fake Slack that has the id of m.
func (s *service) posted(m channeltest.Message) slacktest.Message {
	for _, p := range s.Server.Messages() {
		if p.TS == m.ID {
			return p
		}
	}
	return slacktest.Message{}
}

func (s *service) Answer(_ context.Context, person string, m channeltest.Message, a askback.Answer) (string, error) {
	if !s.overHTTP {
		s.Wait("a connection", func() bool { return s.Sockets() > 0 })
	}
	before := len(s.Ephemerals())
	err := s.give(members[person], s.posted(m), a)
	s.channel.working.Wait()
	var reply []string
	for _, e := range s.Ephemerals()[before:] {
		if e.User == members[person].ID {
			reply = append(reply, e.Text)
		}
	}
	if v, ok := s.View(members[person]); ok {
		reply = append(reply, v.Shown())
	}
	return strings.Join(reply, "\n"), err
}

// Handle opens the form of an ask.
func (s *service) Handle(_ context.Context, person string, m channeltest.Message) error {
	if !s.overHTTP {
		s.Wait("a connection", func() bool { return s.Sockets() > 0 })
	}
	posted := s.posted(m)
	e, block, ok := posted.Button("Other")
	if !ok {
		return errors.New("no button in " + posted.Shown())
	}
	err := acked(s.Act(members[person], posted, block, e, nil))
	s.channel.working.Wait()
	return err
}

// give answers in a message as a person does, with a button or the form.
func (s *service) give(u slacktest.User, m slacktest.Message, a askback.Answer) error {
	press := func(text string, state slacktest.State) error {
		e, block, ok := m.Button(text)
		if !ok {
			return fmt.Errorf("no button %q in %s", text, m.Shown())
		}
		s.keep(func() { s.Act(u, m, block, e, state) })
		return acked(s.Act(u, m, block, e, state))
	}
	switch {
	case a.Decision == askback.Approve:
		return press("Approve", nil)
	case a.Decision == askback.Deny && a.Reason == "":
		return press("Deny", nil)
	case a.Decision == askback.Deny:
		return cmp.Or(press("Deny with a reason", nil), s.fill(u, func(v slacktest.View, state slacktest.State) error {
			return state.Type(v.Blocks, partReason, a.Reason)
		}))
	}
	if len(a.Answers) == 1 && a.Answers[0].Other == "" && a.Answers[0].Notes == "" {
		labels, state := a.Answers[0].Selected, slacktest.State{}
		pick := blockOf(m, actPick)
		switch _, _, ok := m.Button("Send"); {
		case !ok && len(labels) == 1:
			return press(labels[0], nil)
		case ok && len(labels) > 0:
			return cmp.Or(state.Choose(m.Blocks, pick, labels...), press("Send", state))
		case ok:
			return press("Send", nil)
		}
	}
	for _, text := range []string{"Other", "Add a note", "Write", "Answer"} {
		if _, _, ok := m.Button(text); ok {
			return cmp.Or(press(text, nil),
				s.fill(u, func(v slacktest.View, state slacktest.State) error { return write(v, state, a) }))
		}
	}
	return errors.New("no way to answer in " + m.Shown())
}

// keep stores the last action for a replay.
func (s *service) keep(action func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = action
}

func blockOf(m slacktest.Message, use string) string {
	for _, b := range m.Blocks {
		if strings.HasSuffix(b.BlockID, "."+use) {
			return b.BlockID
		}
	}
	return ""
}

// fill calls write to fill in the form that a person has open, and submits the form.
func (s *service) fill(u slacktest.User, write func(slacktest.View, slacktest.State) error) error {
	v, ok := s.View(u)
	if !ok {
		return errors.New("no form is open")
	}
	state := slacktest.State{}
	if err := write(v, state); err != nil {
		return err
	}
	ack := s.Submit(u, v, state)
	s.keep(func() { s.Submit(u, v, state) })
	if len(ack.Errors) > 0 {
		return fmt.Errorf("the form has errors: %v", ack.Errors)
	}
	return acked(ack)
}

// write adds the answers to the state of a form.
func write(v slacktest.View, state slacktest.State, a askback.Answer) error {
	for i, q := range a.Answers {
		var errs []error
		if len(q.Selected) > 0 {
			errs = append(errs, state.Choose(v.Blocks, part(i, partOptions), q.Selected...))
		}
		if q.Other != "" {
			errs = append(errs, state.Type(v.Blocks, part(i, partOther), q.Other))
		}
		if q.Notes != "" {
			errs = append(errs, state.Type(v.Blocks, part(i, partNotes), q.Notes))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

func acked(a slacktest.Ack) error {
	if !a.OK {
		return fmt.Errorf("the app did not acknowledge it in time (status %d)", a.Status)
	}
	return a.Bad
}

func (s *service) Attack(_ context.Context, how channeltest.Attack, m channeltest.Message, a askback.Answer) error {
	posted := s.posted(m)
	e, block, _ := posted.Button("Yes")
	switch how {
	case channeltest.Stranger:
		s.Act(slacktest.Stranger, posted, block, e, nil)
	case channeltest.Other:
		s.Act(slacktest.Ben, posted, block, e, nil)
	case channeltest.Tampered:
		no, _, _ := posted.Button("No")
		e.Value = no.Value
		s.Act(slacktest.Ana, posted, block, e, nil)
	case channeltest.Replayed:
		s.mu.Lock()
		last := s.last
		s.mu.Unlock()
		last()
	case channeltest.Forged:
		if s.overHTTP {
			body := slacktest.Form(s.Action(slacktest.Ana, posted, block, e, nil))
			if ack, _ := s.Send(body, "application/x-www-form-urlencoded",
				slacktest.Sign("another secret", time.Now(), body)); ack.Status != http.StatusUnauthorized {
				return fmt.Errorf("got %+v, want the status 401", ack)
			}
			return nil
		}
		e.Value = "ZZZZZZZZZZZZZZZZZZZZZZ"
		s.Act(slacktest.Ana, posted, block, e, nil)
	}
	return nil
}

// next returns the fault of the next call of a method. It reports false if the call must not fail.
func (s *service) next(method string) (slacktest.Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if method != "chat.postMessage" && method != "chat.update" || s.count == 0 {
		return slacktest.Fault{}, false
	}
	if s.skip > 0 {
		s.skip--
		return slacktest.Fault{}, false
	}
	s.count--
	*s.failed++
	return s.fault, true
}

func (s *service) Fail(how channeltest.Failure, skip, count int) func() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skip, s.count, s.failed = skip, count, new(int)
	s.fault = map[channeltest.Failure]slacktest.Fault{
		channeltest.TooMany: {RetryAfter: 40}, channeltest.Broken: {Status: 500}, channeltest.LostReply: {Lost: true},
		channeltest.Slow: {Hold: make(chan struct{})},
	}[how]
	failed := s.failed
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return *failed
	}
}

func driver(overHTTP bool) channeltest.Driver {
	return channeltest.Driver{
		Channel: "slack", Via: askback.ChannelSlack, Handled: "other", Start: start(overHTTP),
		RetryAfter: 40 * time.Second,
		Short: []string{
			"10 000 characters", "1 MB", "call of 20 kB", "call of 1 MB", "3 800 characters", "quotes and newlines",
		},
		InPlace: []string{
			"single/choice", "other/choice", "other/own words", "other/note", "multi/two", "multi/none",
			"multi/two and own words", "free text/text", "previews/choice", "four questions/all", "context/choice",
			"context object/choice", "right to left/choice", "long label/choice", "50 options/choice", "call/approve",
			"call/deny", "call/deny with a reason", "call with lines/approve", "call with lines/deny",
			"hostile call/approve", "action/approve", "action/deny",
		},
	}
}

func TestSocketModePassesTheSuite(t *testing.T) { channeltest.Test(t, driver(false)) }

func TestHTTPPassesTheSuite(t *testing.T) { channeltest.Test(t, driver(true)) }
