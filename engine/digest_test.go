package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A counter is a channel that records the event of each message. It also records the numbers of other waiting
// questions in the messages.
type counter struct {
	mu     sync.Mutex
	events []string
	others []int
	asks   map[string]bool // the asks about which at least one message was sent
}

func (c *counter) Send(_ context.Context, n askback.Notification) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, string(n.Event))
	c.asks[n.AskID] = true
	if n.Ask.OthersWaiting > 0 {
		c.others = append(c.others, n.Ask.OthersWaiting)
	}
	return "1", nil
}

func (c *counter) take() (events []string, others []int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	events, others = c.events, c.others
	c.events, c.others = nil, nil
	return events, others
}

// An agent asks a person forty questions at the same time. The person gets five messages with a question, and
// one further message with the number of the other questions. The answers to these other questions cause no
// message either (T18).
func TestQuestionsBeyondTheLimitAreCountedInOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone := &counter{asks: map[string]bool{}}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": phone},
			Settings: engine.Settings{DigestAfter: 5, Receivers: receivers("phone")},
		})
		defer p.run()()
		var asks []askback.Ask
		for range 40 {
			asks = append(asks, p.ask(question()))
		}
		if events, others := phone.take(); len(events) != 5 || others != nil {
			t.Errorf("at first: got %d messages, %v others", len(events), others)
		}
		for range 2 { // the messages about these asks are held back
			i := slices.IndexFunc(asks, func(a askback.Ask) bool { return !phone.asks[a.ID] })
			p.answer(p.ana, asks[i], "SQLite")
			asks = slices.Delete(asks, i, i+1)
		}
		<-time.After(61 * time.Second)
		synctest.Wait()
		const held = 33
		events, others := phone.take()
		if !slices.Equal(events, []string{"question_pending"}) || len(others) != 1 ||
			others[0] < held-1 || others[0] > 34 {
			t.Errorf("after a minute: got %q, %v others, want one message that counts %d others", events, others,
				held-1)
		}
		<-time.After(time.Hour)
		for _, a := range asks {
			p.answer(p.ana, a, "SQLite")
		}
		if events, _ = phone.take(); len(events) != 6 {
			t.Errorf("when all were answered: got %d messages, want the messages of the 6 asks with a message",
				len(events))
		}
		p.ask(question())
		if events, others = phone.take(); !slices.Equal(events, []string{"question_pending"}) || others != nil {
			t.Errorf("later: got %q, %v others", events, others)
		}
	})
}

// A restart does not let an agent send more messages in a minute: messages of the last minute still count.
// Messages that were held back count as new.
func TestMessageLimitSurvivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone, db := &counter{asks: map[string]bool{}}, memstore.New()
		start := func() (*fixture, func()) {
			p := newFixture(t, db, &engine.Options{
				Channels: map[string]engine.Channel{"post": phone},
				Settings: engine.Settings{DigestAfter: 5, Receivers: receivers("phone", "tablet")},
			})
			return p, p.run()
		}
		p, stop := start()
		for range 4 {
			p.ask(question())
		}
		if events, _ := phone.take(); len(events) != 8 {
			t.Errorf("at first: got %d messages, want 4 for each receiver", len(events))
		}
		stop()
		<-time.After(20 * time.Second)
		p, stop = start()
		for range 7 {
			p.ask(question())
		}
		if events, _ := phone.take(); len(events) != 2 {
			t.Errorf("after a restart: got %d messages, want the fifth for each", len(events))
		}
		stop()
		<-time.After(10 * time.Second)
		_, stop = start()
		defer func() { stop() }()
		<-time.After(25 * time.Second)
		if events, _ := phone.take(); len(events) != 0 {
			t.Errorf("within a minute: got %d messages", len(events))
		}
		<-time.After(time.Minute)
		if events, others := phone.take(); len(events) != 10 || !slices.Equal(others, []int{1, 1}) {
			t.Errorf("after it: got %d messages, %v others; want 5 for each, of which one counts the sixth",
				len(events), others)
		}
	})
}

// A receiver that failed gets each message separately when it works again. A repeated message does not count
// as another question.
func TestRepeatedMessagesCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone := &failingFor{counter: counter{asks: map[string]bool{}}}
		phone.until.Store(time.Now().Add(50 * time.Second).UnixNano())
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": phone},
			Settings: engine.Settings{DigestAfter: 5, Receivers: receivers("phone")},
		})
		defer p.run()()
		for range 4 {
			p.ask(question())
		}
		<-time.After(10 * time.Minute)
		if events, others := phone.take(); len(events) != 4 || others != nil {
			t.Errorf("got %d messages, %v others; want 4 messages", len(events), others)
		}
	})
}

// The limit counts only the messages of the last minute. An agent that keeps asking causes as many messages
// in the second minute as in the first minute.
func TestMessageLimitIsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone := &counter{asks: map[string]bool{}}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": phone},
			Settings: engine.Settings{DigestAfter: 5, Receivers: receivers("phone")},
		})
		defer p.run()()
		flood := func(n int) {
			for range n {
				p.ask(question())
			}
		}
		flood(5)
		if events, others := phone.take(); len(events) != 5 || others != nil {
			t.Errorf("in the first minute: got %d messages, %v others", len(events), others)
		}
		<-time.After(61 * time.Second)
		flood(40)
		if events, others := phone.take(); len(events) != 5 || others != nil {
			t.Errorf("in the second minute: got %d messages, %v others; want 5", len(events), others)
		}
		<-time.After(61 * time.Second)
		if events, others := phone.take(); len(events) != 1 || !slices.Equal(others, []int{34}) {
			t.Errorf("after it: got %d messages, %v others; want a message that counts 34 others", len(events), others)
		}
	})
}

// A message that counts other questions has the same number when the message is repeated after a failure.
func TestRepeatedMessageCountsTheSameQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phone := &failingFor{counter: counter{asks: map[string]bool{}}}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": phone},
			Settings: engine.Settings{DigestAfter: 2, Receivers: receivers("phone")},
		})
		defer p.run()()
		for range 6 {
			p.ask(question())
		}
		if events, others := phone.take(); len(events) != 2 || others != nil {
			t.Fatalf("at first: got %d messages, %v others", len(events), others)
		}
		// the message that counts the other questions fails twice
		phone.until.Store(time.Now().Add(75 * time.Second).UnixNano())
		<-time.After(2 * time.Minute)
		for range 4 { // the next such message does not change the number in the first message
			p.ask(question())
		}
		if events, others := phone.take(); len(events) != 2 || others != nil {
			t.Fatalf("after two minutes: got %d messages, %v others", len(events), others)
		}
		<-time.After(10 * time.Minute)
		if events, others := phone.take(); len(events) != 2 || !slices.Equal(others, []int{1, 3}) {
			t.Errorf("got %d messages, %v others; want a message that counts 1 other, and a message that counts 3",
				len(events), others)
		}
	})
}

// failingFor is a counter whose Send fails until a time.
type failingFor struct {
	counter
	until atomic.Int64 // in ns
}

func (c *failingFor) Send(ctx context.Context, n askback.Notification) (string, error) {
	if time.Now().UnixNano() < c.until.Load() {
		return "", errors.New("not now")
	}
	return c.counter.Send(ctx, n)
}
