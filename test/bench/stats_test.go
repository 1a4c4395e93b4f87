package main

import (
	"slices"
	"testing"
	"time"
)

func TestSpreadOfReturnsMedianAndRange(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{9, 1, 5}, spread{5, 1, 9}},
		{[]float64{4, 1, 2, 100}, spread{3, 1, 100}},
	} {
		if got := spreadOf(c.values); got != c.want {
			t.Errorf("spread of %v: got %v, want %v", c.values, got, c.want)
		}
	}
	values := []float64{2, 1}
	if spreadOf(values); values[0] != 2 {
		t.Error("the values were sorted in place")
	}
}

func TestPercentileReturnsTheNearestRank(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, c := range []struct {
		sorted []time.Duration
		p      float64
		want   time.Duration
	}{
		{nil, 0.5, 0},
		{[]time.Duration{7}, 0.99, 7},
		{[]time.Duration{1, 2}, 0.5, 1},
		{[]time.Duration{1, 2, 3}, 0.5, 2},
		{hundred, 0, 1},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
	} {
		if got := percentile(c.sorted, c.p); got != c.want {
			t.Errorf("%d values at %g: got %d, want %d", len(c.sorted), c.p, got, c.want)
		}
	}
}

func TestRatiosCompareTheSameRound(t *testing.T) {
	of, by := map[int]float64{0: 10, 1: 30, 2: 5}, map[int]float64{0: 5, 1: 10, 3: 1}
	if got, want := ratios(of, by), []float64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := ratios(map[int]float64{0: 1}, map[int]float64{0: 0}); len(got) != 0 {
		t.Errorf("got %v for a round without measurements", got)
	}
}

func TestShortRoundsNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.284: "0.28", 9.5: "9.50", 42.42: "42.4", 830.4: "830", 1234: "1234", 9996: "10.0k", 26_888: "26.9k",
		123_456: "123k",
	} {
		if got := short(v); got != want {
			t.Errorf("%g: got %s, want %s", v, got, want)
		}
	}
}

func TestVerdictComparesRatioWithGateAndStretch(t *testing.T) {
	atLeast, atMost := goal{gate: 0.8, stretch: 0.9}, goal{gate: 2, stretch: 1.5, atMost: true}
	for _, c := range []struct {
		goal goal
		got  float64
		want string
	}{
		{atLeast, 0.79, "MISSED"},
		{atLeast, 0.8, "held"},
		{atLeast, 0.95, "stretch held"},
		{atMost, 2.1, "MISSED"},
		{atMost, 2, "held"},
		{atMost, 1, "stretch held"},
	} {
		if got := (verdict{c.goal, 1, spread{Median: c.got}, 0}).text(); got != c.want {
			t.Errorf("%g: got %s, want %s", c.got, got, c.want)
		}
	}
	if got, want := (verdict{atLeast, 1, spread{Median: 1}, 0.5}).text(), "disturbed"; got != want {
		t.Errorf("disturbed: got %s, want %s", got, want)
	}
}
