package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A spread is the median and the range of several measurements.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of values. The spread of no values is zero.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}
}

// String returns the median and the range, such as "17.9k [15.8k..19.0k]".
func (s spread) String() string {
	return fmt.Sprintf("%s [%s..%s]", short(s.Median), short(s.Min), short(s.Max))
}

// short formats a number in a few digits, such as 0.28, 42.4, 1234 or 26.9k.
func short(v float64) string {
	switch {
	case v >= 99_950:
		return fmt.Sprintf("%.0fk", v/1000)
	case v >= 9_995:
		return fmt.Sprintf("%.1fk", v/1000)
	case v >= 100 || v == 0:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percentile returns the smallest value v for which at least the fraction p of the values is at most v. It
// returns zero if there are no values.
func percentile[T cmp.Ordered](sorted []T, p float64) T {
	if len(sorted) == 0 {
		var none T
		return none
	}
	rank := int(p*float64(len(sorted))+0.999999) - 1 // nearest rank; less than 1 is added because of rounding errors
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// ratios divides the values of two cases that are keyed by round. It omits rounds in which a value is missing
// or the divisor is zero.
func ratios(of, by map[int]float64) []float64 {
	var out []float64
	for _, round := range slices.Sorted(maps.Keys(of)) {
		if b := by[round]; b != 0 {
			out = append(out, of[round]/b)
		}
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
