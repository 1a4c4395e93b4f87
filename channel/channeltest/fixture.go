package channeltest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// The people of the suite. Both have the channel.
const (
	ana = "ana"
	ben = "ben"
)

// Pages is the address of the server, and linkSecret is in each link for a person.
const (
	Pages      = "https://ask.example.com"
	linkSecret = "lnk-4c1e9a"
)

// A fixture is an engine with a channel.
type fixture struct {
	testing.TB
	driver  Driver
	service Service
	channel Channel
	engine  *engine.Engine
	agent   askback.AgentClient
	log     *logBuffer
	offset  atomic.Int64 // added to the time of the real clock
	stop    func()       // ends the goroutine that takes answers
	sent    int

	mu       sync.Mutex
	errs     []error // errors of attempts
	texts    []string
	attempts []attempt
}

// newFixture starts a service, a channel and an engine. The suite sends the messages, unless run is called.
func newFixture(t testing.TB, d Driver) *fixture {
	t.Helper()
	f := &fixture{TB: t, driver: d, log: &logBuffer{}}
	f.service = d.Start(t, Settings{
		Now: f.now, Log: f.log.logger(),
		Link: func(a askback.Ask, person string) string {
			return Pages + "/a/" + a.ID + "/" + person + "/" + linkSecret
		},
		Zone: zoneOf,
	})
	f.channel = f.service.Open(t)
	f.engine = engine.New(memstore.New(), &engine.Options{
		Now: f.now, Log: f.log.logger(), Channels: map[string]engine.Channel{d.Channel: f.sender()},
		Settings: engine.Settings{People: people(), Receivers: f.service.Receivers()},
	})
	f.engine.Link(Pages)
	f.agent = f.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	t.Cleanup(func() { f.stop(); f.checkSecrets() })
	f.listen()
	for _, person := range []string{ana, ben} {
		if err := f.service.Join(t.Context(), f.engine, person); err != nil {
			t.Fatalf("%s cannot join: %v", person, err)
		}
	}
	return f
}

// zoneOf returns the time zone of a person. Ana and ben are on two sides of the earth.
func zoneOf(person string) *time.Location {
	if person == ana {
		return time.FixedZone("ANA", 5*60*60+30*60)
	}
	return time.FixedZone("BEN", -8*60*60)
}

func people() []askback.Person { return []askback.Person{{Name: ana}, {Name: ben}} }

// A sender is the channel of the engine. It records the messages that the engine sends.
type sender struct{ *fixture }

// An addressSender is a sender to contacts that are added by their address.
type addressSender struct {
	sender
	engine.AddressChannel
}

// A codeSender is a sender to contacts that are linked by a code.
type codeSender struct {
	sender
	engine.CodeChannel
}

// Send implements [engine.Channel].
func (s addressSender) Send(ctx context.Context, n askback.Notification) (string, error) {
	return s.sender.Send(ctx, n)
}

// Send implements [engine.Channel].
func (s codeSender) Send(ctx context.Context, n askback.Notification) (string, error) {
	return s.sender.Send(ctx, n)
}

// sender returns the channel of the engine.
func (f *fixture) sender() engine.Channel {
	switch c := f.channel.Send.(type) {
	case engine.AddressChannel:
		return addressSender{sender{f}, c}
	case engine.CodeChannel:
		return codeSender{sender{f}, c}
	}
	return sender{f}
}

// Send implements [engine.Channel].
func (s sender) Send(ctx context.Context, n askback.Notification) (string, error) {
	receipt, err := s.channel.Send.Send(ctx, n)
	s.keep(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, attempt{n.ID, n.AskID, n.Person, n.Event, err != nil})
	return receipt, err
}

// An attempt is an attempt of the engine to send a notification.
type attempt struct {
	id     string
	ask    string
	person string
	event  askback.EventType
	failed bool
}

func (f *fixture) keep(err error) {
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, err)
	}
}

// listen makes the channel take answers until f.stop is called.
func (f *fixture) listen() {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	if run := f.channel.Run; run != nil {
		group.Go(func() { run(ctx, f.engine) })
	}
	f.stop = func() { cancel(); group.Wait() }
}

