package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store/memstore"
)

// newDeliveries returns a fixture with five asks, which are made a second apart. The title of an ask is its
// number. The receiver accepts messages about asks 0 and 3, finally rejects messages about ask 1, and is busy
// for asks 2 and 4. Then asks 0 and 2 are answered.
func newDeliveries(t *testing.T) (p *fixture, asks []askback.Ask) {
	to := &receiver{}
	to.reply = func(n int) error {
		switch to.asks[n-1].Title {
		case "1":
			return &askback.SendError{Err: errors.New("the reply was 410 Gone"), Final: true}
		case "2", "4":
			return errors.New("no reply")
		}
		return nil
	}
	p = newSender(t, memstore.New(), to)
	t.Cleanup(p.run())
	for n := range 5 {
		r := calledBack()
		r.Title = fmt.Sprint(n)
		asks = append(asks, p.ask(r))
		<-time.After(time.Second)
	}
	for _, n := range []int{0, 2} {
		p.answer(p.ana, asks[n], "SQLite")
		<-time.After(time.Second)
	}
	synctest.Wait()
	return p, asks
}

// allDeliveries lists the deliveries on all pages, each as the number of its ask and the last word of its
// event.
func allDeliveries(t *testing.T, who askback.Client, asks []askback.Ask, q askback.DeliveryQuery) string {
	t.Helper()
	var all []string
	for pages := 0; ; pages++ {
		page, err := who.Deliveries(t.Context(), q)
		if err != nil || pages > 20 || len(page.Items) > q.Limit {
			t.Fatalf("%+v, page %d: got %d items, error %v", q, pages, len(page.Items), err)
		}
		for _, d := range page.Items {
			n := slices.IndexFunc(asks,
				func(a askback.Ask) bool { return a.ID == d.AskID && a.SessionID == d.SessionID })
			all = append(all, fmt.Sprint(n, strings.TrimPrefix(string(d.Event), "question_")))
			if q.Status != "" && d.Status != q.Status || d.Target != "https://agents.example.com" {
				t.Errorf("%+v: got %+v", q, d)
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return strings.Join(all, " ")
		}
	}
}

// An operator lists the deliveries by status, and each page continues the previous one (F16).
func TestDeliveriesAreListedByStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asks := newDeliveries(t)
		for _, kind := range []askback.Kind{askback.Operator, askback.Admin} {
			who := p.engine.As(askback.Principal{Kind: kind, Name: "ops"})
			for _, c := range []struct {
				status askback.DeliveryStatus
				ask    string
				want   string
			}{
				{"", "", "4pending 2answered 2pending 1pending"},
				{askback.DeliveryFailed, "", "1pending"},
				{askback.DeliveryQueued, "", "4pending 2pending"},
				{askback.DeliveryWaiting, "", "2answered"},
				{askback.DeliverySent, "", "0answered 3pending 0pending"},
				{"", asks[0].ID, "0answered 0pending"},
				{"", asks[2].ID, "2answered 2pending"},
				{askback.DeliveryWaiting, asks[2].ID, "2answered"},
				{askback.DeliverySent, asks[1].ID, ""},
			} {
				for _, limit := range []int{1, 2, 3, 50} {
					q := askback.DeliveryQuery{Status: c.status, AskID: c.ask, Limit: limit}
					if got := allDeliveries(t, who, asks, q); got != c.want {
						t.Errorf("%s, %+v: got %q, want %q", kind, q, got, c.want)
					}
				}
			}
		}
	})
}

// An agent sees the deliveries of its own asks, and a responder sees none (E10).
func TestAgentListsDeliveriesOfItsOwnAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asks := newDeliveries(t)
		if got := allDeliveries(t, p.agent, asks,
			askback.DeliveryQuery{AskID: asks[0].ID, Limit: 5}); got != "0answered 0pending" {
			t.Errorf("the owner: got %q", got)
		}
		var invalid askback.Invalid
		if _, err := p.agent.Deliveries(t.Context(), askback.DeliveryQuery{}); !errors.As(err, &invalid) ||
			invalid[0].Pointer != "?question_id" {
			t.Errorf("without an ask: got %v, want an error at ?question_id", err)
		}
		other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		if got := allDeliveries(t, other, asks, askback.DeliveryQuery{AskID: asks[0].ID, Limit: 5}); got != "" {
			t.Errorf("another agent: got %q, want none", got)
		}
		if _, err := p.ana.Deliveries(t.Context(),
			askback.DeliveryQuery{AskID: asks[0].ID}); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("a responder: got %v, want ErrForbidden", err)
		}
	})
}

