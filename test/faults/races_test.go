package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

func TestRacesHaveOneOutcome(t *testing.T) {
	for _, where := range raceStores {
		p := newRaceTest(t.TempDir(), where, 1, "")
		if err := p.run(t.Context(), 40); err != nil || len(p.bad) > 0 || p.done != 40 {
			t.Errorf("%s: got %d races, %v, %v; want 40 races without violations", where, p.done, p.bad, err)
		}
	}
}

// finishedRace returns a finished race: a grant approved a call and was revoked, and the approval of cem with
// edited arguments was consumed (F7, F8).
func finishedRace(t *testing.T) *raceChecker {
	t.Helper()
	s := memstore.New()
	e := engine.New(s, nil)
	r := rand.New(rand.NewPCG(1, 1))
	x := newRace(1, r, []*engine.Engine{e}, period{time.Now().Add(time.Hour), time.Second})
	ctx := t.Context()
	if err := x.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	for _, run := range []runner{
		x.askCovered, x.answer("cem", askback.Answer{Decision: askback.Approve, Input: editedInput}),
		x.answer("ana", askback.Decide(askback.Approve, "")), x.cancel, x.consume, x.consume, x.askOther, x.revoke,
	} {
		run(ctx, r)
	}
	c := &raceChecker{race: x, counts: map[string]int{}}
	if err := c.read(ctx, e.As(racer("cem")), s); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRaceCheckerAcceptsValidRace(t *testing.T) {
	c := finishedRace(t)
	if c.check(); len(c.bad) > 0 {
		t.Errorf("got %v, want no violations in\n%s", c.bad, c.log())
	}
}

// one returns the first reply of an action for which with returns true. If with is nil, each reply of the
// action matches.
func (c *raceChecker) one(d action, with func(reply) bool) *reply {
	i := slices.IndexFunc(c.replies, func(t reply) bool { return t.action == d && (with == nil || with(t)) })
	return &c.replies[i]
}

// move moves the first event of one type behind the first event of another type, and numbers the events
// again.
func (c *raceChecker) move(event, behind string) {
	i := slices.IndexFunc(c.history, func(e store.Event) bool { return e.Type == event })
	moved := c.history[i]
	c.history = slices.Delete(c.history, i, i+1)
	j := slices.IndexFunc(c.history, func(e store.Event) bool { return e.Type == behind })
	c.history = slices.Insert(c.history, j+1, moved)
	for i := range c.history {
		c.history[i].StreamSeq = int64(i + 1)
	}
}

func TestRaceCheckerDetectsViolations(t *testing.T) {
	lostRace := func(t reply) bool { return t.err != nil }
	won := func(t reply) bool { return t.err == nil }
	cases := []struct {
		name string
		do   func(c *raceChecker)
		want fault
	}{
		{"two answers succeed", func(c *raceChecker) { c.one(actionAnswer, lostRace).err = nil }, duplicated},
		{"answer and cancel succeed", func(c *raceChecker) { c.one(actionCancel, nil).err = nil }, duplicated},
		{"no outcome", func(c *raceChecker) { c.final.Outcome, c.final.Status = nil, askback.Pending }, lost},
		{"ErrSettled without outcome", func(c *raceChecker) {
			c.one(actionAnswer, lostRace).ask.Outcome = nil
		}, duplicated},
		{"unexpected error", func(c *raceChecker) { c.one(actionAnswer, lostRace).err = askback.ErrNotFound }, failed},
		{"digest of the original arguments after an edit", func(c *raceChecker) {
			o := *c.final.Outcome
			o.Digest = c.asked.Confirmation.Digest
			c.final.Outcome = &o
		}, accepted},
		{"answer after the deadline", func(c *raceChecker) { c.asked.Deadline = c.final.Outcome.At }, accepted},
		{"consumed twice", func(c *raceChecker) { c.one(actionConsume, lostRace).err = nil }, duplicated},
		{"consumed with other arguments", func(c *raceChecker) {
			c.one(actionConsume, won).digest = c.asked.Confirmation.Digest
		}, accepted},
		{"approval cannot be consumed", func(c *raceChecker) {
			c.one(actionConsume, won).err = askback.ErrConsumed
		}, rejected},
		{"approval by a grant consumed twice", func(c *raceChecker) {
			c.one(actionConsumeGranted, lostRace).err = nil
		}, duplicated},
		{"grant used after its revocation", func(c *raceChecker) { c.move("grant_used", "grant_revoked") }, accepted},
		{"approval by a grant consumed after its end", func(c *raceChecker) {
			i := slices.IndexFunc(c.history, func(e store.Event) bool {
				return e.Type == "question_consumed" && e.Subject == c.one(actionAskCovered, nil).ask.ID
			})
			spent := c.history[i]
			c.history = append(slices.Delete(c.history, i, i+1), spent)
			for i := range c.history {
				c.history[i].StreamSeq = int64(i + 1)
			}
		}, accepted},
		{"grant used before it was made", func(c *raceChecker) { c.move("grant_made", "grant_used") }, inconsistent},
		{"event missing", func(c *raceChecker) { c.history = slices.Delete(c.history, 2, 3) }, inconsistent},
		{"use of a grant not counted", func(c *raceChecker) { c.grants[0].Uses = 0 }, lost},
		{"grant not revoked", func(c *raceChecker) { c.grants[0].RevokedAt = time.Time{} }, inconsistent},
		{"grant listed twice", func(c *raceChecker) { c.grants = append(c.grants, c.grants[0]) }, duplicated},
		{"revocation failed", func(c *raceChecker) { c.one(actionRevoke, nil).err = askback.ErrBusy }, failed},
		{"approved by a grant after its revocation", func(c *raceChecker) {
			c.one(actionAskCovered, nil).revoked = true
		}, accepted},
		{"approval of a call that the grant does not cover", func(c *raceChecker) {
			c.one(actionAskCovered, nil).action = actionAskOther
		}, accepted},
		{"approval by a grant in the name of a person", func(c *raceChecker) {
			o := *c.one(actionAskCovered, nil).ask.Outcome
			o.Actor.Kind = askback.ActorPerson
			c.one(actionAskCovered, nil).ask.Outcome, c.stored[c.one(actionAskCovered, nil).ask.ID] = &o, &o
		}, accepted},
		{"stored outcome differs", func(c *raceChecker) {
			c.stored[c.one(actionAskCovered, nil).ask.ID] = nil
		}, duplicated},
	}
	for _, f := range cases {
		t.Run(f.name, func(t *testing.T) {
			c := finishedRace(t)
			f.do(c)
			if c.check(); !slices.ContainsFunc(c.bad, func(v violation) bool { return v.fault == f.want }) {
				t.Errorf("got %v, want a violation of kind %s in\n%s", c.bad, f.want, c.log())
			}
		})
	}
}
