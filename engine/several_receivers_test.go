package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// phones is a channel to named receivers. Receivers in broken fail.
type phones struct {
	mu     sync.Mutex
	got    []string // the receiver, the event and the status of the ask
	broken map[string]bool
}

func (p *phones) Send(_ context.Context, n askback.Notification) (string, error) {
	d, about, name := n.Delivery, n.Ask, n.Address
	p.mu.Lock()
	defer p.mu.Unlock()
	if name != d.Target {
		return "", errors.New("wrong name")
	}
	if p.broken[name] {
		return "", errors.New("no reply")
	}
	p.got = append(p.got, name+" "+string(d.Event)+" "+string(about.Status))
	return "", nil
}

func (p *phones) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.got))
}

func (p *phones) repair(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken[name] = false
}

func receivers(of ...string) (all []engine.Receiver) {
	for _, name := range of {
		all = append(all, engine.Receiver{Channel: "post", Name: name, Person: "ana"})
	}
	return all
}

// Each receiver gets the question and the outcome, even if another receiver and the callback fail. A receiver
// that fails gets all messages later, in order (E3 to E7).
func TestFailingReceiverDoesNotDelayOtherReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		agent := &receiver{reply: func(int) error {
			if broken {
				return errors.New("no reply")
			}
			return nil
		}}
		people := &phones{broken: map[string]bool{"tablet": true}}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"webhook": agent, "post": people},
			Settings: engine.Settings{Receivers: receivers("phone", "tablet")},
		})
		defer p.run()()
		a := p.ask(calledBack())
		synctest.Wait()
		p.answer(p.ana, a, "SQLite")
		synctest.Wait()
		if got, want := people.all(), []string{
			"phone question_answered answered", "phone question_pending pending",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		wantEvents(t, agent.events(), "question_pending")
		agent.mu.Lock()
		broken = false
		agent.mu.Unlock()
		people.repair("tablet")
		<-time.After(time.Hour)
		synctest.Wait()
		if got := people.got[2:]; !slices.Equal(got, []string{"tablet question_answered answered"}) {
			t.Errorf("the receiver that failed got %q", got)
		}
		if got := agent.events(); got[len(got)-1] != "question_answered" {
			t.Errorf("the callback got %q", got)
		}
	})
}

// A receiver gets only the asks that its person may answer, and no ask that a grant answers.
func TestReceiverGetsOnlyAsksOfItsPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people := &phones{}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": people},
			Settings: engine.Settings{
				Receivers: append(receivers("phone"), engine.Receiver{Channel: "telegram", Name: "x", Person: "ana"}),
			},
		})
		defer p.run()()
		first := p.ask(question())
		for _, to := range [][]string{{"ben"}, {"ben", "ana"}} {
			r := question()
			r.To = to
			p.ask(r)
		}
		synctest.Wait()
		if got := people.all(); len(got) != 2 {
			t.Errorf("got %q, want two questions", got)
		}
		if got, want := p.history(first), []string{
			"question_pending", "delivery_queued", "delivery_sent",
		}; !slices.Equal(got, want) {
			t.Errorf("got history %q, want %q: this server has no channel telegram", got, want)
		}
		p.engine.Set(engine.Settings{})
		p.ask(question())
		synctest.Wait()
		if got := people.all(); len(got) != 2 {
			t.Errorf("got %q after the receivers were removed from the settings", got)
		}
	})
}

