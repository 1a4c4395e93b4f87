package main

import (
	"os"
	"strings"
	"testing"
)

func TestGrowthIsDividedBySettledAsks(t *testing.T) {
	p := plan{dir: t.TempDir()}
	g, err := measureGrowth(t.Context(), p, 200)
	if err != nil || g.Asks != 200 || g.each() < 100 || g.each() > 10_000 {
		t.Errorf("got %+v, %v", g, err)
	}
	if left, err := os.ReadDir(p.dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	var out strings.Builder
	for bytes, want := range map[int64]string{goalGrowth: "held", goalGrowth + 1: "MISSED"} {
		out.Reset()
		if err := printGrowth(&out, growth{"growth", 1, bytes}); err != nil ||
			!strings.Contains(out.String(), "(goal ≤ 1500): "+want) {
			t.Errorf("%d bytes: got %q, %v", bytes, out.String(), err)
		}
	}
}
