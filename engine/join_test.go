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
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// Equal questions wait until the first question is committed, however long that takes, and then return its
// ask.
func TestEqualQuestionsWaitUntilTheFirstIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeStore{Store: memstore.New()}
		p := newFixture(t, db, &engine.Options{Settings: engine.Settings{Routes: []askback.Route{{Join: true}}}})
		committing, release := make(chan struct{}), make(chan struct{})
		var second atomic.Bool
		db.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if !second.Swap(true) {
				close(committing)
				<-release
			}
			return next(ctx, c)
		})
		ids := make([]string, 3)
		var group sync.WaitGroup
		ask := func(i int) { group.Go(func() { ids[i] = p.ask(question()).ID }) }
		ask(0)
		<-committing
		ask(1)
		ask(2)
		synctest.Wait()
		close(release)
		group.Wait()
		if ids[0] != ids[1] || ids[0] != ids[2] {
			t.Errorf("got the asks %q, want one", ids)
		}
	})
}

// If a route joins equal questions of an agent, they are one ask while the ask is pending. This holds even if
// the questions are asked at the same time and with different keys. Other questions have separate asks (T18).
func TestEqualQuestionsAreJoined(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, askback.Route{Match: askback.Match{Tags: []string{"join"}}, Join: true})
	joined := func(change func(*askback.Request)) askback.Request {
		r := question()
		r.Tags = []string{"join"}
		if change != nil {
			change(&r)
		}
		return r
	}
	var group sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		group.Go(func() {
			a, err := p.agent.Ask(t.Context(), joined(func(r *askback.Request) { r.Key = []string{"", "k", "l"}[i%3] }))
			if err != nil {
				t.Error(err)
			}
			ids[i] = a.ID
		})
	}
	group.Wait()
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 1 {
		t.Fatalf("got %d asks, want 1", len(ids))
	}
	first := ids[0]
	for what, r := range map[string]askback.Request{
		"another text": joined(func(r *askback.Request) { r.Questions[0].Text = "Other?" }),
		"a session":    joined(func(r *askback.Request) { r.SessionKey = "run-1" }),
		"no route":     question(),
		"a call":       {Confirmation: confirm().Confirmation, Tags: []string{"join"}},
	} {
		one := p.ask(r)
		if two := p.ask(r); one.ID == first || two.ID == first ||
			(what == "no route" || what == "a call") != (one.ID != two.ID) {
			t.Errorf("%s: got %s and %s besides %s", what, one.ID, two.ID, first)
		}
	}
	other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
	if a, err := other.Ask(t.Context(), joined(nil)); err != nil || a.ID == first {
		t.Errorf("of another agent: got %s, %v", a.ID, err)
	}
	p.answer(p.ana, askback.Ask{ID: first}, "SQLite")
	again := p.ask(joined(nil))
	if again.ID == first || again.Repeated {
		t.Errorf("after the answer: got %s again", again.ID)
	}
	// a key that was used before makes no third ask
	for _, key := range []string{"k", "l"} {
		a := p.ask(joined(func(r *askback.Request) { r.Key = key }))
		if a.ID != first && a.ID != again.ID {
			t.Errorf("key %s: got a third ask %s", key, a.ID)
		}
	}
}

// The same question of another agent is another ask, even with the same label, session key and idempotency
// key: the tokens differ (T18, T20).
func TestQuestionsOfTwoAgentsAreNotJoined(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, askback.Route{Join: true})
	other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
	for _, r := range []askback.Request{
		{Agent: "codex"},
		{Agent: "codex", SessionKey: "run"},
		{Agent: "codex", Key: "k"},
		{Agent: "codex", SessionKey: "run", Key: "l"},
	} {
		r.Questions = question().Questions
		first := p.ask(r)
		a, err := other.Ask(t.Context(), r)
		if err != nil || a.ID == first.ID || a.SessionID == first.SessionID || a.Owner != "other" {
			t.Errorf("%+v: the other agent got %s of %s, %v; the first agent has %s", r, a.ID, a.Owner, err, first.ID)
		}
		if again, err := other.Ask(t.Context(), r); err != nil || again.ID != a.ID {
			t.Errorf("%+v: got %s again, %v, want %s", r, again.ID, err, a.ID)
		}
	}
}

