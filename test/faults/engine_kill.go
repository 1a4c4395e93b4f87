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
	// readyTime is how long a child may take to open a database on a busy
	// machine.
	readyTime = 30 * time.Second
	// A child is killed within maxLifetime after it is ready. One child in earlyKillInterval is killed within
	// maxStartTime after its start, while it opens the database.
	maxLifetime       = 100 * time.Millisecond
	maxStartTime      = 25 * time.Millisecond
	earlyKillInterval = 6
	// After one kill in skipInterval, the database is not checked, so that the next child opens it as the
	// kill left it.
	skipInterval = 3
	// auditInterval is the number of kills between two audits of the whole database. There is also an audit
	// at the end.
	auditInterval = 250
)

// An engineTest kills an engine under load repeatedly, always with the same
// growing database.
type engineTest struct {
	plan    loadPlan
	rand    *rand.Rand
	program string
	ackLog  *ackLog
	checker *checker
	kills   int
	bad     []violation
}

func newEngineTest(dir, program string, seed uint64, mutant string) *engineTest {
	c := &engineTest{
		plan:    loadPlan{Path: filepath.Join(dir, "load.db"), Seed: seed, Mutant: mutant},
		rand:    rand.New(rand.NewPCG(seed, 1)),
		program: program, ackLog: newAckLog(),
	}
	c.checker = newChecker(c.plan.Path, c.ackLog)
	return c
}

// run kills the engine n times, or until there is a violation.
func (c *engineTest) run(ctx context.Context, n int) error {
	for c.kills < n && len(c.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.kill(ctx); err != nil {
			return err
		}
		if err := c.check(ctx, n); err != nil {
			return fmt.Errorf("look at the database: %w", err)
		}
	}
	return nil
}

// kill starts a child, records its acknowledgements, and kills it.
func (c *engineTest) kill(ctx context.Context) error {
	c.plan.Round = c.kills
	c.plan.Workers = 16 + c.rand.IntN(49)
	killEarly, lifetime := c.rand.IntN(earlyKillInterval) == 0, randomDuration(c.rand, maxLifetime)
	if killEarly {
		lifetime = randomDuration(c.rand, maxStartTime)
	}
	plan, err := json.Marshal(c.plan)
	if err != nil {
		return err
	}
	child, err := startChild(ctx, nil, c.program, childArg, string(plan))
	if err != nil {
		return err
	}
	if !killEarly {
		child.until(ctx, readyTime, func(line []byte) bool {
			c.recordLine(line)
			return bytes.Contains(line, []byte(`"ready"`))
		})
	}
	child.until(ctx, lifetime, func(line []byte) bool { c.recordLine(line); return false })
	code, err := child.end(c.recordLine)
	c.kills++
	if code >= 0 && ctx.Err() == nil {
		c.bad = append(c.bad, violated(failed, "a child ended by itself with code %d: %s", code, child.notes.String()))
	}
	return err
}

func (c *engineTest) recordLine(line []byte) {
	var a ack
	if err := json.Unmarshal(line, &a); err != nil {
		c.bad = append(c.bad, violated(failed, "a child wrote %q", line))
		return
	}
	c.bad = append(c.bad, c.ackLog.add(a)...)
}

// check compares the database with the acknowledgements. After most kills, it reads only the new events. After
// every auditInterval kills and at the end, it reads everything.
func (c *engineTest) check(ctx context.Context, n int) (err error) {
	var bad []violation
	switch {
	case c.kills%auditInterval == 0 || c.kills >= n:
		bad, err = c.checker.audit(ctx)
	case c.rand.IntN(skipInterval) != 0 && exists(c.plan.Path):
		bad, err = c.checker.check(ctx)
	}
	c.bad = append(c.bad, bad...)
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c *engineTest) report() report {
	return report{noun: "kills", what: "under load", n: c.kills, detail: c.checker.compared(), bad: c.bad}
}
