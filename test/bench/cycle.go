package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	place string // of the agent and the person
	open  func(ctx context.Context, path string) (subject, error)
}

// The places of agent and person. Both are in the process of the engine, or
// only the agent is, or both are clients over HTTP.
const (
	inProcess = "in process"
	byPost    = "answer by POST"
	remote    = "remote"
)

// contenders are in the order in which they are measured and printed.
var contenders = []contender{
	{"bare", inProcess, openBare},
	{"record", inProcess, openRecord},
	{"askback", inProcess, openProduct},
	{"bare", byPost, withHTTPAnswers(openBare)},
	{"record", byPost, withHTTPAnswers(openRecord)},
	{"askback", byPost, openProductWithHTTPAnswers},
	{"bare", remote, overHTTP(openBare)},
	{"record", remote, overHTTP(openRecord)},
	{"askback", remote, openRemoteProduct},
	{"mcp", remote, openMCPProduct},
}

// A measurement is the result of one contender in one round.
type measurement struct {
	PerSecond float64
	P50, P99  time.Duration // from sending an answer until the run has received it
	CPU       time.Duration // of this process, per cycle
	Others    float64       // processors that other processes used meanwhile
}

// measure runs cycles of one contender with the given number of concurrent
// runs, on a new database.
func measure(ctx context.Context, c contender, p plan, runs int) (m measurement, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-"+c.name+"-*")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := c.open(ctx, filepath.Join(dir, "cycle.db"))
	if err != nil {
		return m, fmt.Errorf("open %s, %s: %w", c.name, c.place, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := fill(ctx, s, p.pending); err != nil {
		return m, fmt.Errorf("fill %s: %w", c.name, err)
	}
	if m, err = measureSubject(ctx, s, p, runs); err != nil {
		return m, fmt.Errorf("%s, %s: %w", c.name, c.place, err)
	}
	return m, nil
}

// measureSubject warms up an open subject, and then measures its cycles.
func measureSubject(ctx context.Context, s subject, p plan, runs int) (m measurement, err error) {
	if _, err := cycles(ctx, s, runs, p.duration/10); err != nil { // warm up
		return m, fmt.Errorf("warm up: %w", err)
	}
	usage, start := readUsage(), time.Now()
	latencies, err := cycles(ctx, s, runs, p.duration)
	took, spent := time.Since(start), readUsage().own-usage.own
	if err != nil {
		return m, fmt.Errorf("measure: %w", err)
	}
	slices.Sort(latencies)
	return measurement{
		PerSecond: float64(len(latencies)) / took.Seconds(),
		P50:       percentile(latencies, 0.50), P99: percentile(latencies, 0.99),
		CPU: spent / time.Duration(max(len(latencies), 1)), Others: usage.others(took),
	}, nil
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
	asked, sent := make(chan string), make(chan answered)
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

// answered is the time at which an answer was sent, and the error of sending
// it.
type answered struct {
	at  time.Time
	err error
}

func person(ctx context.Context, s subject, asked <-chan string, sent chan<- answered) {
	for id := range asked {
		at := time.Now()
		sent <- answered{at, s.answer(ctx, id)}
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