// A repeat of a joined request is recognized by its key, like a repeat of any other request. After the answer
// and a restart, it still returns the same ask, for as long as that ask is stored.
func TestKeyOfAJoinedRequestFindsItsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		options := engine.Options{
			Settings: engine.Settings{Routes: []askback.Route{{Join: true}}, Retention: 9 * 24 * time.Hour},
		}
		p := newFixture(t, db, &options)
		stop := p.run()
		keyed := func(key, text string) askback.Request {
			r := question()
			r.Key, r.Questions[0].Text = key, text
			return r
		}
		first, open := p.ask(keyed("first", "Which?")), p.ask(keyed("", "How many?"))
		p.ask(keyed("of the open one", "How many?"))
		if a := p.ask(keyed("joined", "Which?")); a.ID != first.ID {
			t.Fatalf("got %s, want it joined to %s", a.ID, first.ID)
		}
		p.answer(p.ana, first, "SQLite")
		stop()
		p = newFixture(t, db, &options)
		stop = p.run()
		defer func() { stop() }()
		for _, key := range []string{"first", "joined"} {
			if a := p.ask(keyed(key, "Which?")); a.ID != first.ID || !a.Repeated || a.Status != askback.Answered {
				t.Errorf("%s: got %s, repeated %v, %s", key, a.ID, a.Repeated, a.Status)
			}
			if page, err := p.agent.List(t.Context(), askback.Query{Key: key}); err != nil || len(page.Items) != 1 ||
				page.Items[0].ID != first.ID {
				t.Errorf("%s: the list has %+v, %v", key, page.Items, err)
			}
			if _, err := p.agent.Ask(t.Context(), keyed(key, "Other?")); !errors.Is(err, askback.ErrKeyReused) {
				t.Errorf("%s, another request: got %v", key, err)
			}
		}
		other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		if a, err := other.Ask(t.Context(), keyed("joined", "Which?")); err != nil || a.ID == first.ID {
			t.Errorf("another agent: got %s, %v", a.ID, err)
		}
		<-time.After(10 * 24 * time.Hour)
		synctest.Wait()
		if rows, err := db.List(t.Context(), store.Query{Kind: "joined_key"}); err != nil || len(rows) != 1 {
			t.Errorf("%d keys are stored, %v; want the key of the open ask", len(rows), err)
		}
		if a := p.ask(keyed("joined", "Which?")); a.ID == first.ID || a.Repeated {
			t.Errorf("after the ask was deleted: got %s", a.ID)
		}
		if a := p.ask(keyed("of the open one", "How many?")); a.ID != open.ID {
			t.Errorf("the key of an old ask that is still open: got %s, want %s", a.ID, open.ID)
		}
	})
}

// A joined request counts as one request for the limit. A repeat does not count (T18).
func TestJoinedRequestsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(),
			&engine.Options{Settings: engine.Settings{Routes: []askback.Route{{Join: true}}, AsksPerMinute: 3}})
		keyed := func(key string) askback.Request {
			r := question()
			r.Key = key
			return r
		}
		a := p.ask(keyed("a"))
		p.ask(keyed("b"))
		p.ask(keyed(""))
		for _, key := range []string{"c", ""} {
			if _, err := p.agent.Ask(t.Context(), keyed(key)); !errors.Is(err, askback.ErrTooFast) {
				t.Errorf("%q: got %v, want too fast", key, err)
			}
		}
		for _, key := range []string{"a", "b"} {
			if again := p.ask(keyed(key)); again.ID != a.ID {
				t.Errorf("%s: got %s, want %s", key, again.ID, a.ID)
			}
		}
		<-time.After(time.Minute)
		p.ask(keyed("c"))
	})
}
