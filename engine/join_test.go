package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// Equal questions wait until the first one is committed, however long that takes, and become
// this one.
func TestEqualQuestionsWaitForTheFirst(t *testing.T) {
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

// Where a route joins them, equal questions of an agent are one ask while it is pending, also
// if they are asked at the same time and with keys of their own. Others stay apart (T18).
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
		if two := p.ask(r); one.ID == first || two.ID == first || (what == "no route" || what == "a call") != (one.ID != two.ID) {
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
	// The key of the ask that was made first still finds it.
	for _, key := range []string{"k", "l"} {
		a := p.ask(joined(func(r *askback.Request) { r.Key = key }))
		if a.ID != first && a.ID != again.ID {
			t.Errorf("key %s: got a third ask %s", key, a.ID)
		}
	}
}
