package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const (
	// readyTime is how long a child may take to open a database, on a machine
	// that has other things to do.
	readyTime = 30 * time.Second
	// A child dies within this time after it is ready, or, every so often,
	// within this time after it was started: while it opens the database.
	longestLife   = 100 * time.Millisecond
	longestStart  = 25 * time.Millisecond
	startKillEach = 6
	// Some kills follow each other without a look in between.
	lookEach = 3
	// The whole database is looked at this often, and at the end.
	auditEach = 250
)

// A crash kills an engine under load again and again, always on the same
// database, which grows.
type crash struct {
	plan    loadPlan
	rand    *rand.Rand
	program string
	ledger  *ledger
	checker *checker
	kills   int
	bad     []violation
}

func newCrash(dir, program string, seed uint64, plant string) *crash {
	c := &crash{
		plan:    loadPlan{Path: filepath.Join(dir, "load.db"), Seed: seed, Plant: plant},
		rand:    rand.New(rand.NewPCG(seed, 1)),
		program: program, ledger: newLedger(),
	}
	c.checker = newChecker(c.plan.Path, c.ledger)
	return c
}

// run kills n times, or until something is wrong.
func (c *crash) run(ctx context.Context, n int) error {
	for c.kills < n && len(c.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.once(ctx); err != nil {
			return err
		}
		if err := c.look(ctx, n); err != nil {
			return fmt.Errorf("look at the database: %w", err)
		}
	}
	return nil
}

// once lets one child live and kills it.
func (c *crash) once(ctx context.Context) error {
	c.plan.Life = c.kills
	c.plan.Workers = 16 + c.rand.IntN(49)
	early, life := c.rand.IntN(startKillEach) == 0, upTo(c.rand, longestLife)
	if early {
		life = upTo(c.rand, longestStart)
	}
	plan, err := json.Marshal(c.plan)
	if err != nil {
		return err
	}
	child, err := startChild(ctx, nil, c.program, childWord, string(plan))
	if err != nil {
		return err
	}
	if !early {
		child.until(ctx, readyTime, func(line []byte) bool {
			c.note(line)
			return bytes.Contains(line, []byte(`"ready"`))
		})
	}
	child.until(ctx, life, func(line []byte) bool { c.note(line); return false })
	code, err := child.end(c.note)
	c.kills++
	if code >= 0 && ctx.Err() == nil {
		c.bad = append(c.bad, violated(failed, "a child ended by itself with code %d: %s", code, child.notes.String()))
	}
	return err
}

func (c *crash) note(line []byte) {
	var a ack
	if err := json.Unmarshal(line, &a); err != nil {
		c.bad = append(c.bad, violated(failed, "a child wrote %q", line))
		return
	}
	c.bad = append(c.bad, c.ledger.note(a)...)
}

// look compares the database with what was acknowledged: after most kills what
// is new, now and then everything.
func (c *crash) look(ctx context.Context, n int) (err error) {
	var bad []violation
	switch {
	case c.kills%auditEach == 0 || c.kills >= n:
		bad, err = c.checker.audit(ctx)
	case c.rand.IntN(lookEach) != 0 && exists(c.plan.Path):
		bad, err = c.checker.check(ctx)
	}
	c.bad = append(c.bad, bad...)
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// found is the outcome of a proof.
func (c *crash) found() part {
	return part{noun: "kills", what: "under load", n: c.kills, detail: c.checker.compared(), bad: c.bad}
}
