package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A pendingTest has an agent with pending calls, and a person who approves one of them and all that are like it.
type pendingTest struct {
	*testing.T
	engine *engine.Engine
	bot    askback.Client
	ana    askback.Client
}

func newPendingTest(t *testing.T, db engine.Store, o *engine.Options) *pendingTest {
	e := engine.New(db, o)
	return &pendingTest{
		t, e, e.As(askback.Principal{Kind: askback.Agent, Name: "bot"}),
		e.As(askback.Principal{Kind: askback.Responder, Name: "ana"}),
	}
}

func (p *pendingTest) run() { go func() { _ = p.engine.Run(p.Context()) }() }

// ask asks for approval of the tool rm. change may change the request.
func (p *pendingTest) ask(path string, change func(*askback.Request)) askback.Ask {
	p.Helper()
	r := askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "rm", Input: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)),
	}}
	if change != nil {
		change(&r)
	}
	a, err := p.bot.Ask(p.Context(), r)
	if err != nil {
		p.Fatal(err)
	}
	return a
}

func (p *pendingTest) approveAll(id string) askback.Ask {
	p.Helper()
	a, err := p.ana.Answer(p.Context(), id, askback.Decide(askback.ApproveAll, ""))
	if err != nil {
		p.Fatal(err)
	}
	return a
}

func (p *pendingTest) get(id string) askback.Ask {
	p.Helper()
	a, err := p.bot.Get(p.Context(), id)
	if err != nil {
		p.Fatal(err)
	}
	return a
}

// uses returns how often the only grant was used.
func (p *pendingTest) uses() int {
	p.Helper()
	page, err := p.ana.Grants(p.Context(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		p.Fatal(page.Items, err)
	}
	return page.Items[0].Uses
}

// A new grant approves the equal calls that wait, as it approves later calls. It approves no call that it does not
// cover, and no call with an answer that a person can still undo.
func TestGrantApprovesEqualCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := askback.Route{Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"ben"}}
		p := newPendingTest(t, memstore.New(), &engine.Options{Settings: engine.Settings{
			Undo: time.Minute, Routes: []askback.Route{route},
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
		}})
		p.run()
		first := p.ask("/a", nil)
		var equal []askback.Ask
		for i := range 9 {
			equal = append(equal, p.ask("/a", func(r *askback.Request) { r.Key = fmt.Sprint("k", i) }))
		}
		others := map[string]askback.Ask{
			"other arguments":  p.ask("/b", nil),
			"another tool":     p.ask("/a", func(r *askback.Request) { r.Confirmation.ToolName = "mv" }),
			"another agent":    p.ask("/a", func(r *askback.Request) { r.Agent = "helper" }),
			"a dangerous call": p.ask("/a", func(r *askback.Request) { r.Confirmation.Dangerous = true }),
			"two approvals":    p.ask("/a", func(r *askback.Request) { r.Quorum, r.To = 2, []string{"ana", "ben"} }),
			"other recipients": p.ask("/a", func(r *askback.Request) { r.To = []string{"ben"} }),
			"other approvers":  p.ask("/a", func(r *askback.Request) { r.Tags = []string{"pay"} }),
		}
		denied := p.ask("/a", nil)
		if _, err := p.ana.Hold(t.Context(), denied.ID, askback.Decide(askback.Deny, "no")); err != nil {
			t.Fatal(err)
		}
		made := p.approveAll(first.ID)
		if made.Outcome.Waiting != len(equal) {
			t.Errorf("got %d waiting, want %d", made.Outcome.Waiting, len(equal))
		}
		synctest.Wait()
		for _, a := range equal {
			o := p.get(a.ID).Outcome
			if o == nil || o.Actor != (askback.Actor{Kind: askback.ActorPolicy, Name: "ana"}) ||
				o.GrantID != made.Outcome.GrantID || o.Digest != made.Outcome.Digest {
				t.Fatalf("an equal call: got %+v, want it approved by the grant", o)
			}
			if _, err := p.bot.Consume(t.Context(), a.ID, o.Digest); err != nil {
				t.Errorf("got %v, want the approval to be usable", err)
			}
		}
		<-time.After(time.Minute)
		synctest.Wait()
		for what, a := range others {
			if got := p.get(a.ID); got.Settled() {
				t.Errorf("%s: got %+v, want pending", what, got.Outcome)
			}
		}
		if o := p.get(denied.ID).Outcome; o == nil || o.Decision != askback.Deny {
			t.Errorf("with a held denial: got %+v, want it denied", o)
		}
		if n := p.uses(); n != len(equal) {
			t.Errorf("got %d uses, want %d", n, len(equal))
		}
	})
}

