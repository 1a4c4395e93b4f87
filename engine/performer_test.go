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
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// attempt is one call of Perform.
type attempt struct {
	node   string
	effect string
	number int
	after  time.Duration // the time since the start of the test
}

// attempts records the calls of Perform of several engines.
type attempts struct {
	mu    sync.Mutex
	start time.Time
	all   []attempt
}

func (a *attempts) list() []attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// A performer records its calls in into and then calls do. If do succeeds, the result is an input that claims
// the ask, with the id of the effect as the name of the person.
type performer struct {
	node string
	into *attempts
	do   func(e engine.Effect) error
}

func (p *performer) Perform(_ context.Context, e engine.Effect) (lifecycle.Input, error) {
	p.into.mu.Lock()
	p.into.all = append(p.into.all, attempt{p.node, e.ID, e.Attempt, time.Since(p.into.start)})
	p.into.mu.Unlock()
	if p.do != nil {
		if err := p.do(e); err != nil {
			return nil, err
		}
	}
	return lifecycle.Claimed{By: e.ID, At: time.Now()}, nil
}

// newNode returns a fixture whose engine performs effects with do and records the attempts under this node
// name.
func newNode(t *testing.T, s engine.Store, into *attempts, node string, do func(e engine.Effect) error) *fixture {
	t.Helper()
	return newFixture(t, &fakeStore{Store: s}, &engine.Options{Performer: &performer{node, into, do}})
}

func (p *fixture) commitEffect(ask askback.Ask, id string, due time.Time) {
	p.Helper()
	if err := p.engine.CommitEffect(context.Background(), ask.ID, id, due); err != nil {
		p.Fatal(err)
	}
}

// claims returns the number of claims in the history of an ask.
func (p *fixture) claims(a askback.Ask) int {
	p.Helper()
	n := 0
	for _, h := range p.history(a) {
		if h == string(askback.EventQuestionClaimed) {
			n++
		}
	}
	return n
}

func wantAttempts(t *testing.T, got []attempt, want ...attempt) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got attempts %+v, want %+v", got, want)
	}
}

func TestEffectIsPerformedImmediatelyAndRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		into := &attempts{start: time.Now()}
		p := newNode(t, memstore.New(), into, "a", nil)
		stop := p.run()
		defer stop()
		a := p.ask(question())
		<-time.After(time.Second)
		p.commitEffect(a, "fx_1", time.Time{})
		synctest.Wait()
		wantAttempts(t, into.list(), attempt{"a", "fx_1", 1, time.Second})
		if got := p.claims(a); got != 1 {
			t.Errorf("got %d records of the result, want 1", got)
		}
		p.commitEffect(a, "fx_2", time.Now().Add(time.Minute))
		<-time.After(time.Hour)
		synctest.Wait()
		got := into.list()
		if len(got) != 2 || got[1].after != 61*time.Second {
			t.Errorf("got attempts %+v, want another one after 61s", got)
		}
	})
}

// A process performs an effect and crashes before it records the result. After the claim has timed out,
// another process performs the effect again with the same id.
func TestEffectIsPerformedAgainAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, into := memstore.New(), &attempts{start: time.Now()}
		crashed := newNode(t, kept, into, "crashed", nil)
		a := crashed.ask(question())
		crashed.commitEffect(a, "fx_1", time.Time{})
		crashed.store.onCommit(func(context.Context, store.Change, committer) (int64, error) {
			return 0, store.ErrFailed
		})
		stop := crashed.run()
		synctest.Wait()
		stop()
		if got := crashed.claims(a); got != 0 {
			t.Fatalf("got %d records of the result, want none", got)
		}
		next := newNode(t, kept, into, "next", nil)
		stop = next.run()
		<-time.After(time.Minute)
		synctest.Wait()
		stop()
		wantAttempts(t, into.list(), attempt{"crashed", "fx_1", 1, 0}, attempt{"next", "fx_1", 2, 15 * time.Second})
		if got := next.claims(a); got != 1 {
			t.Errorf("got %d records of the result, want 1", got)
		}
	})
}

