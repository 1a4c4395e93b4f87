package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
)

const (
	// concurrentRaces is how many races run concurrently.
	concurrentRaces = 16
	// leadTime is the time between the preparation and the deadlines. The clock is moved forward by leadTime.
	leadTime = time.Minute
)

// deadlineSpread is the length of the period in which deadlines pass: about the
// duration of a batch.
var deadlineSpread = map[string]time.Duration{inMemory: 4 * time.Millisecond, onSQLite: 16 * time.Millisecond}

// The stores on which races run.
const (
	inMemory = "in memory"
	onSQLite = "on SQLite"
)

var raceStores = []string{inMemory, onSQLite}

// A raceTest tests that an approval and a grant have one outcome each under
// concurrent operations (F7, F8).
type raceTest struct {
	where, path string
	seed        uint64
	mutant      string
	clock       movedClock
	store       engine.Store
	close       func() error

	done   int
	counts map[string]int
	bad    []violation
}

// A movedClock is ahead of the system clock.
type movedClock struct{ ahead atomic.Int64 }

func (c *movedClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// jump moves the clock forward to at. It does nothing if the clock is already later.
func (c *movedClock) jump(at time.Time) { c.ahead.Add(int64(max(0, at.Sub(c.now())))) }

func newRaceTest(dir, where string, seed uint64, mutant string) *raceTest {
	return &raceTest{
		where: where, path: filepath.Join(dir, "races.db"), seed: seed, mutant: mutant, counts: map[string]int{},
	}
}

// run runs n races, or fewer if there is a violation.
func (p *raceTest) run(ctx context.Context, n int) (err error) {
	if err := p.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for p.done < n && len(p.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.where == inMemory { // long lists are slow in memory
			p.store = mutantRaceStore(p.mutant, memstore.New())
		}
		if err := p.batch(ctx, min(concurrentRaces, n-p.done)); err != nil {
			return err
		}
	}
	return nil
}

func (p *raceTest) open() error {
	p.close = func() error { return nil }
	if p.where == inMemory {
		return nil
	}
	db, err := sqlite.Open(p.path, nil)
	if err != nil {
		return err
	}
	p.store, p.close = mutantRaceStore(p.mutant, db), db.Close
	return nil
}

// batch runs concurrent races: it prepares them, moves the clock to the
// deadlines, runs them and checks the results.
func (p *raceTest) batch(ctx context.Context, n int) error {
	r := rand.New(rand.NewPCG(p.seed, uint64(p.done)))
	engines := p.engines(1 + r.IntN(2))
	deadlines := period{p.clock.now().Add(leadTime), deadlineSpread[p.where]}
	list := make([]*race, n)
	for i := range list {
		list[i] = newRace(p.done+i, rand.New(rand.NewPCG(r.Uint64(), uint64(i))), engines, deadlines)
	}
	if err := forEach(list, func(c *race) error { return c.prepare(ctx) }); err != nil {
		return fmt.Errorf("prepare a race %s: %w", p.where, err)
	}
	p.clock.jump(deadlines.start.Add(-time.Millisecond))
	stop := runEngines(ctx, engines)
	if err := forEach(list, func(c *race) error { c.run(ctx); return nil }); err != nil {
		return err
	}
	stop()
	return p.check(ctx, list)
}

// A period is the time in which the deadlines of a batch pass and its grants end.
type period struct {
	start  time.Time
	length time.Duration
}

// engines returns n new engines on the same store.
func (p *raceTest) engines(n int) []*engine.Engine {
	list := make([]*engine.Engine, n)
	for i := range list {
		list[i] = engine.New(p.store, &engine.Options{Now: p.clock.now})
	}
	return list
}

// runEngines runs the engines, which makes deadlines pass, until stop is called.
func runEngines(ctx context.Context, engines []*engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, e := range engines {
		group.Go(func() { _ = e.Run(ctx) })
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// forEach calls what for all races concurrently, and returns the joined errors.
func forEach(list []*race, what func(*race) error) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, c := range list {
		group.Go(func() { errs[i] = what(c) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// check compares the replies of finished races with the stored state, as a person who sees all asks reads it
// from a new engine.
func (p *raceTest) check(ctx context.Context, list []*race) error {
	cem := p.engines(1)[0].As(racer("cem"))
	for _, c := range list {
		rc := &raceChecker{race: c, counts: p.counts}
		if err := rc.read(ctx, cem, p.store); err != nil {
			return fmt.Errorf("check a race %s: %w", p.where, err)
		}
		rc.check()
		for _, b := range rc.bad {
			b.what = fmt.Sprintf("%s\n  seed %d, race %d %s\n%s", b.what, p.seed, c.number, p.where, rc.log())
			p.bad = append(p.bad, b)
		}
		p.done++
	}
	return nil
}

func racer(name string) askback.Principal {
	return askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}
}

func (p *raceTest) report() report {
	t := table{{"events " + p.where, "times"}}
	for _, what := range slices.Sorted(maps.Keys(p.counts)) {
		t = append(t, []string{what, strconv.Itoa(p.counts[what])})
	}
	return report{
		noun: "races", what: p.where, n: p.done,
		detail: fmt.Sprintf("%d concurrent, on one or two engines", concurrentRaces), table: t, bad: p.bad,
	}
}
