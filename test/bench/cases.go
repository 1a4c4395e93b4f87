package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// A plan contains the parameters of all measurements.
type plan struct {
	duration time.Duration // of one case in one round
	rounds   int
	runs     []int // numbers of concurrent runs
	pending  int   // asks that are pending before a measurement
	dir      string
	patience time.Duration // how long to wait for an idle machine

	memory    []int // numbers of pending asks at which memory is measured
	waiters   int   // how many of them have a waiter in the process
	connected int   // long polls at a server, for its memory
	followers int   // event streams for the fan-out
	recovery  []int // numbers of pending asks at which the process is killed
	settled   int   // asks for the growth of the database

	others []peer   // the peers to measure
	peers  *peerSet // those that run; nil before they are started

	results *document // for -docs; else nil

	large dataset
	data  string // a database with the large dataset, made if it does not exist; "" for a temporary one
}

// A key identifies a case: a contender, its place and the number of concurrent
// runs.
type key struct {
	contender, place string
	runs             int
}

// A report contains the measurements of all cycles, by case and round.
type report map[key]map[int]measurement

// measureCycles measures all contenders and peers in each round, with each
// number of runs. Their order rotates, so that none is always first. A round
// without a measurement of a peer does not count for its ratios.
func measureCycles(ctx context.Context, p plan, progress io.Writer) (report, error) {
	all, patience := report{}, patience{p.patience}
	for round := range p.rounds {
		for _, runs := range p.runs {
			inRound := slices.Concat(contenders, p.peers.contenders())
			for i := range inRound {
				patience.wait(ctx)
				c := inRound[(i+round)%len(inRound)]
				if err := all.measure(ctx, c, p, key{c.name, c.place, runs}, round, progress); err != nil {
					return nil, fmt.Errorf("%d runs at once, round %d: %w", runs, round+1, err)
				}
			}
		}
		fmt.Fprintf(progress, "bench: round %d of %d\n", round+1, p.rounds)
	}
	return all, nil
}

// measure measures one case once. The failure of a peer is not an error, unless ctx has
// ended.
func (r report) measure(ctx context.Context, c contender, p plan, k key, round int, progress io.Writer) error {
	one := func() (measurement, error) { return measure(ctx, c, p, k.runs) }
	if c.place == peerPlace {
		one = func() (measurement, error) { return p.peers.measure(ctx, c.name, p, k.runs) }
	}
	m, err := one()
	if err != nil && c.place == peerPlace && ctx.Err() == nil {
		p.peers.failed(ctx, c.name, err, progress)
		return nil
	}
	if err != nil {
		return err
	}
	if r[k] == nil {
		r[k] = map[int]measurement{}
	}
	r[k][round] = m
	return nil
}

// A quantity returns one number of a measurement.
type quantity func(measurement) float64

func perSecond(m measurement) float64 { return m.PerSecond }
func timeEach(m measurement) float64  { return 1e3 / m.PerSecond }
func p50(m measurement) float64       { return millis(m.P50) }
func p99(m measurement) float64       { return millis(m.P99) }
func cpu(m measurement) float64       { return m.CPU.Seconds() * 1e6 }
func others(m measurement) float64    { return m.Others }

// of returns a quantity of a case for each round.
func (r report) of(k key, q quantity) map[int]float64 {
	out := map[int]float64{}
	for round, m := range r[k] {
		out[round] = q(m)
	}
	return out
}

// spread returns the median and the range of a quantity over all rounds.
func (r report) spread(k key, q quantity) spread {
	var values []float64
	for _, v := range r.of(k, q) {
		values = append(values, v)
	}
	return spreadOf(values)
}

// ratio returns the spread of the values of case k, divided by those of the contender by for
// the same place and number of runs. Values are divided round by round.
func (r report) ratio(k key, by string, q quantity) spread {
	reference := k
	reference.contender = by
	return spreadOf(ratios(r.of(k, q), r.of(reference, q)))
}

// keys returns the measured cases in the order of the table, by number of runs and then by
// contender. Those of peers are not among them.
func (r report) keys(p plan) []key {
	var keys []key
	for _, runs := range p.runs {
		for _, c := range contenders {
			if k := (key{c.name, c.place, runs}); r[k] != nil {
				keys = append(keys, k)
			}
		}
	}
	return slices.Clip(keys)
}
