// Package collector tunes the garbage collector for a server that lives on small,
// short-lived things.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Room is what a server can spare on any machine that it runs on. More gained little
// in go run ./test/bench.
const Room = 128 << 20

// Serve lets Room be allocated between two collections, or as much as is in use when
// that is more. Go alone would collect a small heap dozens of times a second; a
// large one keeps its pace. It stays in force until stop is called. GOGC in the
// environment wins: then it does nothing.
func Serve() (stop func()) {
	if _, given := os.LookupEnv("GOGC"); given {
		return func() {}
	}
	t := &tuner{room: Room}
	t.set = t.percent(inUse())
	t.before = debug.SetGCPercent(t.set)
	t.watch()
	return sync.OnceFunc(t.stop)
}

type tuner struct {
	room   uint64
	before int // what the percent was

	mu    sync.Mutex
	set   int  // what it is
	ended bool // nothing is set any more
}

// defaultMinimum is what Go lets a heap grow to before it collects at all, for each
// hundred percent.
const defaultMinimum = 4 << 20

// percent is the setting that leaves the room, when so much is in use. It is never
// less than Go's own, nor so much that Go's least heap is more than the room.
func (t *tuner) percent(used uint64) int {
	const usual = 100
	most := max(usual, t.room*usual/defaultMinimum)
	return int(min(max(usual, t.room*usual/max(used, 1)), most))
}

// inUse is what the last collection found alive, and what it began at: Go counts its
// percent of both.
func inUse() (bytes uint64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			bytes += s.Value.Uint64()
		}
	}
	return bytes
}

// A sentinel is garbage from the start: each collection finds one, and its clean-up
// is how we learn of it.
type sentinel struct{ _ *sentinel }

func (t *tuner) watch() {
	runtime.AddCleanup(&sentinel{}, (*tuner).collected, t)
}

// collected follows the heap after a collection. To set the percent stops the world
// for a moment, so a small change is left.
func (t *tuner) collected() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if p := t.percent(inUse()); p < t.set*9/10 || p > t.set*11/10 {
		debug.SetGCPercent(p)
		t.set = p
	}
	t.watch()
}

func (t *tuner) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	debug.SetGCPercent(t.before)
}