// A list rejects the cursor of another list. Otherwise the list could start again from the beginning without
// an error.
func TestDeliveryCursorOfAnotherListIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asks := newDeliveries(t)
		ops := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
		lists := []askback.DeliveryQuery{
			{Status: askback.DeliverySent, Limit: 1}, {Limit: 1}, {AskID: asks[0].ID, Limit: 1},
		}
		for i, from := range lists {
			page, err := ops.Deliveries(t.Context(), from)
			if err != nil || page.NextCursor == "" {
				t.Fatalf("%+v: got %+v, %v", from, page, err)
			}
			for j, to := range lists {
				to.Cursor = page.NextCursor
				_, err := ops.Deliveries(t.Context(), to)
				if wrong := errors.As(err, &askback.Invalid{}); wrong != (i != j) {
					t.Errorf("cursor of %+v for %+v: got %v", from, to, err)
				}
			}
		}
		for _, q := range []askback.DeliveryQuery{
			{Cursor: "x"}, {Cursor: "ZHgu"}, {Status: "lost"}, {Limit: 201}, {AskID: "ask_1"},
		} {
			if _, err := ops.Deliveries(t.Context(), q); !errors.As(err, &askback.Invalid{}) {
				t.Errorf("%+v: got %v, want Invalid", q, err)
			}
		}
	})
}

// Deliveries about a session are listed like deliveries about asks. They have the id of the session, but not
// the session itself (F16).
func TestDeliveriesOfSessionsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		const rounds = 10 // more events than one read returns
		fails := false
		to.reply = func(int) error {
			if fails {
				return &askback.SendError{Err: errors.New("gone"), Final: true}
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		t.Cleanup(p.run())
		pass := func() { // waits until all attempts of the last change have ended
			<-time.After(time.Minute)
			synctest.Wait()
		}
		s := p.startCalling(callback)
		var asks []askback.Ask
		for range rounds {
			r := question()
			r.SessionID = s.ID
			asks = append(asks, p.ask(r))
			pass()
			p.answer(p.ana, asks[len(asks)-1], "SQLite")
			pass()
			p.send(p.agent, s.ID, askback.EndTurn{})
			pass()
			p.send(p.agent, s.ID, askback.ResumeSession{})
		}
		fails = true
		p.send(p.agent, s.ID, askback.EndTurn{})
		pass()
		ops := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
		other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		list := func(who askback.Client, q askback.DeliveryQuery) (events []string) {
			t.Helper()
			for {
				page, err := who.Deliveries(t.Context(), q)
				if err != nil || len(page.Items) > q.Limit {
					t.Fatalf("%+v: got %+v, %v", q, page, err)
				}
				for _, d := range page.Items {
					if (d.AskID == "") != strings.HasPrefix(string(d.Event), "session_") ||
						d.SessionID != s.ID || d.Session != nil {
						t.Errorf("got %+v", d)
					}
					events = append(events, string(d.Event))
				}
				if q.Cursor = page.NextCursor; q.Cursor == "" {
					return events
				}
			}
		}
		for _, limit := range []int{1, 2, 50} {
			wantEvents(t, list(ops, askback.DeliveryQuery{Status: askback.DeliveryFailed, Limit: limit}),
				"session_completed")
			sent := slices.Repeat([]string{"session_completed", "question_answered", "question_pending"}, rounds)
			wantEvents(t, list(ops, askback.DeliveryQuery{Status: askback.DeliverySent, Limit: limit}), sent...)
			for _, who := range []askback.Client{ops, p.agent} {
				wantEvents(t, list(who, askback.DeliveryQuery{SessionID: s.ID, Limit: limit}),
					slices.Repeat([]string{"session_completed"}, rounds+1)...)
			}
			wantEvents(t, list(other, askback.DeliveryQuery{SessionID: s.ID, Limit: limit}))
		}
		if _, err := ops.Deliveries(t.Context(),
			askback.DeliveryQuery{SessionID: s.ID, AskID: asks[0].ID}); !errors.As(err, &askback.Invalid{}) {
			t.Errorf("an ask and a session: got %v, want Invalid", err)
		}
	})
}
