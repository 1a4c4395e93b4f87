package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/askback/askback"
)

// A footprint is the memory of a process with pending asks and waiters.
type footprint struct {
	What     string `json:"what"`
	Pending  int    `json:"pending"`
	Waiters  int    `json:"waiters"`
	Resident int64  `json:"resident"` // bytes
}

// measureMemory measures the memory of a child process, first without asks and then at each number of pending
// asks. It measures again after the asks were read, and once the asks have waiters.
func measureMemory(ctx context.Context, p plan) (all []footprint, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-memory-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := start(ctx, "memory", filepath.Join(dir, "memory.db"), append([]int{p.waiters}, p.memory...)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.kill()) }()
	for range len(p.memory) + 3 {
		var f footprint
		if err := c.read(&f); err != nil {
			return all, err
		}
		all = append(all, f)
	}
	return all, nil
}

// memoryChild makes asks and waiters, and reports its memory after each step. The first number is the number
// of waiters. The other numbers are numbers of pending asks.
func memoryChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	waiters, steps := numbers[0], numbers[1:]
	p, err := openEngine(ctx, path, nil)
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := cycles(ctx, p, 16, 200*time.Millisecond); err != nil { // make one-time allocations first
		return err
	}
	tell := func(pending, waiting int) error {
		return out.Encode(footprint{"memory", pending, waiting, settledMemory()})
	}
	if err := tell(0, 0); err != nil {
		return err
	}
	asked := 0
	for _, n := range steps {
		if err := fill(ctx, p, n-asked); err != nil {
			return err
		}
		asked = n
		if err := tell(n, 0); err != nil {
			return err
		}
	}
	waited, err := p.oldest(ctx, waiters)
	if err != nil {
		return err
	}
	if err := errors.Join(p.readAsks(ctx, waited), tell(asked, 0)); err != nil {
		return err
	}
	return withWaiters(ctx, p, waited, func() error { return tell(asked, waiters) })
}

// readAsks reads the asks as their waiters will, so that the caches of the readers do
// not count as memory of waiters.
func (p *product) readAsks(ctx context.Context, ids []string) error {
	const atOnce = 64
	return each(atOnce, func(worker int) error {
		for i := worker; i < len(ids); i += atOnce {
			if _, err := p.person.Get(ctx, ids[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// collections is the number of garbage collections before memory is measured. A collection at most halves the
// large stack of a goroutine that has called SQLite. During a long wait there are at least as many
// collections.
const collections = 4

// settledMemory returns the memory of the process after unused memory was returned to
// the system.
func settledMemory() int64 {
	for range collections {
		runtime.GC()
	}
	debug.FreeOSMemory()
	return resident()
}

// withWaiters waits for each of the asks in a goroutine, and calls do once all goroutines block.
func withWaiters(ctx context.Context, p *product, pending []string, do func() error) error {
	ctx, stop := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer stop()
	before := blockedGoroutines()
	for _, id := range pending {
		waiting.Go(func() { _ = p.wait(ctx, id) })
	}
	if err := waitIdle(ctx, func() bool { return blockedGoroutines() >= before+uint64(len(pending)) }); err != nil {
		return err
	}
	return do()
}

// waitIdle polls until rested returns true. It returns an error after a minute, or if ctx
// ends.
func waitIdle(ctx context.Context, rested func() bool) error {
	for limit := time.Now().Add(time.Minute); !rested(); {
		if time.Now().After(limit) {
			return errors.New("the waiters do not block")
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// oldest returns the ids of the n oldest pending asks, or of all pending asks if there are fewer.
func (p *product) oldest(ctx context.Context, n int) (ids []string, err error) {
	q := askback.Query{Limit: min(n, askback.MaxLimit)}
	for {
		page, err := p.person.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			ids = append(ids, a.ID)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" || len(ids) >= n {
			return ids[:min(n, len(ids))], nil
		}
	}
}

// blockedGoroutines returns the number of blocked goroutines, or 0 if it is unknown.
func blockedGoroutines() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// The goals for memory in bytes, for a pending ask and for a waiter: in the
// process, by long poll, and by event stream.
const (
	goalAlone     = 300
	goalWaiter    = 4 << 10
	goalConnected = 20 << 10
	goalStream    = 30_000 // 300 MB for 10 000
)

// printMemory prints footprints and the memory per additional ask and waiter.
func printMemory(w io.Writer, all []footprint) error {
	fmt.Fprintln(w, "\nMemory of the whole process (including the bounded caches, which fill up).")
	return printFootprints(w, all, goalWaiter)
}

// printConnections prints the memory per long poll.
func printConnections(w io.Writer, all []footprint) error {
	fmt.Fprintln(w, "\nMemory of a server whose waiters are long polls, each on its own connection (without the "+
		"memory of the kernel).")
	return printFootprints(w, all, goalConnected)
}

// printStreams prints the memory per event stream.
func printStreams(w io.Writer, all []footprint) error {
	fmt.Fprintln(w, "\nMemory of a server whose waiters are event streams, each on its own connection (without the "+
		"memory of the kernel).")
	return printFootprints(w, all, goalStream)
}

func printFootprints(w io.Writer, all []footprint, goalWaiter int) error {
	t := newTable(w)
	fmt.Fprintln(t, "pending\twaiters\tresident MB\tbytes each, since the line above\tgoal")
	for i, f := range all {
		each, bound := "", ""
		if i > 0 {
			last := all[i-1]
			n, goal := f.Pending-last.Pending, goalAlone
			if f.Waiters > 0 {
				n, goal = f.Waiters, goalWaiter
			}
			if n > 0 {
				each = short(float64(f.Resident-last.Resident) / float64(n))
				bound = fmt.Sprintf("≤ %d", goal)
			}
		}
		fmt.Fprintf(t, "%d\t%d\t%.1f\t%s\t%s\n", f.Pending, f.Waiters, float64(f.Resident)/1e6, each, bound)
	}
	return t.Flush()
}
