package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A subject is an implementation of the cycle: ask, wait, answer. It may run in
// this process or over HTTP.
type subject interface {
	// ask returns when the question is durable.
	ask(ctx context.Context) (id string, err error)
	// wait returns when the run has received the answer.
	wait(ctx context.Context, id string) error
	// answer returns when the answer is durable.
	answer(ctx context.Context, id string) error
	close() error
}

// A contender is a subject to measure, in one of the places.
type contender struct {
	name  string
	place string // the place of the agent and the person
	open  func(ctx context.Context, path string) (subject, error)
}

// The places of agent and person: both are in the process of the engine, only the agent is, or both are
// clients over HTTP.
const (
	inProcess = "in process"
	byPost    = "answer by POST"
	remote    = "remote"
)

// contenders lists the contenders in the order in which they are measured and printed.
var contenders = []contender{
	{"bare", inProcess, openBare},
	{"record", inProcess, recordOf(openProduct)},
	{"askback", inProcess, openProduct},
	{"bare", byPost, withHTTPAnswers(openBare)},
	{"record", byPost, withHTTPAnswers(recordOf(openProductWithHTTPAnswers))},
	{"askback", byPost, openProductWithHTTPAnswers},
	{"bare", remote, overHTTP(openBare)},
	{"record", remote, overHTTP(recordOf(openRemoteProduct))},
	{"askback", remote, openRemoteProduct},
	{"mcp", remote, openMCPProduct},
}

// A measurement is the result of one contender in one round.
type measurement struct {
	PerSecond float64
	P50, P99  time.Duration // from sending an answer until the run has received it
	CPU       time.Duration // processor time of this process, per cycle
	Others    float64       // processors that other processes used meanwhile

	pairs []measurement // the measurements of each pair of slices; see measurePlace
}

// sliceLength is the length of a slice of a contender. It is short, so that the compared slices are close in
// time, because the speed of the disk and of the processors varies within seconds. It is long enough that its
// last cycles, which run alone, matter little.
const sliceLength = 250 * time.Millisecond

// pairsIn returns the number of pairs of slices of a contender in one round, and the length
// of a slice.
func pairsIn(d time.Duration) (pairs int, slice time.Duration) {
	pairs = int(max(1, (d+sliceLength)/(2*sliceLength)))
	return pairs, d / time.Duration(2*pairs)
}

// measurePlace measures contenders on new databases with the given number of concurrent runs, in slices: A B
// C C B A. So the pairs of slices of all contenders have the same mean time.
func measurePlace(
	ctx context.Context, contenders []contender, p plan, runs int, idle *patience,
) (all []measurement, err error) {
	subjects := make([]*openSubject, len(contenders))
	for i, c := range contenders {
		if subjects[i], err = openContender(ctx, c, p); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, subjects[i].close()) }()
		if _, err := cycles(ctx, subjects[i], runs, p.duration/10); err != nil {
			return nil, fmt.Errorf("warm up %s, %s: %w", c.name, c.place, err)
		}
	}
	pairs, length := pairsIn(p.duration)
	total := make([]tally, len(contenders))
	all = make([]measurement, len(contenders))
	for range pairs {
		idle.wait(ctx)
		pair := make([]tally, len(contenders))
		for step := range 2 * len(contenders) {
			i := min(step, 2*len(contenders)-1-step)
			if err := pair[i].measure(ctx, subjects[i], runs, length); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", contenders[i].name, contenders[i].place, err)
			}
		}
		for i := range pair {
			total[i].add(pair[i])
			all[i].pairs = append(all[i].pairs, pair[i].measurement())
		}
	}
	for i := range total {
		pairs := all[i].pairs
		all[i] = total[i].measurement()
		all[i].pairs = pairs
	}
	return all, nil
}

// An openSubject is the subject of a contender with its folder.
type openSubject struct {
	subject
	dir string
}

