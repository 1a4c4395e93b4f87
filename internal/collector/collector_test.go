package collector

import (
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestThePercentLeavesTheRoom(t *testing.T) {
	const mb = 1 << 20
	room := &tuner{room: 96 * mb}
	for _, c := range []struct {
		used uint64
		want int
	}{
		{0, 2400}, // Go's least heap is 4 MB for each hundred
		{mb, 2400},
		{4 * mb, 2400},
		{8 * mb, 1200},
		{48 * mb, 200},
		{96 * mb, 100},
		{960 * mb, 100}, // as much again as is in use, and not more
	} {
		got := room.percent(c.used)
		if got != c.want {
			t.Errorf("%d MB in use: got %d %%, want %d", c.used/mb, got, c.want)
		}
		if left := max(c.used, 4*mb) * uint64(got) / 100; c.used > 0 && left < 96*mb {
			t.Errorf("%d MB in use: %d %% leaves %d MB", c.used/mb, got, left/mb)
		}
	}
	if got := (&tuner{}).percent(0); got != 100 {
		t.Errorf("no room at all: got %d %%, want Go's own", got)
	}
}

// kept is what a server has in use.
var kept [][]byte

func TestThePercentFollowsTheHeap(t *testing.T) {
	if _, given := os.LookupEnv("GOGC"); given {
		t.Skip("GOGC is set, so nothing is tuned")
	}
	before := current()
	stop := Serve()
	small := current()
	if small <= 100 {
		t.Errorf("a small heap: got %d %%, want more than Go's own", small)
	}
	hold()
	if !collected(func(percent int) bool { return percent == 100 }) {
		t.Errorf("a large heap: still %d %%, want 100", current())
	}
	kept = nil
	if !collected(func(percent int) bool { return percent > 100 }) {
		t.Errorf("small again: still %d %%", current())
	}
	stop()
	stop()
	if got := current(); got != before {
		t.Errorf("stopped: got %d %%, want %d as before", got, before)
	}

	stop = Serve()
	hold()
	if !collected(func(percent int) bool { return percent == 100 }) {
		t.Errorf("large again: still %d %%, want 100", current())
	}
	stop()
	kept = nil
	if collected(func(percent int) bool { return percent != before }) {
		t.Errorf("a collection after the end set %d %%", current())
	}
}

func hold() {
	for range 3 {
		kept = append(kept, make([]byte, Room))
	}
}

func TestGOGCWins(t *testing.T) {
	t.Setenv("GOGC", "100")
	before := current()
	defer Serve()()
	if got := current(); got != before {
		t.Errorf("got %d %%, want %d", got, before)
	}
}

// collected collects garbage until the percentage is want, and reports whether it became so.
// Clean-ups run beside the program.
func collected(as func(percent int) bool) bool {
	for range 200 {
		runtime.GC()
		if as(current()) {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// current is what the percent is.
func current() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