// A held approval of all calls counts the calls that wait when it is sent.
func TestHeldGrantApprovesCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPendingTest(t, memstore.New(), &engine.Options{Settings: engine.Settings{Undo: 5 * time.Second}})
		p.run()
		first, second := p.ask("/a", nil), p.ask("/a", nil)
		if _, err := p.ana.Hold(t.Context(), first.ID, askback.Decide(askback.ApproveAll, "")); err != nil {
			t.Fatal(err)
		}
		third := p.ask("/a", nil)
		synctest.Wait()
		if p.get(second.ID).Settled() {
			t.Error("a grant that can be undone has approved a call")
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if got := p.get(first.ID).Outcome; got == nil || got.Waiting != 2 {
			t.Errorf("got %+v, want two calls that waited", got)
		}
		for _, a := range []askback.Ask{second, third} {
			if o := p.get(a.ID).Outcome; !o.Approved() {
				t.Errorf("got %+v, want it approved", o)
			}
		}
	})
}

// Pending calls beyond one step of the grant are approved in later steps, and by the next process if this process
// has ended.
func TestNextProcessApprovesManyCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		p := newPendingTest(t, db, nil) // Run is never called in this process
		const n = 350
		first := p.ask("/a", nil)
		for range n {
			p.ask("/a", nil)
		}
		p.approveAll(first.ID)
		next := newPendingTest(t, db, nil)
		next.run()
		synctest.Wait()
		page, err := next.ana.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) != 0 {
			t.Errorf("got %d pending, %v, want none", len(page.Items), err)
		}
		if got := next.uses(); got != n {
			t.Errorf("got %d uses, want %d", got, n)
		}
	})
}

// slowStore delays the commit of a new ask for the person slow until goOn is closed.
type slowStore struct {
	*memstore.Store
	waits, goOn chan struct{}
}

func (s slowStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	for _, r := range c.Put {
		if r.Version == 0 && slices.Contains(r.To, "slow") {
			close(s.waits)
			<-s.goOn
		}
	}
	return s.Store.Commit(ctx, c)
}

// A call that was being opened while the grant was made is approved, too.
func TestGrantApprovesCallOpenedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := slowStore{memstore.New(), make(chan struct{}), make(chan struct{})}
		p := newPendingTest(t, db, nil)
		p.run()
		first := p.ask("/a", nil)
		opened := make(chan askback.Ask)
		go func() {
			defer close(opened)
			opened <- p.ask("/a", func(r *askback.Request) { r.To = []string{"slow", "ana"} })
		}()
		<-db.waits
		p.approveAll(first.ID)
		synctest.Wait()
		close(db.goOn)
		a := <-opened
		<-time.After(10 * time.Second)
		synctest.Wait()
		if o := p.get(a.ID).Outcome; !o.Approved() {
			t.Errorf("got %+v, want it approved", o)
		}
	})
}

// If people answer while the grant approves calls, each call has exactly one outcome, and what a person decided
// first is not changed.
func TestAnswerAndGrantDoNotOverwriteEachOther(t *testing.T) {
	p := newPendingTest(t, memstore.New(), nil)
	p.run()
	first := p.ask("/a", nil)
	var waiting []askback.Ask
	for range 200 {
		waiting = append(waiting, p.ask("/a", nil))
	}
	p.approveAll(first.ID)
	var group sync.WaitGroup
	denied := make([]bool, len(waiting))
	ben := p.engine.As(askback.Principal{Kind: askback.Responder, Name: "ben"})
	for i := len(waiting) - 1; i >= 0; i-- {
		group.Go(func() {
			_, err := ben.Answer(t.Context(), waiting[i].ID, askback.Decide(askback.Deny, "no"))
			if denied[i] = err == nil; err != nil && !errors.Is(err, askback.ErrSettled) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	byGrant := 0
	for i, a := range waiting {
		o, err := p.bot.Wait(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		if byPolicy := o.Outcome.Actor.Kind == askback.ActorPolicy; byPolicy == denied[i] {
			t.Errorf("denied: %v, got %+v", denied[i], o.Outcome)
		} else if byPolicy {
			byGrant++
		}
	}
	if n := p.uses(); n != byGrant {
		t.Errorf("got %d uses of the grant, want %d", n, byGrant)
	}
	t.Logf("%d by the grant, %d by a person", byGrant, len(waiting)-byGrant)
}

// A grant that is revoked before the pending calls are examined approves none of them.
func TestRevokedGrantApprovesNoCallThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPendingTest(t, memstore.New(), nil)
		first, second := p.ask("/a", nil), p.ask("/a", nil)
		made := p.approveAll(first.ID)
		if _, err := p.ana.Revoke(t.Context(), made.Outcome.GrantID); err != nil {
			t.Fatal(err)
		}
		p.run()
		<-time.After(time.Minute)
		synctest.Wait()
		if a := p.get(second.ID); a.Settled() {
			t.Errorf("got %+v, want pending", a.Outcome)
		}
	})
}
