package slack

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A fixture is an engine that sends to a fake Slack.
type fixture struct {
	testing.TB
	slack  *slacktest.Server
	engine *engine.Engine
	agent  askback.AgentClient
	log    *lockedBuffer
	*Channel
}

// lockedBuffer is a buffer for the log.
type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.Lock()
	defer b.Unlock()
	return b.String()
}

// newFixture starts an engine that sends to a fake Slack and takes answers over HTTP.
func newFixture(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{TB: t, slack: slacktest.New(t), log: &lockedBuffer{}}
	o := options(f.slack)
	o.Log = slog.New(slog.NewTextHandler(f.log, nil))
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.Channel = c
	f.engine = engine.New(memstore.New(), &engine.Options{
		Channels: map[string]engine.Channel{"slack": c},
		Settings: engine.Settings{
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
			Receivers: []engine.Receiver{
				{Channel: "slack", Name: Room},
				{Channel: "slack", Name: slacktest.Ana.ID, Person: "ana", Addressed: true},
				{Channel: "slack", Name: slacktest.Ben.ID, Person: "ben", Addressed: true},
			},
		},
	})
	f.engine.Link("https://ask.example.com")
	f.agent = f.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = f.engine.Run(ctx) })
	f.serve(f.engine)
	t.Cleanup(func() {
		cancel()
		group.Wait()
		c.Close()
		for _, p := range f.slack.Problems() {
			t.Errorf("Slack rejected: %s", p)
		}
	})
	return f
}

// serve lets actions arrive over HTTP.
func (f *fixture) serve(e Engine) {
	app := httptest.NewServer(f.Handler(e))
	f.Cleanup(app.Close)
	f.slack.SendTo(app.URL + "/channels/slack")
}

func (f *fixture) ask(r askback.Request) askback.Ask {
	f.Helper()
	a, err := f.agent.Ask(f.Context(), r)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func choice(labels ...string) askback.Request {
	return askback.Request{
		Agent: "bot", Questions: []askback.Question{{Text: "Which database?", Options: askback.Options(labels...)}},
	}
}

// message waits until the channel has a message about an ask for which ready returns true. It returns this
// message.
func (f *fixture) message(a askback.Ask, channel string, ready func(slacktest.Message) bool) (found slacktest.Message) {
	f.Helper()
	f.slack.Wait("a message about "+a.ID, func() bool {
		for _, m := range f.slack.Messages() {
			if m.Channel == channel && strings.Contains(m.Links(), a.ID) && ready(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// live waits until people can answer in the message about an ask, and returns the message.
func (f *fixture) live(a askback.Ask) slacktest.Message {
	f.Helper()
	return f.message(a, slacktest.Room, slacktest.Message.HasElements)
}

// done waits until the message about an ask shows that the ask is settled, and returns the message.
func (f *fixture) done(a askback.Ask) slacktest.Message {
	f.Helper()
	return f.message(a, slacktest.Room,
		func(m slacktest.Message) bool { return strings.HasPrefix(m.Shown(), "Done: ") })
}

func (f *fixture) outcome(a askback.Ask) *askback.Outcome {
	f.Helper()
	a, err := f.agent.Wait(f.Context(), a.ID)
	if err != nil {
		f.Fatal(err)
	}
	return a.Outcome
}

// told waits until the channel has handled all actions. It returns the last private note to a member, or "".
func (f *fixture) told(u slacktest.User) string {
	f.Helper()
	f.working.Wait()
	text := ""
	for _, e := range f.slack.Ephemerals() {
		if e.User == u.ID {
			text = e.Text
		}
	}
	return text
}

// pending reports whether an ask is still open.
func (f *fixture) pending(a askback.Ask) bool {
	f.Helper()
	a, err := f.agent.(askback.Inbox).Get(f.Context(), a.ID)
	if err != nil {
		f.Fatal(err)
	}
	return !a.Settled()
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func timeAt(seconds int64) func() time.Time {
	return func() time.Time { return time.Unix(seconds, 0) }
}
