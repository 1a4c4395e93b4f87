package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// channelFunc is a channel that passes each delivery to a function.
type channelFunc func(ctx context.Context, d askback.Delivery) error

func (channelFunc) SendTest(context.Context, string, string, string, []string) (int, error) {
	return http.StatusOK, nil
}

func (f channelFunc) Send(ctx context.Context, n askback.Notification) (string, error) {
	return "", f(ctx, n.Delivery)
}

// withChannel returns options with a channel for webhooks.
func withChannel(f channelFunc) *engine.Options {
	return &engine.Options{Channels: map[string]engine.Channel{"webhook": f}, MaxOpen: 1000}
}

// A receiver that does not reply gets only some of the slots, so another receiver gets its message without
// delay. A postponed delivery is not a failed attempt. All deliveries are sent.
func TestSlowReceiverDoesNotDelayOtherReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 200
		var (
			mu                  sync.Mutex
			sending, most, slow int
			begun               = time.Now()
			after, other        time.Duration
			claims              int
		)
		p := newFixture(t, memstore.New(), withChannel(func(_ context.Context, d askback.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			if d.Attempts > 0 {
				t.Errorf("got %+v, want its first attempt", d)
			}
			if !strings.Contains(d.Target, "slow") {
				other = time.Since(begun)
				return nil
			}
			slow++
			sending++
			most = max(most, sending)
			mu.Unlock()
			<-time.After(29 * time.Second)
			mu.Lock()
			sending--
			after = time.Since(begun)
			return nil
		}))
		p.store.onClaim(func() error { mu.Lock(); claims++; mu.Unlock(); return nil })
		r := question()
		r.CallbackURL = "https://slow.example.com/calls"
		for range many {
			p.ask(r)
		}
		defer p.run()()
		synctest.Wait()
		<-time.After(time.Second)
		r.CallbackURL = "https://agents.example.com/calls"
		p.ask(r)
		<-time.After(time.Hour)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if other == 0 || other > 10*time.Second {
			t.Errorf("the other receiver got its message after %v, want no delay", other)
		}
		if slow != many || most > 16 || after > 30*time.Minute {
			t.Errorf("got %d messages to the slow receiver in %v, %d concurrently, want %d in half an hour, at most "+
				"16 concurrently", slow, after, most, many)
		}
		if claims > 3000 {
			t.Errorf("got %d claims, want fewer", claims)
		}
	})
}

// A process that stops waits two seconds for receivers. An interrupted attempt is not a failed attempt. The
// next process sends the delivery.
func TestAttemptOfStoppedProcessIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		first := newFixture(t, kept, withChannel(func(ctx context.Context, _ askback.Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		a := first.ask(calledBack())
		stop := first.run()
		synctest.Wait()
		begun := time.Now()
		stop()
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("the process stopped after %v, want 2s", took)
		}
		if got := first.history(a); len(got) != 1 {
			t.Errorf("got history %q, want only the question", got)
		}
		var got askback.Delivery
		next := newFixture(t, kept, withChannel(func(_ context.Context, d askback.Delivery) error {
			got = d
			return nil
		}))
		stop = next.run()
		<-time.After(time.Minute)
		stop()
		if got.Event != askback.EventQuestionPending || got.Attempts != 0 {
			t.Errorf("got delivery %+v, want the first attempt at the question", got)
		}
	})
}

// A process takes a new name after it could not record a result. It does not repeat the effects that it still
// performs under the old name.
func TestRunningEffectIsNotPerformedTwiceUnderANewName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		into := &attempts{start: time.Now()}
		p := newNode(t, memstore.New(), into, "a", func(e engine.Effect) error {
			if e.ID == "fx_slow" {
				<-time.After(50 * time.Second)
			}
			return nil
		})
		a, b := p.ask(question()), p.ask(question())
		p.commitEffect(a, "fx_slow", time.Time{})
		p.commitEffect(b, "fx_fails", time.Time{})
		failed := false
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if len(c.Done) > 0 && !failed {
				failed = true
				return 0, errors.New("the disk is busy")
			}
			return next(ctx, c)
		})
		stop := p.run()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		stop()
		times := map[string]int{}
		for _, one := range into.list() {
			times[one.effect]++
		}
		if got := fmt.Sprint(times); got != "map[fx_fails:2 fx_slow:1]" || p.claims(a) != 1 || p.claims(b) != 1 {
			t.Errorf(
				"got attempts %s with %d and %d results, want one of fx_slow and two of fx_fails, each with a result",
				got, p.claims(a), p.claims(b),
			)
		}
	})
}

// The owner of many slow receivers gets only some of the slots, so the receiver of another owner gets its
// message without delay.
func TestOwnerOfSlowReceiversDoesNotDelayOtherOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu            sync.Mutex
			sending, most int
			other         time.Duration
			begun         = time.Now()
		)
		p := newFixture(t, memstore.New(), withChannel(func(_ context.Context, d askback.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(d.Target, "slow") {
				other = time.Since(begun)
				return nil
			}
			sending++
			most = max(most, sending)
			mu.Unlock()
			<-time.After(29 * time.Second)
			mu.Lock()
			sending--
			return nil
		}))
		defer p.run()()
		for i := range 200 {
			r := question()
			r.CallbackURL = fmt.Sprintf("https://Slow%d.example.com", i)
			p.ask(r)
		}
		<-time.After(time.Second)
		r := question()
		r.CallbackURL = "https://fast.example.com"
		another := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "another"})
		if _, err := another.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if most != 32 || other < time.Second || other > 3*time.Second {
			t.Errorf("got %d concurrent messages, and the other one after %v, want 32 and no delay", most, other)
		}
	})
}
