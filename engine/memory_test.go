package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An open ask needs no goroutine, with or without a deadline (B3).
func TestOpenAskUsesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		defer p.run()()
		p.ask(questionWithTimeout(time.Hour, askback.OnTimeoutFail))
		synctest.Wait() // Run has started its goroutines
		before := runtime.NumGoroutine()
		for i := range 10_000 {
			r := question()
			if i%2 == 0 {
				r = questionWithTimeout(time.Hour+time.Duration(i)*time.Second, askback.OnTimeoutFail)
			}
			p.ask(r)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before+2 { // the runtime may start goroutines of its own
			t.Errorf("got %d goroutines with 10 000 asks waiting, want the %d from before", after, before)
		}
	})
}

// An open ask needs no timer. Without Run, time alone changes nothing (B3).
func TestOpenAskUsesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		var commits atomic.Int64
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			commits.Add(1)
			return next(ctx, c)
		})
		for range 100 {
			p.ask(questionWithTimeout(time.Hour, askback.OnTimeoutFail))
		}
		<-time.After(365 * 24 * time.Hour)
		synctest.Wait()
		if n := commits.Load(); n != 100 {
			t.Errorf("got %d commits, want the commits of the 100 asks", n)
		}
	})
}

// discardStore is a store that discards everything, so that all memory in use belongs to the engine.
type discardStore struct{ engine.Store }

func (discardStore) Commit(context.Context, store.Change) (int64, error) { return 1, nil }

// The cache takes at most CacheBytes, for asks of any shape.
func TestMemoryIsBoundedByCacheBytes(t *testing.T) {
	const limit = 1 << 20
	options := func(n int, text string) []askback.Option {
		list := make([]askback.Option, n)
		for i := range list {
			list[i] = askback.Option{Label: fmt.Sprint(i), Description: text}
		}
		return list
	}
	for name, make := range map[string]func() askback.Request{
		"small": question,
		"long": func() askback.Request {
			r := question()
			r.Questions[0].Text = strings.Repeat("why ", 2000)
			return r
		},
		"many options": func() askback.Request {
			r := askback.Request{}
			for i := range 4 {
				r.Questions = append(r.Questions,
					askback.Question{Text: fmt.Sprint("Which ", i), Options: options(50, "")})
			}
			return r
		},
		"many people": func() askback.Request {
			r := question()
			for i := range 100 {
				r.To, r.Tags = append(r.To, fmt.Sprint("p", i)), append(r.Tags, fmt.Sprint("t", i))
			}
			return r
		},
		"a confirmation": func() askback.Request {
			r := confirmation()
			r.Confirmation.Input = fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 5000))
			return r
		},
	} {
		p := newFixture(t, discardStore{memstore.New()}, &engine.Options{CacheBytes: limit})
		asks := 300 // about three times the limit
		if name == "small" {
			asks *= 5
		}
		before := heap()
		for range asks {
			p.ask(make())
		}
		used := heap() - before
		t.Logf("%s: %.1f MB", name, float64(used)/(1<<20))
		if used > limit {
			t.Errorf("%s: %d asks hold %d bytes, want at most %d", name, asks, used, limit)
		}
		runtime.KeepAlive(p)
	}
}

// The cache takes at most CacheBytes for asks that were read from the store, even if their stored JSON has
// many escapes.
func TestMemoryOfStoredAsksIsBoundedByCacheBytes(t *testing.T) {
	const limit = 1 << 20
	for name, text := range map[string]string{
		"plain": strings.Repeat("x", 8000), "lines": strings.Repeat(strings.Repeat("x", 79)+"\n", 100),
		"control": strings.Repeat("\x01", 8000),
	} {
		db := memstore.New()
		asked := newFixture(t, db, nil)
		var ids []string
		for range 300 { // more than twice the limit
			r := question()
			r.Questions[0].Text = "Why?" + text + "!"
			ids = append(ids, asked.ask(r).ID)
		}
		p := newFixture(t, discardStore{db}, &engine.Options{CacheBytes: limit})
		before := heap()
		for _, id := range ids {
			if _, err := p.ana.Claim(t.Context(), id); err != nil { // after a step, the changed ask is in the cache
				t.Fatal(err)
			}
		}
		used := heap() - before
		t.Logf("%s: %.1f MB", name, float64(used)/(1<<20))
		if used > limit {
			t.Errorf("%s: %d asks hold %d bytes, want at most %d", name, len(ids), used, limit)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(asked)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An ask that was used recently stays in the cache. Asks that were not used recently are read from the store.
func TestCacheEvictsLeastRecentlyUsed(t *testing.T) {
	const asks = 1000
	p := newFixture(t, memstore.New(), &engine.Options{CacheBytes: 200_000})
	reads := 0
	p.store.onRead(func(ctx context.Context, kind, id string) (store.Record, error) {
		if kind == "ask" {
			reads++
		}
		return p.store.Store.Read(ctx, kind, id)
	})
	all := make([]askback.Ask, asks)
	for i := range all {
		all[i] = p.ask(question())
		p.get(all[0].ID) // the use of the ask keeps it in the cache
	}
	if reads != 0 {
		t.Errorf("an ask that is used all the time was read %d times, want never", reads)
	}
	for _, a := range all {
		p.get(a.ID)
	}
	remembered := asks - reads
	if remembered < 20 || remembered > asks/2 {
		t.Errorf("%d of %d asks are remembered in 200 kB", remembered, asks)
	}
	reads = 0
	for _, a := range all[asks-remembered+1:] {
		p.get(a.ID)
	}
	if reads != 0 {
		t.Errorf("%d of the %d asks used last were read again, want none", reads, remembered-1)
	}
}