// restart replaces the channel by a new channel, as a restart of the server does.
func (f *fixture) restart() {
	f.stop()
	f.channel = f.service.Open(f.TB)
	f.listen()
}

// run makes the engine send messages until stop is called.
func (f *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = f.engine.Run(ctx) })
	return func() { cancel(); group.Wait() }
}

func (f *fixture) now() time.Time { return time.Now().Add(time.Duration(f.offset.Load())) }

// pass moves the clock forward.
func (f *fixture) pass(d time.Duration) { f.offset.Add(int64(d)) }

// as returns a client with which a person answers on the web pages.
func (f *fixture) as(person string) askback.PersonClient {
	return f.engine.As(askback.Principal{Kind: askback.Responder, Name: person, Channel: askback.ChannelWeb})
}

func (f *fixture) ask(r askback.Request) askback.Ask {
	f.Helper()
	a, err := f.agent.Ask(f.Context(), r)
	if err != nil {
		f.Fatalf("ask: %v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range a.Questions {
		f.texts = append(f.texts, q.Text)
	}
	if a.Confirmation != nil {
		f.texts = append(f.texts, string(a.Confirmation.Input))
	}
	return a.WithPageURL(Pages)
}

func (f *fixture) get(id string) askback.Ask {
	f.Helper()
	a, err := f.agent.Get(f.Context(), id)
	if err != nil {
		f.Fatalf("get: %v", err)
	}
	return a.WithPageURL(Pages)
}

// settled waits until an ask is settled, and returns the ask.
func (f *fixture) settled(id string) askback.Ask {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), f.patience())
	defer cancel()
	a, err := f.agent.Wait(ctx, id)
	if err != nil {
		f.Fatalf("the ask is not settled: %v; the log:\n%s", err, f.log.text())
	}
	return a.WithPageURL(Pages)
}

// patience returns how long the suite waits for other goroutines.
func (f *fixture) patience() time.Duration { return cmp.Or(f.driver.Patience, time.Minute) }

// eventually waits until ok returns true. If this takes longer than patience, the test fails and eventually
// returns false.
func (f *fixture) eventually(what string, ok func() bool) bool {
	f.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(f.patience()); !ok(); <-tick.C {
		if time.Now().After(until) {
			f.Errorf("this did not happen in time: %s; the log:\n%s", what, f.log.text())
			return false
		}
	}
	return true
}

// messages returns the messages about an ask that the service shows a person.
func (f *fixture) messages(person, id string) (found []Message) {
	for _, m := range f.service.Messages(person) {
		if m.AskID == id {
			found = append(found, m)
		}
	}
	return found
}

// message returns the only message about an ask that the service shows a person. If there is not exactly one
// such message, the test fails.
func (f *fixture) message(person, id string) Message {
	f.Helper()
	found := f.messages(person, id)
	if len(found) != 1 {
		f.Fatalf("%s sees %d messages about the ask, want 1: %+v", person, len(found), found)
	}
	return found[0]
}

// live returns the messages about an ask in which a person can answer.
func (f *fixture) live(person, id string) (found []Message) {
	for _, m := range f.messages(person, id) {
		if m.Live {
			found = append(found, m)
		}
	}
	return found
}

// wantSettled requires that a person cannot answer in any message about an ask, and that each message is
// marked as settled. If the service cannot change messages, one marked message is enough.
func (f *fixture) wantSettled(when, person, id string) {
	f.Helper()
	all := f.messages(person, id)
	if n := len(f.live(person, id)); n > 0 {
		f.Errorf("%s: %d of %d messages to %s are live after the outcome: %+v", when, n, len(all), person, all)
	}
	open := func(m Message) bool { return !m.Settled }
	switch {
	case len(all) > 0 && slices.ContainsFunc(all, open) && !f.driver.Appends:
		f.Errorf("%s: %s sees a message that is not marked: %+v", when, person, all)
	case !slices.ContainsFunc(all, func(m Message) bool { return m.Settled }) && f.driver.Appends:
		f.Errorf("%s: %s does not see that the ask is settled: %+v", when, person, all)
	}
}

