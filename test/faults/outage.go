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
	"github.com/askback/askback/internal/instance"
)

const (
	// The server dies within this time after it proved itself, or, every so
	// often, after it was started.
	longestService = 120 * time.Millisecond
	// Every so often people rest until every agent waits; then the server dies,
	// and each of them must have its outcome from the next.
	rollCallEach = 4
	// tellTime is how long that may take. It is less than one request waits, so
	// that nobody is told only because it asks again.
	tellTime = 40 * time.Second
)

// An outage kills the real server again and again, while agents wait for it and
// people answer, and starts it again on the same database.
type outage struct {
	post
	rand    *rand.Rand
	crowd   *crowd
	checker *checker
	kills   int
	waited  []int // agents that waited, by kill
	calls   int   // roll calls
	bad     []violation
}

func newOutage(dir, program string, seed uint64, plant string) (*outage, error) {
	o := &outage{post: newPost(dir, program, "served.db"), rand: rand.New(rand.NewPCG(seed, 3))}
	place, err := instance.At(o.path)
	if err != nil {
		return nil, err
	}
	o.crowd = &crowd{line: &line{place: place}, seed: seed, ledger: newLedger()}
	o.crowd.line.wrap = between(plant, o.crowd.nameOf)
	o.checker = newChecker(place.Database, o.crowd.ledger)
	return o, nil
}

// run kills the server n times, or until something is wrong.
func (o *outage) run(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	if err := o.admit(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	everybody := o.crowd.live(working)
	err := o.kill(ctx, n)
	stop()
	everybody.Wait()
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	bad, err := o.checker.audit(ctx)
	o.bad = append(append(o.bad, o.crowd.bad...), bad...)
	return err
}

// admit makes a token for everybody, with the program itself.
func (o *outage) admit(ctx context.Context) error {
	for _, name := range []string{"ada", "bob", "cleo"} {
		h, err := o.token(ctx, askback.Agent, name)
		if err != nil {
			return err
		}
		o.crowd.agents = append(o.crowd.agents, h)
	}
	for _, name := range []string{"ana", "ben", "cem", "dua"} {
		h, err := o.token(ctx, askback.Responder, name)
		if err != nil {
			return err
		}
		o.crowd.people = append(o.crowd.people, h)
	}
	secret, err := os.ReadFile(filepath.Join(o.tokens, "agent.token"))
	if err != nil {
		return fmt.Errorf("the token of the commands here: %w", err)
	}
	o.crowd.agents = append(o.crowd.agents, holder{commandAsker, strings.TrimSpace(string(secret))})
	return nil
}

// kill lets one server live after another. The last one, which is killed as
// well, must have told everybody.
func (o *outage) kill(ctx context.Context, n int) error {
	for o.kills < n && ctx.Err() == nil && o.crowd.fine() && len(o.bad) == 0 {
		var err error
		switch o.rand.IntN(startKillEach + rollCallEach) {
		case 0:
			err = o.early(ctx)
		case 1, 2:
			err = o.rollCall(ctx)
		default:
			err = o.serve(ctx, func() { _ = instance.Pause(ctx, upTo(o.rand, longestService)) })
		}
		if err == nil {
			err = o.look(ctx)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil || !o.crowd.fine() || len(o.bad) > 0 {
		return nil
	}
	return o.rollCall(ctx)
}

// early kills a server while it opens the database, or soon after.
func (o *outage) early(ctx context.Context) error {
	c, err := o.start(ctx)
	if err != nil {
		return err
	}
	c.until(ctx, upTo(o.rand, 2*longestStart), func([]byte) bool { return false })
	return o.end(ctx, c)
}

// serve starts a server, and kills it when it has proved itself and during
// has returned.
func (o *outage) serve(ctx context.Context, during func()) error {
	c, err := o.start(ctx)
	if err != nil {
		return err
	}
	if _, err := o.crowd.line.place.Find(ctx, readyTime); err != nil {
		_, endErr := c.end(func([]byte) {})
		if ctx.Err() == nil {
			o.bad = append(o.bad, violated(failed, "the server did not come: %v: %s", err, c.notes.String()))
		}
		return endErr
	}
	during()
	return o.end(ctx, c)
}

// rollCall kills the server when every agent waits, and looks whether each has
// its outcome from the next server.
func (o *outage) rollCall(ctx context.Context) error {
	goOn := o.crowd.pause()
	err := o.serve(ctx, func() {
		o.until(ctx, func() bool { return o.crowd.waiting() == agentCount })
		_ = instance.Pause(ctx, upTo(o.rand, longestService/8))
	})
	then := o.crowd.standing()
	goOn()
	if err != nil || ctx.Err() != nil {
		return err
	}
	o.calls++
	return o.serve(ctx, func() {
		o.until(ctx, func() bool { return len(untold(then, o.crowd.standing())) == 0 })
		if ctx.Err() == nil && o.crowd.fine() {
			o.bad = append(o.bad, untold(then, o.crowd.standing())...)
		}
	})
}

// until waits for a condition, no longer than tellTime, and not when something
// is wrong already.
func (o *outage) until(ctx context.Context, so func() bool) {
	ctx, stop := context.WithTimeout(ctx, tellTime)
	defer stop()
	for ctx.Err() == nil && o.crowd.fine() && !so() {
		_ = instance.Pause(ctx, retryPause)
	}
}

// end kills the server. It serves until then.
func (o *outage) end(ctx context.Context, c *child) error {
	o.waited = append(o.waited, o.crowd.waiting())
	code, err := c.end(func([]byte) {})
	o.kills++
	if code >= 0 && ctx.Err() == nil {
		o.bad = append(o.bad, violated(failed, "a server ended by itself with code %d: %s", code, c.notes.String()))
	}
	return err
}

// look compares the database with what everybody was told so far: after most
// kills what is new, now and then everything.
func (o *outage) look(ctx context.Context) error {
	if !exists(o.path) {
		return nil
	}
	look := o.checker.check
	if o.kills%auditEach == 0 {
		look = o.checker.audit
	}
	o.crowd.mu.Lock() // nobody is told anything meanwhile
	defer o.crowd.mu.Unlock()
	bad, err := look(ctx)
	if o.bad = append(o.bad, bad...); err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	return nil
}

// found is the outcome of a proof.
func (o *outage) found() part {
	slices.Sort(o.waited)
	detail := ""
	if n := len(o.waited); n > 0 {
		detail = fmt.Sprintf("%d of %d agents waiting (median), %d times all of them; ", o.waited[n/2], agentCount, o.calls)
	}
	return part{noun: "kills", what: "of the server", n: o.kills, detail: detail + o.checker.compared(), bad: o.bad}
}
