package main

import (
	"cmp"
	"slices"
)

// A goal contains two bounds of a ratio: the gate is required and the stretch
// is desired. See docs/bench.md, "Goals".
type goal struct {
	what          string
	quantity      quantity
	by            string // the reference, measured in the same round
	runs          []int
	place         string
	gate, stretch float64
	atMost        bool   // an upper bound; otherwise a lower bound
	of            string // the measured contender; "" means askback
}

// goals are all goals. Askback is compared with bare only if the answers to Askback and to bare are sent over
// HTTP.
var goals = []goal{
	{"cycles/s", perSecond, "record", []int{1, 16, 64}, inProcess, 0.8, 0.9, false, ""},
	{"cycles/s", perSecond, "record", []int{1, 16, 64}, byPost, 0.8, 0.9, false, ""},
	{"cycles/s", perSecond, "record", []int{1, 16, 64}, remote, 0.8, 0.9, false, ""},
	{"cycles/s", perSecond, "bare", []int{1}, byPost, 0.7, 0.85, false, ""},
	{"cycles/s", perSecond, "bare", []int{16, 64}, byPost, 0.55, 0.7, false, ""},
	{"cycles/s", perSecond, "bare", []int{1, 16}, remote, 0.6, 0.75, false, ""},
	{"cycles/s", perSecond, "bare", []int{64}, remote, 0.65, 0.75, false, ""},
	{"p50", p50, "bare", []int{1}, byPost, 1.5, 1.2, true, ""},
	{"p50", p50, "bare", []int{1}, remote, 1.5, 1.2, true, ""},
	{"p99", p99, "bare", []int{64}, byPost, 2, 1.5, true, ""},
	{"p99", p99, "bare", []int{64}, remote, 2, 1.5, true, ""},
	{"MCP, time", timeEach, "askback", []int{1, 16, 64}, remote, 1.3, 1.2, true, "mcp"},
}

// A verdict is a goal with the measured ratio.
type verdict struct {
	goal
	runs   int
	got    spread
	others float64 // processors that other processes used, in the more disturbed measurement
}

// verdicts returns the results of all measured goals.
func (r report) verdicts() []verdict {
	var out []verdict
	for _, g := range goals {
		for _, runs := range g.runs {
			k, by := key{cmp.Or(g.of, "askback"), g.place, runs}, key{g.by, g.place, runs}
			if r[k] != nil && r[by] != nil {
				load := max(r.spread(k, others).Median, r.spread(by, others).Median)
				out = append(out, verdict{g, runs, r.ratio(k, g.by, g.quantity), load})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b verdict) int { return a.runs - b.runs })
	return out
}

// held reports whether the ratio meets a bound.
func (v verdict) held(bound float64) bool {
	if v.atMost {
		return v.got.Median <= bound
	}
	return v.got.Median >= bound
}

// text returns the result in words. It is "disturbed" if other processes used
// more than maxOthers processors.
func (v verdict) text() string {
	switch {
	case v.others > maxOthers:
		return "disturbed"
	case v.held(v.stretch):
		return "stretch held"
	case v.held(v.gate):
		return "held"
	}
	return "MISSED"
}

// sign returns the comparison sign of the bound.
func (g goal) sign() string {
	if g.atMost {
		return "≤"
	}
	return "≥"
}
