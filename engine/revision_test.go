package engine_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store/memstore"
)

// All readers of a settled ask share one revision. A change of a copy does not change the revision.
func TestReadersShareRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		id := p.ask(question()).ID
		agent := revision.Of(p.agent)
		limit := revision.Limit{Time: time.Hour}
		waited := make(chan *revision.Ask)
		go func() {
			a, err := agent.WaitRevision(context.Background(), id, limit)
			wantError(t, err, nil)
			waited <- a
		}()
		synctest.Wait()
		answered, err := revision.Of(p.ana).AnswerRevision(t.Context(), id, askback.Choose("SQLite"))
		wantError(t, err, nil)
		again, err := agent.WaitRevision(t.Context(), id, limit)
		wantError(t, err, nil)
		read, err := agent.WaitRevision(t.Context(), id, revision.Limit{})
		wantError(t, err, nil)
		for i, got := range []*revision.Ask{<-waited, again, read} {
			if got != answered {
				t.Errorf("read %d: got another revision than the answer", i)
			}
		}
		copied := p.get(id)
		copied.Outcome.Answers[0].Selected[0] = "?"
		if got := answered.Outcome.Answers[0].Selected[0]; got != "SQLite" {
			t.Errorf("got answer %q, which the reader of a copy has changed", got)
		}
		if _, err := p.agent.Ack(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		acked, err := agent.WaitRevision(t.Context(), id, limit)
		wantError(t, err, nil)
		if !answered.AckedAt.IsZero() || acked.AckedAt.IsZero() {
			t.Errorf("acked at %v before the ack and at %v after it", answered.AckedAt, acked.AckedAt)
		}
	})
}

// A revision is not returned to a principal that may not read the ask, even if it is cached.
func TestRevisionIsNotReturnedWithoutPermission(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	r := question()
	r.To = []string{"ana"}
	id := p.ask(r).ID
	if _, err := p.ana.Answer(t.Context(), id, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
	for _, c := range []askback.Client{p.ben, other} {
		for _, l := range []revision.Limit{{}, {Time: time.Hour}} {
			a, err := revision.Of(c).WaitRevision(t.Context(), id, l)
			wantError(t, err, askback.ErrNotFound)
			if a != nil {
				t.Errorf("%+v: got ask %+v, want none", l, a.Ask)
			}
		}
	}
}

// If the limit ends a wait, the pending ask is returned without an error. If ctx ends the wait, the error is
// the cause of ctx.
func TestWaitEndsAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		id := p.ask(question()).ID
		stop, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Minute, cancel)
		short, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		for _, c := range []struct {
			ctx  context.Context
			l    revision.Limit
			want time.Duration
			err  error
		}{
			{t.Context(), revision.Limit{}, 0, nil},
			{short, revision.Limit{Time: time.Minute, Stop: stop}, time.Second, context.DeadlineExceeded},
			{t.Context(), revision.Limit{Time: time.Minute}, time.Minute, nil},
			{t.Context(), revision.Limit{Time: time.Hour, Stop: stop}, 2*time.Minute - time.Minute - time.Second, nil},
			{t.Context(), revision.Limit{Time: time.Hour, Stop: stop}, 0, nil},
		} {
			began := time.Now()
			a, err := revision.Of(p.agent).WaitRevision(c.ctx, id, c.l)
			wantError(t, err, c.err)
			if took := time.Since(began); took != c.want || a == nil || a.Settled() {
				t.Errorf("%+v: got ask %+v after %v, want the pending one after %v", c.l, a, took, c.want)
			}
		}
	})
}

// A wait for a settled ask returns immediately, so it does not count as waiting.
func TestWaitForSettledAskIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{MaxWaiters: 1})
		open, settled := p.ask(question()), p.ask(question())
		if _, err := p.ana.Answer(t.Context(), settled.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		w := p.wait(ctx, open.ID)
		synctest.Wait()
		got, err := p.agent.Wait(t.Context(), settled.ID)
		wantError(t, err, nil)
		wantStatus(t, got, askback.Answered)
		_, err = p.agent.Wait(t.Context(), open.ID)
		wantError(t, err, askback.ErrTooMany)
		cancel()
		<-w.done
	})
}

// The memory limit of the cache includes the JSON that revisions keep.
func TestJSONOfRevisionsIsBoundedByCacheBytes(t *testing.T) {
	const limit = 1 << 20
	p := newFixture(t, discardStore{memstore.New()}, &engine.Options{CacheBytes: limit})
	r := question()
	r.Context = json.RawMessage(`"` + strings.Repeat("<", 2000) + `"`)
	b := make([]byte, 0, 16<<10)
	before := heap()
	for range 600 {
		a, err := revision.Of(p.ana).AnswerRevision(t.Context(), p.ask(r).ID, askback.Choose("SQLite"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.AppendJSON(b, ""); err != nil {
			t.Fatal(err)
		}
	}
	if used := heap() - before; used > limit {
		t.Errorf("the cache and its JSON hold %d bytes, want at most %d", used, limit)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(b)
}

// The caller of List may modify the result.
func TestListReturnsCopies(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	r := question()
	r.Context, r.Key = json.RawMessage(`"why"`), "k"
	p.ask(r)
	for _, q := range []askback.Query{{}, {Key: "k"}} {
		for range 2 {
			page, err := p.agent.List(t.Context(), q)
			if err != nil || len(page.Items) != 1 {
				t.Fatalf("got %d asks and error %v, want one", len(page.Items), err)
			}
			a := page.Items[0]
			if label := a.Questions[0].Options[0].Label; label != "PostgreSQL" || string(a.Context) != `"why"` {
				t.Errorf("got option %q and context %s, which another caller has changed", label, a.Context)
			}
			a.Questions[0].Options[0].Label = "?"
			clear(a.Context)
		}
	}
}
