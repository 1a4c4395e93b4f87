// Package cycle runs the cycles of a peer that is written in Go: ask, wait and answer. README.md of the
// parent folder describes the lines that the peer reads and writes.
package cycle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The question and the answer, of about 250 and 70 bytes.
var (
	Question = []byte(`{"question":"Deploy build 4711 to production?","run":"0123456789abcdef",` +
		`"options":["yes","no","later"],"context":"` + strings.Repeat("x", 160) + `"}`)
	Answer = []byte(`{"answer":"yes","by":"ann@example.com","note":"checked the dashboards"}`)
)

// A Peer is another product that keeps a question until it is answered.
type Peer struct {
	Version string
	// Ask returns when the question is durable and the run waits. The channel
	// receives the time at which the run has its answer.
	Ask func(id string) (<-chan time.Time, error)
	// Answer returns when the answer is durable.
	Answer func(id string) error
}

// ready, result and failure are the lines on stdout.
type (
	ready struct {
		Ready   bool   `json:"ready"`
		Version string `json:"version"`
	}
	result struct {
		Cycles  int     `json:"cycles"`
		Seconds float64 `json:"seconds"`
		P50     float64 `json:"p50_ms"`
		P99     float64 `json:"p99_ms"`
	}
	failure struct {
		Error string `json:"error"`
	}
)

// Serve measures the cycles that the lines on stdin request, until stdin ends or a cycle fails. It writes the
// results to stdout.
func Serve(p Peer) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(ready{true, p.Version}); err != nil {
		return err
	}
	var last atomic.Int64
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var of struct{ Runs, MS int }
		if err := json.Unmarshal(lines.Bytes(), &of); err != nil {
			return err
		}
		r, err := p.measure(of.Runs, time.Duration(of.MS)*time.Millisecond, &last)
		if err != nil {
			return out.Encode(failure{err.Error()})
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// measure runs cycles for the duration d, with the given number of concurrent
// runs. last is the number of the last cycle.
func (p Peer) measure(runs int, d time.Duration, last *atomic.Int64) (result, error) {
	var (
		working sync.WaitGroup
		all     = make([][]time.Duration, runs)
		errs    = make([]error, runs)
		start   = time.Now()
	)
	for i := range runs {
		working.Go(func() {
			for errs[i] == nil && time.Since(start) < d {
				var took time.Duration
				took, errs[i] = p.cycle("r" + strconv.FormatInt(last.Add(1), 10))
				all[i] = append(all[i], took)
			}
		})
	}
	working.Wait()
	seconds := time.Since(start).Seconds()
	for _, err := range errs {
		if err != nil {
			return result{}, err
		}
	}
	latencies := slices.Concat(all...)
	slices.Sort(latencies)
	return result{len(latencies), seconds, percentile(latencies, 0.5), percentile(latencies, 0.99)}, nil
}

// cycle runs one cycle. It returns the time from sending the answer until the run has the answer.
func (p Peer) cycle(id string) (time.Duration, error) {
	has, err := p.Ask(id)
	if err != nil {
		return 0, fmt.Errorf("ask: %w", err)
	}
	sent := time.Now()
	if err := p.Answer(id); err != nil {
		return 0, fmt.Errorf("answer: %w", err)
	}
	return (<-has).Sub(sent), nil
}

// percentile returns a percentile in milliseconds.
func percentile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[int(p*float64(len(sorted)-1))]) / float64(time.Millisecond)
}

// Version returns the version of a module that the program was built with.
func Version(module string) string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range build.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}

// Folder returns the folder for the data of the peer.
func Folder() string {
	if dir := os.Getenv("PEER_DATA"); dir != "" {
		return dir
	}
	return "."
}
