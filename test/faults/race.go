package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// racerName is the agent, who asks under another label in each race.
const racerName = "racer"

// The tools of a race.
const (
	raceTool  = "deploy"
	otherTool = "delete"
)

// A race is one approval and one grant to which everything happens at once.
type race struct {
	number  int
	rand    *rand.Rand // not for the runners: they are many
	engines []*engine.Engine
	ends    span

	asked   askback.Ask // the approval all run for
	grant   askback.Grant
	scope   askback.Scope
	settled chan struct{} // when the ask has its outcome, for those who spend it
	once    sync.Once

	mu   sync.Mutex
	told []told
}

// A told is what one runner was told.
type told struct {
	does    deed
	who     string
	ask     askback.Ask // as it was returned
	digest  string      // that was to be spent
	revoked bool        // the grant was revoked for certain when it began
	err     error
}

// A deed is what a runner does.
type deed string

const (
	answers deed = "answers"
	cancels deed = "cancels"
	spends  deed = "spends" // the ask that all run for
	revokes deed = "revokes"
	uses    deed = "uses"    // asks for what the grant covers
	strays  deed = "strays"  // asks for what it does not cover
	respend deed = "respend" // spends what a grant approved
)

func newRace(number int, r *rand.Rand, engines []*engine.Engine, ends span) *race {
	return &race{number: number, rand: r, engines: engines, ends: ends, settled: make(chan struct{})}
}

// agent is the agent at any of the engines.
func (c *race) agent(r *rand.Rand) askback.Client {
	return c.at(r, askback.Principal{Kind: askback.Agent, Name: racerName})
}

func (c *race) at(r *rand.Rand, who askback.Principal) askback.Client {
	return c.engines[r.IntN(len(c.engines))].As(who)
}

// label is the agent's name in this race, so that its grants are its own.
func (c *race) label() string { return fmt.Sprintf("racer %d", c.number) }

// request asks for a call in the session of this race.
func (c *race) request(tool string, input json.RawMessage) askback.Request {
	return askback.Request{
		Agent: c.label(), SessionKey: c.label(), Confirmation: &askback.Confirmation{ToolName: tool, Server: "infra", Input: input},
	}
}

var (
	raceInput   = json.RawMessage(`{"build":4711}`)
	editedInput = json.RawMessage(`{"build":4712}`)
)

// prepare asks what all run for, and makes the grant.
func (c *race) prepare(ctx context.Context) (err error) {
	r := c.request(raceTool, raceInput)
	if c.rand.IntN(2) == 0 {
		r.Deadline = c.end()
		r.OnTimeout = []askback.OnTimeout{askback.OnTimeoutFail, askback.OnTimeoutDecline}[c.rand.IntN(2)]
	}
	if c.asked, err = c.agent(c.rand).Ask(ctx, r); err != nil {
		return err
	}
	first, err := c.agent(c.rand).Ask(ctx, c.request(raceTool, raceInput))
	if err != nil {
		return err
	}
	all := askback.Decide(askback.ApproveAll, "")
	c.scope = []askback.Scope{askback.ScopeTool, askback.ScopeSession, askback.ScopeInput}[c.rand.IntN(3)]
	all.Grant = &askback.GrantRequest{Scope: c.scope}
	if c.rand.IntN(3) == 0 {
		all.Grant.ExpiresIn = c.end().Sub(first.CreatedAt)
	}
	ana := c.at(c.rand, racer("ana"))
	done, err := ana.Answer(ctx, first.ID, all)
	if err != nil {
		return err
	}
	c.grant.ID = done.Outcome.GrantID
	return nil
}

// end is a time at which the race is.
func (c *race) end() time.Time {
	return c.ends.begin.Add(time.Duration(c.rand.Int64N(int64(c.ends.long)))).Truncate(time.Millisecond)
}

// hold makes everybody run, and returns when all have come to an end.
func (c *race) hold(ctx context.Context) {
	runners := c.runners()
	start := make(chan struct{})
	var group sync.WaitGroup
	for _, run := range runners {
		r := rand.New(rand.NewPCG(c.rand.Uint64(), c.rand.Uint64()))
		group.Go(func() {
			<-start
			for range r.IntN(40) {
				runtime.Gosched() // who is first is chance, and sometimes the last to start
			}
			run(ctx, r)
		})
	}
	close(start)
	group.Wait()
}

type runner func(ctx context.Context, r *rand.Rand)

func (c *race) runners() []runner {
	ben := askback.Decide([]askback.Decision{askback.Deny, askback.Approve, askback.ApproveAll}[c.rand.IntN(3)], "")
	if ben.Decision == askback.ApproveAll {
		ben.Grant = &askback.GrantRequest{Scope: askback.ScopeTool}
	}
	edited := askback.Answer{Decision: askback.Approve, Input: editedInput}
	return []runner{
		c.answer("ana", askback.Decide(askback.Approve, "")), c.answer("ben", ben), c.answer("cem", edited),
		c.cancel, c.spendBlindly, c.spend, c.spend, c.revoke, c.use, c.use, c.stray,
	}
}

