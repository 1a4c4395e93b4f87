package main

import (
	"strings"
	"testing"
)

// Hosted runs that wait use no goroutine, and a new process continues them at once.
func TestHostedRunsWaitWithoutGoroutines(t *testing.T) {
	h, err := measureHosted(t.Context(), plan{dir: t.TempDir(), rounds: 1}, 50)
	if err != nil {
		t.Fatal(err)
	}
	if h.Runs != 50 || h.Goroutines > 5 || h.Disk <= h.Messages || h.each() > 20_000 || h.Start.Median <= 0 || h.Start.Median > millis(goalHostedStart) {
		t.Errorf("got %+v, %.0f bytes each", h, h.each())
	}
}

func TestHostedGoalsAreMissedAboveTheirBounds(t *testing.T) {
	for _, c := range []struct {
		h    hostedWaiting
		want int
	}{
		{hostedWaiting{Runs: 1, Disk: goalHostedDisk + 1, Messages: 1, Start: spread{Median: millis(goalHostedStart)}}, 0},
		{hostedWaiting{Runs: 1, Disk: goalHostedDisk + 2, Messages: 1, Start: spread{Median: millis(goalHostedStart) + 1}, Goroutines: 1}, 3},
	} {
		var out strings.Builder
		if err := printHosted(&out, c.h); err != nil || strings.Count(out.String(), "MISSED") != c.want {
			t.Errorf("got %v\n%s\nwant %d missed", err, out.String(), c.want)
		}
	}
}
