package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Waiting hosted runs use no goroutine, and a new process continues them without a delay.
func TestHostedRunsWaitWithoutGoroutines(t *testing.T) {
	h, err := measureHosted(t.Context(), plan{dir: t.TempDir(), rounds: 1}, 50)
	if err != nil {
		t.Fatal(err)
	}
	if h.Runs != 50 || h.Goroutines > 5 || h.Disk <= h.Messages || h.each() > 20_000 || h.Start.Median <= 0 ||
		h.Start.Median > millis(goalHostedStart) {
		t.Errorf("got %+v, %.0f bytes each", h, h.each())
	}
}

// A run that waits for a person takes at most 2.1 kB on the disk, beyond its messages. A run takes 50 bytes
// less in this test with 500 runs than in the benchmark with 10 000. More of the 500 are recent, and so not
// in the index by owner.
func TestWaitingRunTakesAtMostTwoKilobytes(t *testing.T) {
	const runs, limit = 500, goalHostedDisk - 50
	dir := t.TempDir()
	path, empty := filepath.Join(dir, "hosted.db"), filepath.Join(dir, "empty.db")
	for _, at := range []string{empty, path} {
		p, err := openHost(t.Context(), at)
		if err == nil && at == path {
			err = startHosted(t.Context(), p.engine.As(answerer), runs)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
	}
	without, err := sizeOf(empty)
	if err != nil {
		t.Fatal(err)
	}
	with, err := sizeOf(path)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := messagesOf(path, empty)
	if err != nil {
		t.Fatal(err)
	}
	texts := int64(len(hostedPrompt) + len(hostedText) + len(hostedInput))
	if messages < runs*texts || 2*messages > 5*runs*texts {
		t.Errorf("the messages of a run take %d bytes, and their texts %d", messages/runs, texts)
	}
	h := hostedWaiting{Runs: runs, Disk: with - without, Messages: messages}
	if h.each() > limit {
		t.Errorf("a waiting run takes %.0f bytes beyond its messages, which take %d, want at most %d", h.each(),
			messages/runs, limit)
	}
}

func TestHostedGoalsAreMissedAboveTheirBounds(t *testing.T) {
	for _, c := range []struct {
		h    hostedWaiting
		want int
	}{
		{hostedWaiting{Runs: 1, Disk: goalHostedDisk +
			1, Messages: 1, Start: spread{Median: millis(goalHostedStart)}}, 0},
		{hostedWaiting{Runs: 1, Disk: goalHostedDisk +
			2, Messages: 1, Start: spread{Median: millis(goalHostedStart) + 1}, Goroutines: 1}, 3},
	} {
		var out strings.Builder
		if err := printHosted(&out, c.h); err != nil || strings.Count(out.String(), "MISSED") != c.want {
			t.Errorf("got %v\n%s\nwant %d missed", err, out.String(), c.want)
		}
	}
}
