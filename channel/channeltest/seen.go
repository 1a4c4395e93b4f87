package channeltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
)

// A Handler is a [Service] whose messages have an action that does not settle the ask.
type Handler interface {
	// Handle performs such an action in the message about the case [Driver.Handled]. The suite may call
	// Handle again.
	Handle(ctx context.Context, person string, m Message) error
}

// testSeen checks when a delivery is marked as seen. An action of its person in the message marks the
// delivery, even if the action settles nothing. Before that, and after an action of another person, the
// delivery is not marked.
func testSeen(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	p, m := f.question(c.Request, ana)
	f.wantSeen("sent", p.ask)
	if d.inPlace(c) {
		if _, err := f.service.Answer(t.Context(), ana, m, c.Answers[0].Answer); err != nil {
			t.Fatal(err)
		}
		f.settled(p.ask)
		f.wantSeen("answered", p.ask, ana)
	}
	h, ok := f.service.(Handler)
	if ok != (d.Handled != "") {
		t.Errorf("the driver names %q, but whether the service has something that settles nothing: %v", d.Handled, ok)
		return
	}
	if !ok {
		return
	}
	p, m = f.question(byName(d.Handled).Request, ana)
	began := f.now()
	for range 2 {
		if err := h.Handle(t.Context(), ana, m); err != nil {
			t.Fatal(err)
		}
		f.eventually("the delivery is seen", func() bool { return len(f.seen(p.ask)) > 0 })
		f.wantSeen("handled", p.ask, ana)
		if at := f.seen(p.ask)[ana]; at.Sub(began) > time.Hour {
			t.Errorf("seen at %v, want when it was handled first, after %v", at, began)
		}
		f.pass(2 * time.Hour)
	}
	f.wantSame("handled", askback.Ask{ID: p.ask})
}

// seen returns the times at which people have seen the question of an ask, keyed by person.
func (f *fixture) seen(id string) map[string]time.Time {
	f.Helper()
	page, err := f.agent.Deliveries(f.Context(), askback.DeliveryQuery{AskID: id, Limit: askback.MaxLimit})
	if err != nil {
		f.Fatalf("deliveries: %v", err)
	}
	if len(page.Items) == 0 {
		f.Fatalf("the ask has no deliveries")
	}
	all := map[string]time.Time{}
	for _, d := range page.Items {
		if !d.SeenAt.IsZero() {
			all[d.Person] = d.SeenAt
		}
	}
	return all
}

// wantSeen requires that exactly the people in want have seen the question of an ask. The names in want are
// sorted.
func (f *fixture) wantSeen(when, id string, want ...string) {
	f.Helper()
	var got []string
	for person := range f.seen(id) {
		got = append(got, person)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		f.Errorf("%s: seen by %q, want %q", when, got, want)
	}
}
