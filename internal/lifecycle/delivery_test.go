package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// The callback of an ask, and each receiver that was added while the ask was open, get the question and then
// the outcome. With neither a callback nor receivers, the ask has no deliveries (E3).
func TestQuestionAndOutcomeAreDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string][]askback.EventType{} // by receiver
		for _, m := range anyRun(t) {
			switch in := m.event.(type) {
			case lifecycle.Asked:
				if in.Callback != "" {
					want["webhook https://agents.example.com"] = []askback.EventType{askback.EventQuestionPending}
				}
			case lifecycle.ReceiversAdded:
				for _, to := range in.Receivers {
					if name := to.Channel + " " + to.Name; !m.before.Ask.Settled() && want[name] == nil {
						want[name] = []askback.EventType{askback.EventQuestionPending}
					}
				}
			case lifecycle.FollowedUp:
				wantFollowedUp(m, in.Receivers, want)
			case lifecycle.Reassigned:
				wantReassigned(m, in.Receivers, want)
			}
			if !m.before.Ask.Settled() && m.after.Ask.Settled() {
				for name := range want {
					if lost(want[name]) {
						continue
					}
					want[name] = append(want[name], askback.EventType("question_"+string(m.after.Ask.Status)))
				}
			}
			got, ids := map[string][]askback.EventType{}, map[string]bool{}
			for _, d := range m.after.Deliveries {
				name := d.Channel + " " + d.Target
				got[name], ids[d.ID] = append(got[name], d.Event), true
			}
			if diff := cmp.Diff(want, got); diff != "" || len(ids) != len(m.after.Deliveries) {
				t.Fatalf("%+v: -want +got, %d ids of %d deliveries\n%s", m.event, len(ids), len(m.after.Deliveries),
					diff)
			}
		}
	})
}

// lost reports whether the receiver of these deliveries does not have the question now: the list is empty, or
// the last delivery is a reassignment to other receivers.
func lost(events []askback.EventType) bool {
	return len(events) == 0 || events[len(events)-1] == askback.EventQuestionReassigned
}

// wantFollowedUp adds the deliveries of a reminder to want. Each receiver without an unsent delivery gets one
// delivery: the reminder, or the question if it does not have the question.
func wantFollowedUp(m transition, receivers []lifecycle.Receiver, want map[string][]askback.EventType) {
	for _, to := range receivers {
		name := to.Channel + " " + to.Name
		underWay := slices.ContainsFunc(m.before.Deliveries, func(d askback.Delivery) bool {
			return d.Channel+" "+d.Target == name &&
				(d.Status == askback.DeliveryQueued || d.Status == askback.DeliveryWaiting)
		})
		switch {
		case m.unchanged || underWay:
		case lost(want[name]):
			want[name] = append(want[name], askback.EventQuestionPending)
		default:
			want[name] = append(want[name], askback.EventQuestionReminded)
		}
	}
}

// wantReassigned adds the deliveries of a reassignment to want: the question to each new receiver, and a
// notice to each receiver that loses the question.
func wantReassigned(m transition, receivers []lifecycle.Receiver, want map[string][]askback.EventType) {
	if m.unchanged {
		return
	}
	var names []string
	for _, to := range receivers {
		name := to.Channel + " " + to.Name
		if names = append(names, name); lost(want[name]) {
			want[name] = append(want[name], askback.EventQuestionPending)
		}
	}
	for name, events := range want {
		if !strings.HasPrefix(name, "webhook ") && !slices.Contains(names, name) && !lost(events) {
			want[name] = append(events, askback.EventQuestionReassigned)
		}
	}
}

// A session with a receiver has a delivery for each end of a turn, and then a delivery for the end of the
// session. A session without a receiver has no deliveries (E3).
func TestEndsOfSessionAreDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		for _, m := range anySessionRun(t) {
			var want []askback.EventType
			for _, h := range m.result.History {
				if h.Type.EndsSession() && m.after.Receiver() != "" {
					want = append(want, h.Type)
				}
			}
			n += len(want)
			list := m.after.Deliveries
			if added := list[len(list)-len(want):]; len(want) > 0 && (added[0].Event != want[0] ||
				added[0].Target == "" || added[0].SessionID != "ses_1") || m.after.Delivered != n {
				t.Errorf("%+v: got deliveries %+v, %d in all, want %v at the end, %d in all", m.event, list,
					m.after.Delivered, want, n)
			}
			for _, d := range list {
				if seen, _ := m.after.Delivery(d.ID); d.Status != askback.DeliverySent &&
					seen.Session.CompletedAt.IsZero() {
					t.Errorf("%s: got session %+v, want it as it was at its end", d.Event, seen.Session)
				}
			}
		}
	})
}

