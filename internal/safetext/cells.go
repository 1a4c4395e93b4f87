package safetext

import (
	"iter"

	"github.com/rivo/uniseg"
)

// Clusters walks once over the characters of s as people see them (UAX #29).
func Clusters(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for state := -1; s != ""; {
			var cluster string
			cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
			if !yield(cluster) {
				return
			}
		}
	}
}

// Cells returns how many terminal cells r takes at most, where a terminal draws every
// rune by itself: many know nothing of jamo in a row and of skin tones.
func Cells(r rune) int {
	switch {
	case r >= ' ' && r <= '~':
		return 1
	case isSkinTone(r):
		return 2
	}
	return uniseg.StringWidth(string(r))
}
