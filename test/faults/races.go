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
	// atOnce is how many races run beside each other.
	atOnce = 16
	// lead is how long after the preparations deadlines and grants end. The clock
	// jumps there when all is prepared.
	lead = time.Minute
)

// spreads say within which time they end: about as long as a batch takes.
var spreads = map[string]time.Duration{inMemory: 4 * time.Millisecond, onSQLite: 16 * time.Millisecond}

// The stores on which races are run.
const (
	inMemory = "in memory"
	onSQLite = "on SQLite"
)

var raceStores = []string{inMemory, onSQLite}

// Races is the proof that an approval and a grant have one outcome each, however
// much happens to them at once (F7, F8).
type races struct {
	where, path string
	seed        uint64
	plant       string
	clock       movedClock
	store       engine.Store
	close       func() error

	done   int
	counts map[string]int
	bad    []violation
}

// A movedClock is ahead of the time.
type movedClock struct{ ahead atomic.Int64 }

func (c *movedClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// jump puts the clock forward to at.
func (c *movedClock) jump(at time.Time) { c.ahead.Add(int64(max(0, at.Sub(c.now())))) }

func newRaces(dir, where string, seed uint64, plant string) *races {
	return &races{where: where, path: filepath.Join(dir, "races.db"), seed: seed, plant: plant, counts: map[string]int{}}
}

// run holds n races, or fewer if something is wrong.
func (p *races) run(ctx context.Context, n int) (err error) {
	if err := p.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for p.done < n && len(p.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.where == inMemory { // lists grow long there
			p.store = plantedRaces(p.plant, memstore.New())
		}
		if err := p.batch(ctx, min(atOnce, n-p.done)); err != nil {
			return err
		}
	}
	return nil
}

func (p *races) open() error {
	p.close = func() error { return nil }
	if p.where == inMemory {
		return nil
	}
	db, err := sqlite.Open(p.path, nil)
	if err != nil {
		return err
	}
	p.store, p.close = plantedRaces(p.plant, db), db.Close
	return nil
}

// batch holds races beside each other: all are prepared, the clock jumps to where
// deadlines pass, everybody runs, and then it is looked what became of it.
func (p *races) batch(ctx context.Context, n int) error {
	r := rand.New(rand.NewPCG(p.seed, uint64(p.done)))
	engines := p.engines(1 + r.IntN(2))
	ends := span{p.clock.now().Add(lead), spreads[p.where]}
	list := make([]*race, n)
	for i := range list {
		list[i] = newRace(p.done+i, rand.New(rand.NewPCG(r.Uint64(), uint64(i))), engines, ends)
	}
	if err := each(list, func(c *race) error { return c.prepare(ctx) }); err != nil {
		return fmt.Errorf("prepare a race %s: %w", p.where, err)
	}
	p.clock.jump(ends.begin.Add(-time.Millisecond))
	stop := runEngines(ctx, engines)
	if err := each(list, func(c *race) error { c.hold(ctx); return nil }); err != nil {
		return err
	}
	stop()
	return p.judge(ctx, list)
}

// A span is when deadlines and grants end.
type span struct {
	begin time.Time
	long  time.Duration
}

// engines are as many replicas on one store.
func (p *races) engines(n int) []*engine.Engine {
	list := make([]*engine.Engine, n)
	for i := range list {
		list[i] = engine.New(p.store, &engine.Options{Now: p.clock.now})
	}
	return list
}

// runEngines makes deadlines pass until stop is called.
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

// each does something with all races at once.
func each(list []*race, what func(*race) error) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, c := range list {
		group.Go(func() { errs[i] = what(c) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// judge looks at races that are over, through an engine that knows of nothing,
// as somebody to whom all asks are put.
func (p *races) judge(ctx context.Context, list []*race) error {
	cem := p.engines(1)[0].As(racer("cem"))
	for _, c := range list {
		u := &umpire{race: c, counts: p.counts}
		if err := u.read(ctx, cem, p.store); err != nil {
			return fmt.Errorf("look at a race %s: %w", p.where, err)
		}
		u.judge()
		for _, b := range u.bad {
			b.what = fmt.Sprintf("%s\n  seed %d, race %d %s\n%s", b.what, p.seed, c.number, p.where, u.story())
			p.bad = append(p.bad, b)
		}
		p.done++
	}
	return nil
}

func racer(name string) askback.Principal {
	return askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}
}

// found is the outcome of the proof.
func (p *races) found() part {
	t := table{{"what happened " + p.where, "times"}}
	for _, what := range slices.Sorted(maps.Keys(p.counts)) {
		t = append(t, []string{what, strconv.Itoa(p.counts[what])})
	}
	return part{noun: "races", what: p.where, n: p.done, detail: fmt.Sprintf("%d at once, on one engine or two", atOnce), table: t, bad: p.bad}
}
