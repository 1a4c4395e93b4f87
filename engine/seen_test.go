package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// seenTimes returns when each delivery of an ask was seen, oldest delivery first. It lists the deliveries as
// the agent.
func (p *fixture) seenTimes(a askback.Ask) (all []time.Time) {
	p.Helper()
	page, err := p.agent.Deliveries(p.Context(), askback.DeliveryQuery{AskID: a.ID})
	if err != nil {
		p.Fatal(err)
	}
	for _, d := range slices.Backward(page.Items) {
		all = append(all, d.SeenAt)
	}
	return all
}

// A delivery records the first time at which its person had the ask on a screen. A repeated call writes
// nothing, and makes no event. The time is kept after the outcome and after a restart (E3 to E7).
func TestDeliveryRecordsOnlyTheFirstView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		o := &engine.Options{
			Channels: map[string]engine.Channel{"post": &phones{}},
			Settings: engine.Settings{
				Receivers: append(receivers("phone"), engine.Receiver{Channel: "post", Name: "bens", Person: "ben"}),
			},
		}
		p := newFixture(t, db, o)
		defer p.run()()
		a := p.ask(question())
		synctest.Wait()
		commits := 0
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			commits++
			return next(ctx, c)
		})
		history := p.history(a)
		at := time.Now().UTC()
		for _, via := range []askback.Channel{
			askback.ChannelTelegram, askback.ChannelPush, askback.ChannelPush, askback.ChannelWeb,
		} {
			client, err := p.engine.Person(p.Context(), "ana", via)
			if err == nil {
				err = client.Seen(p.Context(), a.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			if via == askback.ChannelPush {
				<-time.After(time.Minute)
			}
		}
		want := []time.Time{at, {}}
		if got := p.seenTimes(a); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("got seen at %v, want %v", got, want)
		}
		sent, err := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"}).Deliveries(p.Context(),
			askback.DeliveryQuery{Status: askback.DeliverySent})
		// the deliveries are sorted by random ids
		seen := slices.ContainsFunc(sent.Items, func(d askback.Delivery) bool { return d.SeenAt.Equal(at) })
		if err != nil || len(sent.Items) != 2 || !seen {
			t.Errorf("sent: got %+v, %v; want that it was seen at %v", sent.Items, err, at)
		}
		if commits != 1 || !slices.Equal(p.history(a), history) {
			t.Errorf("got %d commits, and the history %q after %q; want 1 and the same", commits, p.history(a), history)
		}
		p.answer(p.ana, a, "SQLite")
		synctest.Wait()
		want = []time.Time{at, {}, {}, {}}
		if got := newFixture(t, db, o).seenTimes(a); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("after the answer and a restart: got seen at %v, want %v", got, want)
		}
	})
}

// An agent cannot record that its ask was seen, even with the name of a person. A person can do so only for
// an ask that the person may read.
func TestSeenIsRejectedWithoutPermission(t *testing.T) {
	p := newFixture(t, memstore.New(), &engine.Options{
		Channels: map[string]engine.Channel{"post": &phones{}},
		Settings: engine.Settings{Receivers: receivers("phone")},
	})
	r := question()
	r.To = []string{"ana"}
	a := p.ask(r)
	agent := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "ana"})
	if err := agent.Seen(p.Context(), a.ID); !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("agent: got error %v, want %v", err, askback.ErrForbidden)
	}
	ben := p.engine.As(askback.Principal{Kind: askback.Responder, Name: "ben"})
	if err := ben.Seen(p.Context(), a.ID); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("ben: got error %v, want %v", err, askback.ErrNotFound)
	}
	if got := p.seenTimes(a); len(got) != 1 || !got[0].IsZero() {
		t.Errorf("got seen at %v, want a delivery that was not seen", got)
	}
}