// The record of a session does not grow without limit if its receiver accepts nothing. The history has each
// dropped message, and the record keeps the last messages.
func TestDeliveriesOfSessionAreBounded(t *testing.T) {
	s := lifecycle.SessionState{}
	apply := func(in lifecycle.Input) (history []lifecycle.Event) {
		t.Helper()
		r, err := s.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		s = r.State
		return r.History
	}
	apply(lifecycle.SessionStarted{
		Session: askback.Session{ID: "ses_1", Owner: "bot"}, Callback: "http://x.example", At: nine,
	})
	const turns = 100
	dropped := map[string]bool{}
	for range turns {
		for _, cmd := range []askback.Command{askback.SendMessage{Text: "go on"}, askback.EndTurn{}} {
			for _, h := range apply(lifecycle.SessionCommand{Command: cmd, At: nine}) {
				if h.Type == askback.EventDeliveryFailed {
					dropped[h.Delivery.ID] = true
				}
			}
		}
	}
	if len(s.Deliveries) > 20 || len(s.Deliveries)+len(dropped) != turns ||
		s.Deliveries[0].Status != askback.DeliveryQueued {
		t.Errorf(
			"got %d deliveries and %d that were dropped of %d, want at most 20, with the delivery that is being sent",
			len(s.Deliveries), len(dropped), turns,
		)
	}
	for _, d := range s.Deliveries {
		if dropped[d.ID] {
			t.Errorf("%s was dropped and is kept", d.ID)
		}
	}
	var notFound error
	for id := range dropped {
		_, notFound = s.Step(lifecycle.SendAgain{ID: id, At: nine})
	}
	if !errors.Is(notFound, askback.ErrNotFound) {
		t.Errorf("a dropped delivery is sent again: got %v, want ErrNotFound", notFound)
	}
}

// One Send effect begins each delivery, after the earlier deliveries to the same receiver have ended. At most
// one delivery to a receiver is queued at any time, even if deliveries are sent again.
func TestDeliveriesBeginInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begun := map[string]bool{} // the deliveries that are queued, keyed by id
		for _, m := range anyRun(t) {
			for _, f := range effectOf[lifecycle.Send](m) {
				i := slices.IndexFunc(m.after.Deliveries, func(d askback.Delivery) bool { return d.ID == f.ID })
				if begun[f.ID] || m.after.Deliveries[i].Status != askback.DeliveryQueued {
					t.Errorf("%+v: delivery %d is %s, and was being sent: %v", m.event, i+1,
						m.after.Deliveries[i].Status, begun[f.ID])
				}
				for j, d := range m.after.Deliveries[:i] {
					if d.Target == m.after.Deliveries[i].Target &&
						(d.Status == askback.DeliveryQueued || d.Status == askback.DeliveryWaiting) {
						t.Errorf("delivery %d begins while delivery %d is %s", i+1, j+1, d.Status)
					}
				}
				begun[f.ID] = true
			}
			sending := map[string]int{}
			for i, d := range m.after.Deliveries {
				if d.Status != askback.DeliveryQueued {
					begun[d.ID] = false
					continue
				}
				if sending[d.Target]++; !begun[d.ID] || sending[d.Target] > 1 {
					t.Errorf("%+v: delivery %d is queued, with an effect: %v, and %d others", m.event, i+1,
						begun[d.ID], sending[d.Target]-1)
				}
			}
		}
	})
}

// A delivery waits only while another delivery to its receiver is queued. So no delivery is forgotten, and
// receivers do not wait for each other.
func TestDeliveryWaitsOnlyForAQueuedDelivery(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		waiting, queued := map[string]int{}, map[string]int{}
		for _, d := range m.after.Deliveries {
			switch d.Status {
			case askback.DeliveryWaiting:
				waiting[d.Target]++
			case askback.DeliveryQueued:
				queued[d.Target]++
			case askback.DeliverySent, askback.DeliveryFailed:
				if !d.RetryAt.IsZero() {
					t.Errorf("got %+v, want no next attempt", d)
				}
			}
		}
		for target, n := range waiting {
			if queued[target] == 0 {
				t.Errorf("got %d deliveries to %s that wait and none that is queued: %+v", n, target,
					m.after.Deliveries)
			}
		}
	})
}

// The ids of deliveries have the form of docs/wire.md, differ, and sort with their ask.
func TestDeliveryIDsSortWithTheirAsk(t *testing.T) {
	const ask = "ask_01k7z3q8v0h2m4n6p8r0s2t4v9"
	s := lifecycle.AskState{}
	a := askback.Ask{
		ID: ask, SessionID: "ses_01k7z3q8v0h2m4n6p8r0s2t4v9", Kind: askback.Questions,
		Questions: []askback.Question{{ID: "q1", Text: "Why?"}},
	}
	for _, in := range []lifecycle.Input{
		lifecycle.Asked{Ask: a, Owner: "bot", Callback: "http://x.example", At: nine},
		lifecycle.Declined{By: "ana", At: nine},
	} {
		r, err := s.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		s = r.State
	}
	first, second := s.Deliveries[0].ID, s.Deliveries[1].ID
	for _, id := range []string{first, second} {
		if len(id) != len(ask) || id[:14] != "dlv_01k7z3q8v0" {
			t.Errorf("got id %s, want dlv_ and 26 digits that begin with the digits of the ask", id)
		}
	}
	if first == second {
		t.Errorf("two deliveries have the id %s", first)
	}
}