// tell notes what a runner was told.
func (c *race) tell(t told) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, t)
}

// over says that the ask has its outcome, so that it can be spent.
func (c *race) over() { c.once.Do(func() { close(c.settled) }) }

func (c *race) answer(name string, a askback.Answer) runner {
	return func(ctx context.Context, r *rand.Rand) {
		defer c.over()
		got, err := c.at(r, racer(name)).Answer(ctx, c.asked.ID, a)
		c.tell(told{does: answers, who: name, ask: got, err: err})
	}
}

func (c *race) cancel(ctx context.Context, r *rand.Rand) {
	defer c.over()
	got, err := c.agent(r).Cancel(ctx, c.asked.ID, "no longer needed")
	c.tell(told{does: cancels, who: racerName, ask: got, err: err})
}

// spendBlindly spends what perhaps nobody has approved yet.
func (c *race) spendBlindly(ctx context.Context, r *rand.Rand) {
	c.spendWith(ctx, c.agent(r), c.asked.Confirmation.Digest)
}

// spend spends what was approved, or else what was asked for. It is told first
// how the ask ended, by the engine where it spends: another one may not have
// heard of that yet, and would refuse, which is safe.
func (c *race) spend(ctx context.Context, r *rand.Rand) {
	<-c.settled
	seat := c.agent(r)
	a, err := seat.Cancel(ctx, c.asked.ID, "no longer needed") // too late
	c.tell(told{does: cancels, who: racerName, ask: a, err: err})
	digest := c.asked.Confirmation.Digest
	if a.Outcome.Approved() {
		digest = a.Outcome.Digest
	}
	c.spendWith(ctx, seat, digest)
}

func (c *race) spendWith(ctx context.Context, seat askback.Client, digest string) {
	a, err := seat.Consume(ctx, c.asked.ID, digest)
	c.tell(told{does: spends, who: racerName, ask: a, digest: digest, err: err})
}

// revoke ends the grant, and then asks for what it covered.
func (c *race) revoke(ctx context.Context, r *rand.Rand) {
	_, err := c.at(r, racer("dua")).Revoke(ctx, c.grant.ID)
	c.tell(told{does: revokes, who: "dua", err: err})
	if err == nil {
		c.useWhen(ctx, r, true)
	}
}

func (c *race) use(ctx context.Context, r *rand.Rand) { c.useWhen(ctx, r, false) }

// useWhen asks for what the grant covers, and spends what it approved, twice at
// once.
func (c *race) useWhen(ctx context.Context, r *rand.Rand, revoked bool) {
	a, err := c.agent(r).Ask(ctx, c.request(raceTool, raceInput))
	c.tell(told{does: uses, who: racerName, ask: a, revoked: revoked, err: err})
	if err != nil || !a.Outcome.Approved() {
		return
	}
	one, two := c.agent(r), c.agent(r)
	var group sync.WaitGroup
	for _, seat := range []askback.Client{one, two} {
		group.Go(func() {
			spent, err := seat.Consume(ctx, a.ID, a.Outcome.Digest)
			spent.ID = a.ID
			c.tell(told{does: respend, who: racerName, ask: spent, digest: a.Outcome.Digest, err: err})
		})
	}
	group.Wait()
}

// stray asks for what the grant does not cover, by one thing.
func (c *race) stray(ctx context.Context, r *rand.Rand) {
	q := c.request(raceTool, raceInput)
	switch dice := r.IntN(5); {
	case dice == 0:
		q.Confirmation.ToolName = otherTool
	case dice == 1:
		q.Confirmation.Server = ""
	case dice == 2:
		q.Agent += " too"
	case dice == 3:
		q.To = []string{"cem"} // whom the grant's maker is not
	default:
		q.Confirmation.Dangerous = true
	}
	a, err := c.agent(r).Ask(ctx, q)
	c.tell(told{does: strays, who: racerName, ask: a, err: err})
}

// String is one line of the story of a race.
func (t told) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s", t.who, t.does)
	if t.ask.ID != "" {
		fmt.Fprintf(&b, " %s", t.ask.ID)
	}
	if o := t.ask.Outcome; o != nil {
		fmt.Fprintf(&b, " (%s by %s %s)", o.Status, o.Actor, o.Decision)
	}
	if t.digest != "" {
		fmt.Fprintf(&b, " with %.14s", t.digest)
	}
	if t.revoked {
		b.WriteString(" after the grant was revoked")
	}
	fmt.Fprintf(&b, ": %v", t.err)
	return b.String()
}
