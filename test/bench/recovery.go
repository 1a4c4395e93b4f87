package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A resumeResult contains the measurements of a process that was started after
// a kill.
type resumeResult struct {
	Open     float64 `json:"open_ms"`  // time to open the database
	First    float64 `json:"first_ms"` // further time until a run that asked before the kill has its answer
	Resident int64   `json:"resident"` // memory after that, in bytes
}

// A recovery is the result of several kills with the same number of pending
// asks. Restart is the time from the kill to the first resumed run, measured
// from outside.
type recovery struct {
	What     string `json:"what"`
	Pending  int    `json:"pending"`
	Kills    int    `json:"kills"`
	Restart  spread `json:"restart_ms"`
	Open     spread `json:"open_ms"`
	First    spread `json:"first_ms"`
	Resident spread `json:"resident"`
}

// measureRecovery repeatedly kills a process with n pending asks, and measures
// the process that replaces it.
func measureRecovery(ctx context.Context, p plan, n int) (r recovery, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-recovery-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "recovery.db")
	c, err := start(ctx, "load", path, n)
	if err != nil {
		return r, err
	}
	var ready int
	if err := c.read(&ready); err != nil {
		return r, errors.Join(err, c.kill())
	}
	var restart, open, first, size []float64
	for range p.rounds {
		killed := time.Now()
		var found resumeResult
		if c, err = replaceProcess(ctx, c, path, &found); err != nil {
			return r, err
		}
		restart = append(restart, millis(time.Since(killed)))
		open, first = append(open, found.Open), append(first, found.First)
		size = append(size, float64(found.Resident))
	}
	return recovery{
		"recovery", n, p.rounds, spreadOf(restart), spreadOf(open), spreadOf(first), spreadOf(size),
	}, c.kill()
}

// replaceProcess kills a process, starts and returns a new process, and reads the measurements of the new
// process.
func replaceProcess(ctx context.Context, c *process, path string, found *resumeResult) (*process, error) {
	if err := c.kill(); err != nil {
		return nil, err
	}
	next, err := start(ctx, "resume", path)
	if err != nil {
		return nil, err
	}
	if err := next.read(found); err != nil {
		return nil, errors.Join(err, next.kill())
	}
	return next, nil
}

// loadChild makes asks, reports their number, and waits until it is killed.
func loadChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	p, err := openEngine(ctx, path, nil)
	if err != nil {
		return err
	}
	if err := fill(ctx, p, numbers[0]); err != nil {
		return err
	}
	if err := out.Encode(numbers[0]); err != nil {
		return err
	}
	<-ctx.Done()
	return p.close()
}

// resumeChild opens the database, waits for the oldest ask and answers it. It
// then reports the measurements, and waits until it is killed.
func resumeChild(ctx context.Context, out *json.Encoder, path string, _ []int) error {
	began := time.Now()
	p, err := openEngine(ctx, path, nil)
	if err != nil {
		return err
	}
	opened := time.Since(began)
	ids, err := p.oldest(ctx, 1)
	if err != nil || len(ids) == 0 {
		return errors.Join(err, errors.New("there is no pending ask to resume"))
	}
	has := make(chan error, 1)
	go func() { has <- p.wait(ctx, ids[0]) }()
	if err := errors.Join(p.answer(ctx, ids[0]), <-has); err != nil {
		return err
	}
	if err := out.Encode(resumeResult{millis(opened), millis(time.Since(began)), resident()}); err != nil {
		return err
	}
	<-ctx.Done()
	return p.close()
}

// The goal from a kill to the first resumed run is goalRestart plus one
// microsecond for each pending ask.
const goalRestart = 150 * time.Millisecond

func printRecovery(w io.Writer, all []recovery) error {
	fmt.Fprintln(w, "\nkill -9, then the same database in a new process: median [min..max] in ms. No time may grow "+
		"with the number of pending asks.")
	t := newTable(w)
	fmt.Fprintln(t, "pending\tkills\tkill to first resumed run\tgate\topen\topen to first resumed run\tresident MB")
	for _, r := range all {
		gate := goalRestart + time.Duration(r.Pending)*time.Microsecond
		fmt.Fprintf(t, "%d\t%d\t%s\t≤ %s\t%s\t%s\t%.1f\n",
			r.Pending, r.Kills, r.Restart, short(millis(gate)), r.Open, r.First, r.Resident.Median/1e6)
	}
	if err := t.Flush(); err != nil || len(all) < 2 {
		return err
	}
	first, last := all[0], all[len(all)-1]
	per := (last.Resident.Median - first.Resident.Median) / float64(last.Pending-first.Pending)
	_, err := fmt.Fprintf(w, "A pending ask without a waiter takes %s bytes of the new process (goal ≤ %d).\n",
		short(per), goalAlone)
	return err
}
