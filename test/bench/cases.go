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
	duration time.Duration // the duration of one case in one round, in slices
	rounds   int
	runs     []int    // numbers of concurrent runs
	pending  int      // asks that are pending before a measurement
	cases    []string // names of the contenders to measure; empty for all
	dir      string
	patience time.Duration // how long to wait for an idle machine

	memory    []int // numbers of pending asks at which memory is measured
	waiters   int   // the number of pending asks that have a waiter in the process
	connected int   // long polls at a server, for its memory
	followers int   // event streams for the fan-out
	recovery  []int // numbers of pending asks at which the process is killed
	settled   int   // asks for the growth of the database
	hosted    int   // hosted runs that wait for people

	others []peer   // the peers to measure
	peers  *peerSet // the running peers; nil before they are started

	results *document // the document for -docs, or nil

	large dataset
	data  string // a database with the large dataset, made if it does not exist; "" for a temporary one
}

// A key identifies a case: a contender, its place and the number of concurrent
// runs.
type key struct {
	contender, place string
	runs             int
}

// A report contains the measurements of all cycles, keyed by case and round.
type report map[key]map[int]measurement

// measureCycles measures all contenders and peers in each round, with each number of runs. The order of the
// contenders rotates, so that no contender is always first. A round without a measurement of a peer does not
// count for the ratios of the peer.
func measureCycles(ctx context.Context, p plan, progress io.Writer) (report, error) {
	all, idle := report{}, &patience{p.patience}
	for round := range p.rounds {
		for _, runs := range p.runs {
			for _, place := range []string{inProcess, byPost, remote} {
				if err := all.measurePlace(ctx, p.contendersIn(place), p, runs, round, idle); err != nil {
					return nil, fmt.Errorf("%d concurrent runs, round %d: %w", runs, round+1, err)
				}
			}
			for _, c := range rotated(p.peers.contenders(), round) {
				idle.wait(ctx)
				if err := all.measurePeer(ctx, c.name, p, runs, round, progress); err != nil {
					return nil, fmt.Errorf("%d concurrent runs, round %d: %w", runs, round+1, err)
				}
			}
		}
		fmt.Fprintf(progress, "bench: round %d of %d\n", round+1, p.rounds)
	}
	return all, nil
}

// contendersIn returns the contenders of a place that are to be measured.
func (p plan) contendersIn(place string) (all []contender) {
	for _, c := range contenders {
		if c.place == place && (len(p.cases) == 0 || slices.Contains(p.cases, c.name)) {
			all = append(all, c)
		}
	}
	return all
}

// rotated returns the contenders, beginning with number n modulo their number.
func rotated(all []contender, n int) []contender {
	if len(all) == 0 {
		return nil
	}
	n %= len(all)
	return slices.Concat(all[n:], all[:n])
}

// measurePlace measures the contenders of a place in a round, and adds the measurements to the report.
func (r report) measurePlace(
	ctx context.Context, contenders []contender, p plan, runs, round int, idle *patience,
) error {
	inOrder := rotated(contenders, round)
	all, err := measurePlace(ctx, inOrder, p, runs, idle)
	if err != nil {
		return err
	}
	for i, c := range inOrder {
		r.add(key{c.name, c.place, runs}, round, all[i])
	}
	return nil
}

// measurePeer measures a peer in a round, and adds the measurement to the report. The failure of a peer is
// not an error, unless ctx has ended.
func (r report) measurePeer(ctx context.Context, name string, p plan, runs, round int, progress io.Writer) error {
	m, err := p.peers.measure(ctx, name, p, runs)
	if err != nil && ctx.Err() == nil {
		p.peers.failed(ctx, name, err, progress)
		return nil
	}
	if err != nil {
		return err
	}
	r.add(key{name, peerPlace, runs}, round, m)
	return nil
}

func (r report) add(k key, round int, m measurement) {
	if r[k] == nil {
		r[k] = map[int]measurement{}
	}
	r[k][round] = m
}

// A quantity is a function that returns one number of a measurement.
type quantity func(measurement) float64

func perSecond(m measurement) float64 { return m.PerSecond }
func timeEach(m measurement) float64  { return 1e3 / m.PerSecond }
func p50(m measurement) float64       { return millis(m.P50) }
func p99(m measurement) float64       { return millis(m.P99) }
func cpu(m measurement) float64       { return m.CPU.Seconds() * 1e6 }
func others(m measurement) float64    { return m.Others }

// of returns a quantity of a case, keyed by round.
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

// ratio divides a quantity of case k by the same quantity of the contender by, pair by pair. Both contenders
// have the same place and number of runs. The result has the median of all pairs, and the lowest and the
// highest median of a round.
func (r report) ratio(k key, by string, q quantity) spread {
	reference := k
	reference.contender = by
	var all, medians []float64
	for round := range r[k] {
		inRound := pairRatios(r[k][round].pairs, r[reference][round].pairs, q)
		if len(inRound) > 0 {
			all, medians = append(all, inRound...), append(medians, spreadOf(inRound).Median)
		}
	}
	rounds := spreadOf(medians)
	return spread{spreadOf(all).Median, rounds.Min, rounds.Max}
}

// pairRatios divides a quantity of pairs by the quantity of the same pairs of a reference. It omits pairs
// whose divisor is zero or missing.
func pairRatios(pairs, reference []measurement, q quantity) (all []float64) {
	for i := range min(len(pairs), len(reference)) {
		if by := q(reference[i]); by != 0 {
			all = append(all, q(pairs[i])/by)
		}
	}
	return all
}

// keys returns the measured cases in the order of the table, by number of runs and then by contender. It
// omits the cases of peers.
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