func openContender(ctx context.Context, c contender, p plan) (*openSubject, error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-"+c.name+"-*")
	if err != nil {
		return nil, err
	}
	s, err := c.open(ctx, filepath.Join(dir, "cycle.db"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s, %s: %w", c.name, c.place, err), os.RemoveAll(dir))
	}
	o := &openSubject{s, dir}
	if err := fill(ctx, s, p.pending); err != nil {
		return nil, errors.Join(fmt.Errorf("fill %s: %w", c.name, err), o.close())
	}
	return o, nil
}

func (o *openSubject) close() error { return errors.Join(o.subject.close(), os.RemoveAll(o.dir)) }

// A tally is the sum of several slices of a contender.
type tally struct {
	latencies   []time.Duration
	took, spent time.Duration
	others      time.Duration // the time of all processors
}

// measure adds cycles of the duration d.
func (t *tally) measure(ctx context.Context, s subject, runs int, d time.Duration) error {
	runtime.GC() // so that the garbage of other cases is not collected in this slice
	before, start := readUsage(), time.Now()
	latencies, err := cycles(ctx, s, runs, d)
	took, own := time.Since(start), readUsage().own
	t.add(tally{latencies, took, own - before.own, time.Duration(before.others(took) * float64(took))})
	return err
}

func (t *tally) add(other tally) {
	t.latencies = append(t.latencies, other.latencies...)
	t.took, t.spent, t.others = t.took+other.took, t.spent+other.spent, t.others+other.others
}

func (t *tally) measurement() measurement {
	slices.Sort(t.latencies)
	return measurement{
		PerSecond: float64(len(t.latencies)) / t.took.Seconds(),
		P50:       percentile(t.latencies, 0.50), P99: percentile(t.latencies, 0.99),
		CPU: t.spent / time.Duration(max(len(t.latencies), 1)), Others: t.others.Seconds() / t.took.Seconds(),
	}
}

// measureSubject warms up an open subject, and then measures its cycles.
func measureSubject(ctx context.Context, s subject, p plan, runs int) (measurement, error) {
	if _, err := cycles(ctx, s, runs, p.duration/10); err != nil {
		return measurement{}, fmt.Errorf("warm up: %w", err)
	}
	var t tally
	if err := t.measure(ctx, s, runs, p.duration); err != nil {
		return measurement{}, fmt.Errorf("measure: %w", err)
	}
	return t.measurement(), nil
}

// fill asks n questions that are not answered.
func fill(ctx context.Context, s subject, n int) error {
	const atOnce = 64
	return each(atOnce, func(worker int) error {
		for i := worker; i < n; i += atOnce {
			if _, err := s.ask(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// cycles runs cycles for the duration d, with the given number of concurrent
// runs. It returns the latencies from sending an answer until its run has
// received it.
func cycles(ctx context.Context, s subject, runs int, d time.Duration) ([]time.Duration, error) {
	ctx, stop := context.WithTimeout(ctx, d+time.Minute) // so that a failing run ends
	defer stop()
	end := time.Now().Add(d)
	waited := make([][]time.Duration, runs)
	err := each(runs, func(i int) (err error) {
		waited[i], err = agent(ctx, s, end)
		return err
	})
	return slices.Concat(waited...), err
}

// agent runs one cycle after another until end, with a person in another
// goroutine. The next cycle begins when the agent has the answer and the person
// has the response.
func agent(ctx context.Context, s subject, end time.Time) (latencies []time.Duration, err error) {
	asked, sent := make(chan string), make(chan sentAnswer)
	defer close(asked)
	go person(ctx, s, asked, sent)
	for time.Now().Before(end) {
		id, err := s.ask(ctx)
		if err != nil {
			return latencies, fmt.Errorf("ask: %w", err)
		}
		asked <- id
		waitErr := s.wait(ctx, id)
		has := time.Now()
		a := <-sent
		if err := errors.Join(waitErr, a.err); err != nil {
			return latencies, fmt.Errorf("wait for the answer: %w", err)
		}
		latencies = append(latencies, has.Sub(a.at))
	}
	return latencies, nil
}

// A sentAnswer is the time at which an answer was sent, and the error of sending the answer.
type sentAnswer struct {
	at  time.Time
	err error
}

func person(ctx context.Context, s subject, asked <-chan string, sent chan<- sentAnswer) {
	for id := range asked {
		at := time.Now()
		sent <- sentAnswer{at, s.answer(ctx, id)}
	}
}

// each calls do concurrently with the numbers 0 to n-1, and joins the errors.
func each(n int, do func(int) error) error {
	var (
		workers sync.WaitGroup
		errs    = make([]error, n)
	)
	for i := range n {
		workers.Go(func() { errs[i] = do(i) })
	}
	workers.Wait()
	return errors.Join(errs...)
}
