package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

const (
	// The server is killed within maxServeTime after it has proved its identity, unless it is
	// killed early or while all agents wait.
	maxServeTime = 120 * time.Millisecond
	// In one round of fullWaitInterval, people pause until every agent waits. Then the server is killed, and
	// each agent must receive its outcome from the next server.
	fullWaitInterval = 5
	// outcomeTimeout is how long agents may wait for these outcomes. It is shorter than the
	// wait of one request, so that an agent that is not notified fails.
	outcomeTimeout = 40 * time.Second
)

// A serverTest kills the server repeatedly while agents wait and people answer,
// and restarts it on the same database.
type serverTest struct {
	serverProcess
	rand       *rand.Rand
	clientPool *clientPool
	checker    *checker
	kills      int
	waited     []int // number of waiting agents, by kill
	fullWaits  int   // kills while all agents waited
	bad        []violation
}

func newServerTest(dir, program string, seed uint64, mutant string) (*serverTest, error) {
	o := &serverTest{serverProcess: newServerProcess(dir, program, "served.db"), rand: rand.New(rand.NewPCG(seed, 3))}
	place, err := instance.At(o.path)
	if err != nil {
		return nil, err
	}
	o.clientPool = &clientPool{conn: &connection{place: place}, seed: seed, ackLog: newAckLog()}
	o.clientPool.conn.wrap = mutantTransport(mutant, o.clientPool.nameOf)
	o.checker = newChecker(place.Database, o.clientPool.ackLog)
	return o, nil
}

// run kills the server at least n times, or until there is a violation. Then it audits the
// database. If n is 0, it does nothing.
func (o *serverTest) run(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	if err := o.createTokens(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	running := o.clientPool.run(working)
	err := o.kill(ctx, n)
	stop()
	running.Wait()
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	bad, err := o.checker.audit(ctx)
	o.bad = append(append(o.bad, o.clientPool.bad...), bad...)
	return err
}

// createTokens creates the tokens of the clients with the program, and reads the token of
// the local agent.
func (o *serverTest) createTokens(ctx context.Context) error {
	for _, name := range []string{"ada", "bob", "cleo"} {
		h, err := o.token(ctx, askback.Agent, name)
		if err != nil {
			return err
		}
		o.clientPool.agents = append(o.clientPool.agents, h)
	}
	for _, name := range []string{"ana", "ben", "cem", "dua"} {
		h, err := o.token(ctx, askback.Responder, name)
		if err != nil {
			return err
		}
		o.clientPool.people = append(o.clientPool.people, h)
	}
	secret, err := os.ReadFile(filepath.Join(o.tokens, "agent.token"))
	if err != nil {
		return fmt.Errorf("read the token of the local agent: %w", err)
	}
	o.clientPool.agents = append(o.clientPool.agents, account{commandAsker, strings.TrimSpace(string(secret))})
	return nil
}

// kill starts and kills one server after another, at least n times or until there is a
// violation. At the end, all agents must have received their outcomes.
func (o *serverTest) kill(ctx context.Context, n int) error {
	for o.kills < n && ctx.Err() == nil && o.clientPool.ok() && len(o.bad) == 0 {
		var err error
		switch o.rand.IntN(2 * fullWaitInterval) {
		case 0:
			err = o.killEarly(ctx)
		case 1, 2:
			err = o.killWhileAllWait(ctx)
		default:
			err = o.serve(ctx, func() { _ = pause.For(ctx, randomDuration(o.rand, maxServeTime)) })
		}
		if err == nil {
			err = o.check(ctx)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil || !o.clientPool.ok() || len(o.bad) > 0 {
		return nil
	}
	return o.killWhileAllWait(ctx)
}

// killEarly kills a server while it opens the database or soon after.
func (o *serverTest) killEarly(ctx context.Context) error {
	c, err := o.start(ctx)
	if err != nil {
		return err
	}
	c.until(ctx, randomDuration(o.rand, 2*maxStartTime), func([]byte) bool { return false })
	return o.end(ctx, c)
}

// serve starts a server and waits until the server has proved its identity. It then calls during, and kills
// the server.
func (o *serverTest) serve(ctx context.Context, during func()) error {
	c, err := o.start(ctx)
	if err != nil {
		return err
	}
	if _, err := o.clientPool.conn.place.Find(ctx, readyTime); err != nil {
		_, endErr := c.end(func([]byte) {})
		if ctx.Err() == nil {
			o.bad = append(o.bad, violated(failed, "the server did not start: %v: %s", err, c.notes.String()))
		}
		return endErr
	}
	during()
	return o.end(ctx, c)
}

// killWhileAllWait kills the server when every agent waits. It then checks that each agent receives its
// outcome from the next server, which is killed, too.
func (o *serverTest) killWhileAllWait(ctx context.Context) error {
	resume := o.clientPool.pause()
	err := o.serve(ctx, func() {
		o.until(ctx, func() bool { return o.clientPool.waiting() == agentCount })
		_ = pause.For(ctx, randomDuration(o.rand, maxServeTime/8))
	})
	then := o.clientPool.agentStates()
	resume()
	if err != nil || ctx.Err() != nil {
		return err
	}
	o.fullWaits++
	return o.serve(ctx, func() {
		o.until(ctx, func() bool { return len(withoutOutcome(then, o.clientPool.agentStates())) == 0 })
		if ctx.Err() == nil && o.clientPool.ok() {
			o.bad = append(o.bad, withoutOutcome(then, o.clientPool.agentStates())...)
		}
	})
}

// until waits until a condition is true, there is a violation, outcomeTimeout has passed
// or ctx is done.
func (o *serverTest) until(ctx context.Context, so func() bool) {
	ctx, stop := context.WithTimeout(ctx, outcomeTimeout)
	defer stop()
	for ctx.Err() == nil && o.clientPool.ok() && !so() {
		_ = pause.For(ctx, retryPause)
	}
}

// end kills the server, which must still be running.
func (o *serverTest) end(ctx context.Context, c *child) error {
	o.waited = append(o.waited, o.clientPool.waiting())
	code, err := c.end(func([]byte) {})
	o.kills++
	if code >= 0 && ctx.Err() == nil {
		o.bad = append(o.bad,
			violated(failed, "a server ended with code %d before it was killed: %s", code, c.notes.String()))
	}
	return err
}

// check compares the database with the acknowledgements: the new events after most kills,
// and everything after every auditInterval kills.
func (o *serverTest) check(ctx context.Context) error {
	if !exists(o.path) {
		return nil
	}
	check := o.checker.check
	if o.kills%auditInterval == 0 {
		check = o.checker.audit
	}
	o.clientPool.mu.Lock() // no acknowledgements during the check
	defer o.clientPool.mu.Unlock()
	bad, err := check(ctx)
	if o.bad = append(o.bad, bad...); err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	return nil
}

func (o *serverTest) report() report {
	slices.Sort(o.waited)
	detail := ""
	if n := len(o.waited); n > 0 {
		detail = fmt.Sprintf("%d of %d agents waiting (median), all of them %d times; ", o.waited[n/2], agentCount,
			o.fullWaits)
	}
	return report{noun: "kills", what: "of the server", n: o.kills, detail: detail + o.checker.compared(), bad: o.bad}
}