// A place is an ask and a person. It has the ids and the receipts of the deliveries of the ask to the person.
type place struct {
	*fixture
	ask      string
	person   string
	ids      map[askback.EventType]string // ids of deliveries
	receipts map[askback.EventType]string
	record   error // error that the next Record returns
}

// place returns a place without deliveries for an ask and a person.
func (f *fixture) place(a askback.Ask, person string) *place {
	return &place{
		fixture: f, ask: a.ID, person: person, ids: map[askback.EventType]string{},
		receipts: map[askback.EventType]string{},
	}
}

// notification returns the notification that the engine sends for an event. Further notifications for the
// event have the same id.
func (p *place) notification(event askback.EventType) askback.Notification {
	if p.ids[event] == "" {
		p.fixture.sent++
		p.ids[event] = fmt.Sprintf("dlv_01k6m3v7q8r9s0t1v2w3x%05d", p.fixture.sent)
	}
	a := p.get(p.ask)
	address := p.service.Address(p.person)
	n := askback.Notification{
		Delivery: askback.Delivery{
			ID: p.ids[event], AskID: a.ID, SessionID: a.SessionID, Channel: p.driver.Channel, Target: address,
			Event: event, Status: askback.DeliveryQueued, At: p.now(), Person: p.person, Receipt: p.receipts[event],
		},
		Ask: a, Address: address,
	}
	if event != askback.EventQuestionPending {
		n.Earlier = p.receipts[askback.EventQuestionPending]
	}
	n.Record = func(_ context.Context, receipt string) error {
		if err := p.record; err != nil {
			p.record = nil
			return err
		}
		p.receipts[event] = receipt
		return nil
	}
	return n
}

// trySend sends an event once.
func (p *place) trySend(ctx context.Context, event askback.EventType) error {
	receipt, err := p.channel.Send.Send(ctx, p.notification(event))
	p.keep(err)
	if err == nil && receipt != "" {
		p.receipts[event] = receipt
	}
	return err
}

// send sends an event. An error ends the test.
func (p *place) send(event askback.EventType) {
	p.Helper()
	if err := p.trySend(p.Context(), event); err != nil {
		p.Fatalf("%s to %s: %v %v", event, p.person, err, cause(err))
	}
}

// sendOutcome waits for the outcome of the ask and sends it.
func (p *place) sendOutcome() {
	p.Helper()
	p.send(outcomeEvent(p.settled(p.ask)))
}

// question sends a question to a person and returns the place and the message.
func (f *fixture) question(r askback.Request, person string) (*place, Message) {
	f.Helper()
	p := f.place(f.ask(r), person)
	p.send(askback.EventQuestionPending)
	return p, f.message(person, p.ask)
}

// outcomeEvent returns the event that settled an ask.
func outcomeEvent(a askback.Ask) askback.EventType {
	switch a.Status {
	case askback.Declined:
		return askback.EventQuestionDeclined
	case askback.Cancelled:
		return askback.EventQuestionCancelled
	case askback.Expired:
		return askback.EventQuestionExpired
	}
	return askback.EventQuestionAnswered
}

func cause(err error) error {
	if sending, ok := errors.AsType[*askback.SendError](err); ok {
		return sending.Cause
	}
	return nil
}

// checkSecrets checks that no secret and no text of an ask is in an error or the log.
func (f *fixture) checkSecrets() {
	f.Helper()
	var out strings.Builder
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.errs {
		fmt.Fprintf(&out, "%v %+v %v\n", err, err, cause(err))
	}
	out.WriteString(f.log.text())
	for _, text := range f.texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > 8 && strings.Contains(out.String(), line) {
				f.Errorf("text of an ask is in the log or in an error: %.80q", line)
			}
		}
	}
	for _, secret := range append(f.service.Secrets(), linkSecret) {
		if at := strings.Index(out.String(), secret); at >= 0 {
			f.Errorf("a secret is in the log or in an error: …%.200s", out.String()[max(0, at-100):])
		}
	}
}

// A logBuffer keeps the log.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
