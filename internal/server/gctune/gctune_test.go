package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestPercentLeavesTheHeadroom(t *testing.T) {
	const mb = 1 << 20
	tuner96 := &tuner{headroom: 96 * mb}
	for _, c := range []struct {
		used uint64
		want int
	}{
		{0, 2400}, // Go's minimum heap is 4 MB for each 100 percent
		{mb, 2400},
		{4 * mb, 2400},
		{8 * mb, 1200},
		{48 * mb, 200},
		{96 * mb, 100},
		{960 * mb, 100}, // Go's default
	} {
		got := tuner96.percentFor(c.used)
		if got != c.want {
			t.Errorf("%d MB in use: got %d %%, want %d", c.used/mb, got, c.want)
		}
		if left := max(c.used, 4*mb) * uint64(got) / 100; c.used > 0 && left < 96*mb {
			t.Errorf("%d MB in use: %d %% leaves %d MB", c.used/mb, got, left/mb)
		}
	}
	if got := (&tuner{}).percentFor(0); got != 100 {
		t.Errorf("no headroom: got %d %%, want Go's default", got)
	}
}

// live keeps memory in use.
var live [][]byte

// After stop, the percentage is the same as before Start, and collections do not change it.
func TestPercentDependsOnTheSizeOfTheHeap(t *testing.T) {
	withoutGOGC(t)
	before := current()
	stop := Start()
	small := current()
	if small <= 100 {
		t.Errorf("a small heap: got %d %%, want more than Go's default", small)
	}
	allocate()
	if !collected(func(percent int) bool { return percent == 100 }) {
		t.Errorf("a large heap: still %d %%, want 100", current())
	}
	live = nil
	if !collected(func(percent int) bool { return percent > 100 }) {
		t.Errorf("small again: still %d %%", current())
	}
	stop()
	stop()
	if got := current(); got != before {
		t.Errorf("stopped: got %d %%, want %d as before", got, before)
	}

	stop = Start()
	allocate()
	if !collected(func(percent int) bool { return percent == 100 }) {
		t.Errorf("large again: still %d %%, want 100", current())
	}
	stop()
	live = nil
	if collected(func(percent int) bool { return percent != before }) {
		t.Errorf("a collection after stop set %d %%", current())
	}
}

// withoutGOGC unsets GOGC and uses Go's default percentage until the end of a test.
func withoutGOGC(t *testing.T) {
	if percent, ok := os.LookupEnv("GOGC"); ok {
		t.Setenv("GOGC", percent) // restores GOGC at the end of the test
		if err := os.Unsetenv("GOGC"); err != nil {
			t.Fatal(err)
		}
	}
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

func allocate() {
	for range 3 {
		live = append(live, make([]byte, Headroom))
	}
}

func TestGOGCTakesPrecedence(t *testing.T) {
	t.Setenv("GOGC", "100")
	before := current()
	defer Start()()
	if got := current(); got != before {
		t.Errorf("got %d %%, want %d", got, before)
	}
}

// collected runs garbage collections until the percentage satisfies ok. It returns false if 200 collections
// are not enough. The runtime runs cleanups in a separate goroutine.
func collected(ok func(percent int) bool) bool {
	for range 200 {
		runtime.GC()
		if ok(current()) {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// current returns the present GC percentage.
func current() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