// An ask for every person goes to the chat room, and not to each person there. An ask for named people goes
// to these people, and not to the room.
func TestAskIsSentToRoomOrToNamedPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people := &phones{}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": people},
			Settings: engine.Settings{Receivers: []engine.Receiver{
				{Channel: "post", Name: "room"},
				{Channel: "post", Name: "ana", Person: "ana", Addressed: true},
				{Channel: "post", Name: "ben", Person: "ben", Addressed: true},
			}},
		})
		defer p.run()()
		p.ask(question())
		synctest.Wait()
		r := question()
		r.To = []string{"ben"}
		p.ask(r)
		synctest.Wait()
		if got, want := people.all(), []string{
			"ben question_pending pending", "room question_pending pending",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// If an ask is settled before the first attempt, no phone gets the question or the outcome. A phone that may
// have got the question gets the outcome. A program gets both.
func TestQuestionSettledBeforeFirstAttemptIsNotSentToPhones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent, people := &receiver{}, &phones{broken: map[string]bool{"tablet": true}}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"webhook": agent, "post": people},
			Settings: engine.Settings{Receivers: receivers("phone", "tablet")},
		})
		p.answer(p.ana, p.ask(calledBack()), "SQLite") // Run has not started, so nothing is sent yet
		stop := p.run()
		synctest.Wait()
		if got := people.all(); len(got) != 0 {
			t.Errorf("got %q, want nothing", got)
		}
		if got := agent.events(); len(got) != 2 {
			t.Errorf("the callback got %q, want the question and the outcome", got)
		}
		ops := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
		skipped, err := ops.Deliveries(t.Context(), askback.DeliveryQuery{Status: askback.DeliverySkipped})
		if err != nil || len(skipped.Items) != 4 || skipped.Items[0].Person != "ana" {
			t.Errorf("got %+v, %v, want two skipped deliveries of each receiver", skipped.Items, err)
		}
		a := p.ask(question())
		synctest.Wait()
		p.answer(p.ana, a, "SQLite")
		<-time.After(time.Minute)
		people.repair("tablet")
		<-time.After(time.Hour)
		stop()
		want := []string{
			"phone question_answered answered", "phone question_pending pending", "tablet question_answered answered",
		}
		if got := people.all(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// When a channel sends the outcome, it gets the receipt that the service returned for the question. After an
// error it gets the receipt that it recorded before.
func TestChannelGetsReceiptOfTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		var mu sync.Mutex
		chat := notificationFunc(func(ctx context.Context, n askback.Notification) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf("%s %s receipt=%q earlier=%q", n.Person, n.Event, n.Receipt, n.Earlier))
			if n.Event == askback.EventQuestionPending && n.Receipt == "" {
				if err := n.Record(ctx, "message 7"); err != nil {
					t.Error(err)
				}
				return "", errors.New("no reply")
			}
			return "", nil
		})
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": chat}, Settings: engine.Settings{Receivers: receivers("phone")},
		})
		defer p.run()()
		a := p.ask(question())
		<-time.After(time.Minute)
		p.answer(p.ana, a, "SQLite")
		synctest.Wait()
		want := []string{
			`ana question_pending receipt="" earlier=""`, `ana question_pending receipt="message 7" earlier=""`,
			`ana question_answered receipt="" earlier="message 7"`,
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// notificationFunc is a channel that passes each notification to a function.
type notificationFunc func(ctx context.Context, n askback.Notification) (string, error)

func (f notificationFunc) Send(ctx context.Context, n askback.Notification) (string, error) {
	return f(ctx, n)
}

// An ask that a standing approval answers is sent to no phone (T18).
func TestGrantedCallIsSentToNoReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people := &phones{}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": people},
			Settings: engine.Settings{Receivers: receivers("phone")},
		})
		defer p.run()()
		first := p.ask(confirmation())
		synctest.Wait()
		if _, err := p.ana.Answer(t.Context(), first.ID, askback.Decide(askback.ApproveAll, "")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := len(people.all())
		if again := p.ask(confirmation()); !again.Settled() {
			t.Fatal("the second call is not approved")
		}
		synctest.Wait()
		if got := people.all(); before != 2 || len(got) != before {
			t.Errorf("got %q, want the first call and its approval", got)
		}
	})
}

// A repeat of a request with a key is sent once.
func TestRepeatedAskIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people := &phones{}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"post": people},
			Settings: engine.Settings{Receivers: receivers("phone")},
		})
		defer p.run()()
		r := question()
		r.Key = "once"
		p.ask(r)
		p.ask(r)
		synctest.Wait()
		if got := people.all(); len(got) != 1 {
			t.Errorf("got %q, want one question", got)
		}
	})
}
