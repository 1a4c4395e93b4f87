package lifecycle_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
)

// An ask with a callback has a delivery of its question and one of its outcome, in this
// order. An ask without one has none (E3).
func TestQuestionAndOutcomeAreDelivered(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		var want []askback.EventType
		if m.after.Callback != "" {
			want = append(want, askback.EventQuestionPending)
			if m.after.Ask.Settled() {
				want = append(want, askback.EventType("question_"+string(m.after.Ask.Status)))
			}
		}
		var got []askback.EventType
		for _, d := range m.after.Deliveries {
			got = append(got, d.Event)
			if d.Target != "https://agents.example.com" || d.Channel != "webhook" {
				t.Errorf("got delivery %+v, want only the origin of its address", d)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got deliveries of %v, want %v", m.after.Ask.Status, got, want)
		}
	})
}

// Each delivery is sent once by an effect, and begins after the one before it has ended.
func TestDeliveriesBeginInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var begun []string
		for _, m := range anyRun(t) {
			for _, f := range effectOf[lifecycle.Send](m) {
				begun = append(begun, f.ID)
				i := slices.IndexFunc(m.after.Deliveries, func(d askback.Delivery) bool { return d.ID == f.ID })
				for j, d := range m.after.Deliveries {
					if j < i && d.Status != askback.DeliverySent && d.Status != askback.DeliveryFailed {
						t.Errorf("delivery %d begins while delivery %d is %s", i+1, j+1, d.Status)
					}
				}
			}
			var want []string
			for _, d := range m.after.Deliveries {
				if d.Status != askback.DeliveryWaiting {
					want = append(want, d.ID)
				}
			}
			if diff := cmp.Diff(want, begun); diff != "" {
				t.Errorf("deliveries that begun; those that do not wait -, effects +:\n%s", diff)
			}
		}
	})
}

// No delivery waits unless another one is queued, so none is forgotten.
func TestWaitingDeliveryHasOneBeforeIt(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		var waiting, queued int
		for _, d := range m.after.Deliveries {
			switch d.Status {
			case askback.DeliveryWaiting:
				waiting++
			case askback.DeliveryQueued:
				queued++
			case askback.DeliverySent, askback.DeliveryFailed:
				if !d.RetryAt.IsZero() {
					t.Errorf("got %+v, want no next attempt", d)
				}
			}
		}
		if waiting > 0 && queued == 0 {
			t.Errorf("got %d deliveries that wait and none that is queued: %+v", waiting, m.after.Deliveries)
		}
	})
}

// The ids of deliveries are those of the wire, differ, and sort with their ask.
func TestDeliveryIDs(t *testing.T) {
	const ask = "ask_01k7z3q8v0h2m4n6p8r0s2t4v9"
	s := lifecycle.AskState{}
	a := askback.Ask{ID: ask, SessionID: "ses_01k7z3q8v0h2m4n6p8r0s2t4v9", Kind: askback.Questions, Questions: []askback.Question{{ID: "q1", Text: "Why?"}}}
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
			t.Errorf("got id %s, want dlv_ and 26 digits that begin with those of the ask", id)
		}
	}
	if first == second {
		t.Errorf("two deliveries have the id %s", first)
	}
}
