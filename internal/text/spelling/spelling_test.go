package spelling_test

import (
	"testing"

	"github.com/askback/askback/internal/text/spelling"
)

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"staging", "staging", 0},
		{"stging", "staging", 1},
		{"staaging", "staging", 1},
		{"staxing", "staging", 1},
		{"stgaing", "staging", 1}, // two letters swapped
		{"größe", "grösse", 2},
		{"kitten", "sitting", 3},
	} {
		if got := spelling.Distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
