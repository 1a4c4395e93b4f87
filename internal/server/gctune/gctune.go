// Package gctune adjusts the garbage collector to the size of the heap.
//
// A server allocates many small, short-lived objects. With a small heap, Go's default
// collects dozens of times a second. A constant percentage would be less code, but fits
// only one size of the heap. The table has the relative CPU time of a cycle, a question
// with its answer, in go run ./test/bench with 64 runs. It also has the heap with 150 MB in
// use, as for 10,000 waiting connections:
//
//	              CPU of a cycle   heap
//	this package  1                350 MB
//	100 %         1.25 to 1.5      330 MB
//	400 %         1.08 to 1.16     730 MB
//	800 %         1 to 1.06        1480 MB
//
// A memory limit would bound the heap as well, but above the limit the collector would run
// all the time.
package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Headroom is the number of bytes that may be allocated between two collections of a small heap. More
// headroom gained little on go run ./test/bench.
const Headroom = 128 << 20

// Start allows [Headroom] to be allocated between two collections. With a larger heap, it allows as much as
// is in use. stop restores the earlier percentage. If the environment variable GOGC is set, Start does
// nothing.
func Start() (stop func()) {
	if _, ok := os.LookupEnv("GOGC"); ok {
		return func() {}
	}
	t := &tuner{headroom: Headroom}
	t.percent = t.percentFor(inUse())
	t.before = debug.SetGCPercent(t.percent)
	t.watch()
	return sync.OnceFunc(t.stop)
}

type tuner struct {
	headroom uint64
	before   int // the percentage before Start

	mu      sync.Mutex
	percent int // the present percentage
	stopped bool
}

// defaultMinimum is the size at which Go first collects a heap with a percentage of 100.
// The size is proportional to the percentage.
const defaultMinimum = 4 << 20

// percentFor returns the percentage that leaves the headroom when used bytes are in use. The percentage is at
// least Go's default. It is at most the percentage that makes Go's minimum heap as large as the headroom.
func (t *tuner) percentFor(used uint64) int {
	const goDefault = 100
	most := max(goDefault, t.headroom*goDefault/defaultMinimum)
	return int(min(max(goDefault, t.headroom*goDefault/max(used, 1)), most))
}

// inUse returns the bytes to which Go applies its percentage: the live heap after the last
// collection, stacks and globals.
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

// A sentinel is unreachable as soon as watch returns, so its cleanup runs after the next
// collection.
type sentinel struct{ _ *sentinel }

func (t *tuner) watch() {
	runtime.AddCleanup(&sentinel{}, (*tuner).collected, t)
}

// collected adjusts the percentage after a collection. Setting the percentage stops the
// world for a moment, so changes of up to a tenth are skipped.
func (t *tuner) collected() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	if p := t.percentFor(inUse()); p < t.percent*9/10 || p > t.percent*11/10 {
		debug.SetGCPercent(p)
		t.percent = p
	}
	t.watch()
}

func (t *tuner) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	debug.SetGCPercent(t.before)
}