// A process cannot record heartbeats for a while, and another process performs its effect. The late result of
// the first process is dropped.
func TestLateResultOfLostClaimIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, into := memstore.New(), &attempts{start: time.Now()}
		release := make(chan struct{})
		slow := newNode(t, kept, into, "slow", func(engine.Effect) error {
			<-release
			return nil
		})
		a := slow.ask(question())
		slow.commitEffect(a, "fx_1", time.Time{})
		stopSlow := slow.run()
		synctest.Wait()
		slow.store.onClaim(func() error { return errors.New("the database cannot be reached") })
		other := newNode(t, kept, into, "other", nil)
		stopOther := other.run()
		<-time.After(time.Minute)
		synctest.Wait()
		wantAttempts(t, into.list(), attempt{"slow", "fx_1", 1, 0}, attempt{"other", "fx_1", 2, 15 * time.Second})
		if got := other.claims(a); got != 1 {
			t.Errorf("got %d records of the result, want 1", got)
		}
		close(release)
		<-time.After(time.Minute)
		synctest.Wait()
		stopSlow()
		stopOther()
		if got := other.claims(a); got != 1 {
			t.Errorf("got %d records of the result after the late one, want 1", got)
		}
		if got := into.list(); len(got) != 2 {
			t.Errorf("got attempts %+v, want two", got)
		}
	})
}

func TestEffectThatKeepsFailingBecomesDeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		into := &attempts{start: time.Now()}
		broken := true
		p := newNode(t, memstore.New(), into, "a", func(engine.Effect) error {
			if broken {
				return errors.New("no such channel")
			}
			return nil
		})
		a := p.ask(question())
		p.commitEffect(a, "fx_1", time.Time{})
		stop := p.run()
		defer stop()
		<-time.After(24 * time.Hour)
		synctest.Wait()
		got := into.list()
		if len(got) != 10 {
			t.Fatalf("got %d attempts, want 10", len(got))
		}
		for i := 1; i < len(got); i++ {
			longest := min(time.Second<<(i-1), 10*time.Minute)
			pause := got[i].after - got[i-1].after
			if pause < longest/2 || pause > longest+store.HeartbeatInterval || got[i].number != i+1 {
				t.Errorf("attempt %d came %v after the one before, want %v to %v and the heartbeat", got[i].number,
					pause, longest/2, longest)
			}
		}
		dead, err := p.engine.DeadLetters(t.Context(), store.Query{})
		if err != nil || len(dead) != 1 || dead[0].ID != "fx_1" || dead[0].Error != "no such channel" ||
			dead[0].Attempts != 10 {
			t.Fatalf("got dead letters %+v, %v, want fx_1 with its error", dead, err)
		}
		broken = false
		if err := p.engine.RetryDeadLetter(t.Context(), "fx_1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := into.list(); len(got) != 11 || p.claims(a) != 1 {
			t.Errorf("got %d attempts and %d records of the result, want 11 and 1", len(got), p.claims(a))
		}
		if dead, err := p.engine.DeadLetters(t.Context(), store.Query{}); err != nil || len(dead) != 0 {
			t.Errorf("got dead letters %+v, %v, want none", dead, err)
		}
	})
}

// An effect becomes a dead letter if the machine rejects its result, unless the result
// comes after the outcome.
func TestEffectWithRejectedResultBecomesDeadLetter(t *testing.T) {
	for _, settled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var result lifecycle.Input = lifecycle.Acked{At: time.Now()}
			if settled {
				result = lifecycle.Claimed{By: "ben", At: time.Now()}
			}
			p := newFixture(t, memstore.New(), &engine.Options{
				Performer: performerOf(func(context.Context) (lifecycle.Input, error) { return result, nil }),
			})
			a := p.ask(question())
			if settled {
				if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
					t.Fatal(err)
				}
			}
			p.commitEffect(a, "fx_1", time.Time{})
			stop := p.run()
			synctest.Wait()
			stop()
			want := 1
			if settled {
				want = 0
			}
			dead, err := p.engine.DeadLetters(t.Context(), store.Query{})
			if err != nil || len(dead) != want || want == 1 && dead[0].Error != askback.ErrPending.Error() {
				t.Errorf("settled %v: got dead letters %+v, %v, want %d", settled, dead, err, want)
			}
		})
	}
}

