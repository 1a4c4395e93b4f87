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

// A subject is one way to have a question asked, waited for and answered. Where
// the agent and the person are is its own affair: a remote form of a subject,
// whose three calls go over HTTP, is another contender.
type subject interface {
	// ask returns when a question is durable.
	ask(ctx context.Context) (id string, err error)
	// wait returns when the run that asked has its answer.
	wait(ctx context.Context, id string) error
	// answer returns when the answer is durable.
	answer(ctx context.Context, id string) error
	close() error
}

// A contender is a subject that can be opened on a file of its own.
type contender struct {
	name  string
	place string // where the agent and the person are
	open  func(ctx context.Context, path string) (subject, error)
}

// The places: all in one process; the agent there, and the answer comes over
// HTTP; ask, long poll and answer over HTTP.
const (
	inProcess = "in process"
	byPost    = "answer by POST"
	remote    = "remote"
)

// contenders in the order in which they are measured and printed.
var contenders = []contender{
	{"bare", inProcess, openBare},
	{"record", inProcess, openRecord},
	{"askback", inProcess, openProduct},
	{"bare", byPost, post(openBare)},
	{"record", byPost, post(openRecord)},
	{"askback", byPost, openPostedProduct},
	{"bare", remote, far(openBare)},
	{"record", remote, far(openRecord)},
	{"askback", remote, openDistantProduct},
	{"mcp", remote, openCalled},
}

// A measurement is what one contender did in one round.
type measurement struct {
	PerSecond float64
	P50, P99  time.Duration // from the answer being sent until the run has it
	CPU       time.Duration // of this process, for one cycle
	Others    float64       // processors that everybody else kept busy meanwhile
}

// measure runs cycles of one contender, so many at a time, on a fresh database.
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
	if _, err := cycles(ctx, s, runs, p.duration/10); err != nil { // warm
		return m, fmt.Errorf("warm %s, %s: %w", c.name, c.place, err)
	}
	usage, start := readUsage(), time.Now()
	latencies, err := cycles(ctx, s, runs, p.duration)
	took, spent := time.Since(start), readUsage().own-usage.own
	if err != nil {
		return m, fmt.Errorf("measure %s, %s: %w", c.name, c.place, err)
	}
	slices.Sort(latencies)
	return measurement{
		PerSecond: float64(len(latencies)) / took.Seconds(),
		P50:       percentile(latencies, 0.50), P99: percentile(latencies, 0.99),
		CPU: spent / time.Duration(max(len(latencies), 1)), Others: usage.others(took),
	}, nil
}

// fill asks n questions that nobody answers.
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

// cycles runs questions and answers for a while and returns how long each run
// waited for the answer once it was sent.
func cycles(ctx context.Context, s subject, runs int, d time.Duration) ([]time.Duration, error) {
	ctx, stop := context.WithTimeout(ctx, d+time.Minute) // nobody waits for ever
	defer stop()
	end := time.Now().Add(d)
	waited := make([][]time.Duration, runs)
	err := each(runs, func(i int) (err error) {
		waited[i], err = agent(ctx, s, end)
		return err
	})
	return slices.Concat(waited...), err
}

// agent is one run of an agent, asking one question after another, and the person
// who answers it from another goroutine. The next cycle begins when the run has
// its answer and the person the reply.
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

// answered says when an answer was sent, and how that went.
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

// each calls do n times at once and returns all that went wrong.
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