// An effect whose record cannot be read is not performed repeatedly.
func TestEffectOfUnreadableRecordIsDeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		into := &attempts{start: time.Now()}
		kept := memstore.New()
		first := newFixture(t, kept, nil)
		a := first.ask(question())
		first.commitEffect(a, "fx_1", time.Time{})
		row, err := kept.Read(t.Context(), "ask", a.ID)
		if err != nil {
			t.Fatal(err)
		}
		row.Fixed, row.State = nil, []byte(`{"v":99}`)
		if _, err := kept.Commit(t.Context(), store.Change{Put: []store.Record{row}}); err != nil {
			t.Fatal(err)
		}
		p := newNode(t, kept, into, "a", nil)
		stop := p.run()
		<-time.After(time.Hour)
		synctest.Wait()
		stop()
		wantAttempts(t, into.list(), attempt{"a", "fx_1", 1, 0})
		if dead, err := p.engine.DeadLetters(t.Context(), store.Query{}); err != nil || len(dead) != 1 {
			t.Errorf("got dead letters %+v, %v, want one", dead, err)
		}
	})
}

type performerOf func(ctx context.Context) (lifecycle.Input, error)

func (f performerOf) Perform(ctx context.Context, _ engine.Effect) (lifecycle.Input, error) {
	return f(ctx)
}

// Three processes share 300 effects, and each effect is performed once.
func TestEachEffectIsPerformedByOneOfSeveralProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, into := memstore.New(), &attempts{start: time.Now()}
		first := newFixture(t, kept, nil)
		const n = 300
		var asks []askback.Ask
		for i := range n {
			asks = append(asks, first.ask(question()))
			first.commitEffect(asks[i], fmt.Sprintf("fx_%03d", i), time.Time{})
		}
		for _, node := range []string{"a", "b", "c"} {
			stop := newNode(t, kept, into, node, func(engine.Effect) error {
				<-time.After(time.Second)
				return nil
			}).run()
			defer stop()
		}
		<-time.After(time.Minute)
		synctest.Wait()
		byNode, byEffect := map[string]int{}, map[string]int{}
		for _, a := range into.list() {
			byNode[a.node]++
			byEffect[a.effect]++
			if a.after > 2*time.Second {
				t.Errorf("%s was performed after %v: free slots were not used", a.effect, a.after)
			}
		}
		if len(byEffect) != n || len(into.list()) != n || len(byNode) != 3 {
			t.Errorf("got %d attempts of %d effects on %v, want each of %d once, on three nodes", len(into.list()),
				len(byEffect), byNode, n)
		}
		for _, a := range asks {
			if got := first.claims(a); got != 1 {
				t.Fatalf("%s: got %d records of the result, want 1", a.ID, got)
			}
		}
	})
}

// Without a performer, Claim is never called. With a performer but without effects, it is
// called only to record heartbeats.
func TestIdleWorkerOnlyRecordsHeartbeats(t *testing.T) {
	for _, with := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newFixture(t, memstore.New(), nil)
			if with {
				p = newNode(t, memstore.New(), &attempts{start: time.Now()}, "a", nil)
			}
			var mu sync.Mutex
			n := 0
			p.store.onClaim(func() error {
				mu.Lock()
				defer mu.Unlock()
				n++
				return nil
			})
			stop := p.run()
			for range 60 {
				p.ask(question())
				<-time.After(time.Second)
			}
			synctest.Wait()
			stop()
			if want := 13; with && n != want || !with && n != 0 {
				t.Errorf("performer %v: got %d queries in a minute, want %d or none", with, n, want)
			}
		})
	}
}

// When its context ends, Run waits for running effects, for at most ten seconds.
func TestRunWaitsForRunningEffects(t *testing.T) {
	for took, want := range map[time.Duration]int{9 * time.Second: 1, 11 * time.Second: 0} {
		synctest.Test(t, func(t *testing.T) {
			p := newFixture(t, memstore.New(),
				&engine.Options{Performer: performerOf(func(ctx context.Context) (lifecycle.Input, error) {
					select {
					case <-time.After(took):
						return lifecycle.Claimed{By: "fx_1", At: time.Now()}, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				})})
			a := p.ask(question())
			p.commitEffect(a, "fx_1", time.Time{})
			stop := p.run()
			synctest.Wait()
			begin := time.Now()
			stop()
			if end := time.Since(begin); end != min(took, 10*time.Second) || p.claims(a) != want {
				t.Errorf("an effect of %v: Run ended after %v with %d records of the result, want %d", took, end,
					p.claims(a), want)
			}
		})
	}
}
