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

// racerName is the name of the principal that asks in each race. The label of its asks
// differs from race to race.
const racerName = "racer"

// raceTool is the tool in the asks of a race. The grant of the race does not cover otherTool.
const (
	raceTool  = "deploy"
	otherTool = "delete"
)

// contestedServer is the server of the contested approval. The grant of the race is for the server of the other
// asks. Otherwise it would approve the contested ask, which waits, before people answer it.
const contestedServer = "platform"

// A race is a set of concurrent operations on one approval and one grant.
type race struct {
	number    int
	rand      *rand.Rand // used only for the preparation; the concurrent calls use other engines
	engines   []*engine.Engine
	deadlines period

	asked   askback.Ask // the contested approval
	grant   askback.Grant
	scope   askback.Scope
	settled chan struct{} // closed when the ask is settled
	once    sync.Once

	mu      sync.Mutex
	replies []reply
}

// A reply is the result of one call.
type reply struct {
	action  action
	who     string
	ask     askback.Ask // the ask as it was returned
	digest  string      // the digest that the call consumed
	revoked bool        // the grant was revoked before the call
	err     error
}

// An action is the kind of a call.
type action string

const (
	actionAnswer         action = "answer"
	actionCancel         action = "cancel"
	actionConsume        action = "consume" // the contested approval
	actionRevoke         action = "revoke"
	actionAskCovered     action = "ask covered"     // a call that the grant covers
	actionAskOther       action = "ask other"       // a call that the grant does not cover
	actionConsumeGranted action = "consume granted" // an approval by the grant
)

func newRace(number int, r *rand.Rand, engines []*engine.Engine, deadlines period) *race {
	return &race{number: number, rand: r, engines: engines, deadlines: deadlines, settled: make(chan struct{})}
}

// agent returns the client of the agent on a random engine.
func (c *race) agent(r *rand.Rand) askback.Client {
	return c.at(r, askback.Principal{Kind: askback.Agent, Name: racerName})
}

func (c *race) at(r *rand.Rand, who askback.Principal) askback.Client {
	return c.engines[r.IntN(len(c.engines))].As(who)
}

// label returns the agent name in this race. Grants are per agent name.
func (c *race) label() string { return fmt.Sprintf("racer %d", c.number) }

// request returns a request to confirm a call, in the session of this race.
func (c *race) request(tool string, input json.RawMessage) askback.Request {
	return askback.Request{
		Agent: c.label(), SessionKey: c.label(),
		Confirmation: &askback.Confirmation{ToolName: tool, Server: "infra", Input: input},
	}
}

var (
	raceInput   = json.RawMessage(`{"build":4711}`)
	editedInput = json.RawMessage(`{"build":4712}`)
)

// prepare makes the ask that the calls settle and consume, and the grant that they use and
// revoke.
func (c *race) prepare(ctx context.Context) (err error) {
	r := c.request(raceTool, raceInput)
	r.Confirmation.Server = contestedServer
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

// end returns a random time at which a deadline passes or a grant ends.
func (c *race) end() time.Time {
	return c.deadlines.start.Add(time.Duration(c.rand.Int64N(int64(c.deadlines.length)))).Truncate(time.Millisecond)
}

// run runs all calls concurrently and returns when they have ended.
func (c *race) run(ctx context.Context) {
	runners := c.runners()
	start := make(chan struct{})
	var group sync.WaitGroup
	for _, run := range runners {
		r := rand.New(rand.NewPCG(c.rand.Uint64(), c.rand.Uint64()))
		group.Go(func() {
			<-start
			for range r.IntN(40) {
				runtime.Gosched() // in random order
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
		c.cancel, c.consumeEarly, c.consume, c.consume, c.revoke, c.askCovered, c.askCovered, c.askOther,
	}
}

// record records the result of a call.
func (c *race) record(t reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies = append(c.replies, t)
}

// closeSettled closes c.settled, for which consume waits.
func (c *race) closeSettled() { c.once.Do(func() { close(c.settled) }) }

func (c *race) answer(name string, a askback.Answer) runner {
	return func(ctx context.Context, r *rand.Rand) {
		defer c.closeSettled()
		got, err := c.at(r, racer(name)).Answer(ctx, c.asked.ID, a)
		c.record(reply{action: actionAnswer, who: name, ask: got, err: err})
	}
}

func (c *race) cancel(ctx context.Context, r *rand.Rand) {
	defer c.closeSettled()
	got, err := c.agent(r).Cancel(ctx, c.asked.ID, "no longer needed")
	c.record(reply{action: actionCancel, who: racerName, ask: got, err: err})
}

// consumeEarly consumes the approval without waiting for the outcome, so that the ask may still be pending.
func (c *race) consumeEarly(ctx context.Context, r *rand.Rand) {
	c.consumeWith(ctx, c.agent(r), c.asked.Confirmation.Digest)
}

// consume waits until the ask is settled, and then consumes the approval. It uses the approved digest or, if
// the ask was not approved, the digest of the ask. It reads the outcome from the engine on which it consumes.
// Another engine may reject the call because it has an older state, which is safe.
func (c *race) consume(ctx context.Context, r *rand.Rand) {
	<-c.settled
	client := c.agent(r)
	a, err := client.Cancel(ctx, c.asked.ID, "no longer needed") // returns the outcome
	c.record(reply{action: actionCancel, who: racerName, ask: a, err: err})
	digest := c.asked.Confirmation.Digest
	if a.Outcome.Approved() {
		digest = a.Outcome.Digest
	}
	c.consumeWith(ctx, client, digest)
}

func (c *race) consumeWith(ctx context.Context, client askback.Client, digest string) {
	a, err := client.Consume(ctx, c.asked.ID, digest)
	c.record(reply{action: actionConsume, who: racerName, ask: a, digest: digest, err: err})
}

// revoke revokes the grant, and then asks for a call that the grant covered.
func (c *race) revoke(ctx context.Context, r *rand.Rand) {
	_, err := c.at(r, racer("dua")).Revoke(ctx, c.grant.ID)
	c.record(reply{action: actionRevoke, who: "dua", err: err})
	if err == nil {
		c.askCoveredAfter(ctx, r, true)
	}
}

func (c *race) askCovered(ctx context.Context, r *rand.Rand) { c.askCoveredAfter(ctx, r, false) }

// askCoveredAfter asks for a call that the grant covers. If the call is approved, it
// consumes the approval twice concurrently. revoked reports whether the grant was revoked
// before.
func (c *race) askCoveredAfter(ctx context.Context, r *rand.Rand, revoked bool) {
	a, err := c.agent(r).Ask(ctx, c.request(raceTool, raceInput))
	c.record(reply{action: actionAskCovered, who: racerName, ask: a, revoked: revoked, err: err})
	if err != nil || !a.Outcome.Approved() {
		return
	}
	one, two := c.agent(r), c.agent(r)
	var group sync.WaitGroup
	for _, client := range []askback.Client{one, two} {
		group.Go(func() {
			spent, err := client.Consume(ctx, a.ID, a.Outcome.Digest)
			spent.ID = a.ID
			c.record(reply{
				action: actionConsumeGranted, who: racerName, ask: spent, digest: a.Outcome.Digest, err: err,
			})
		})
	}
	group.Wait()
}

// askOther asks for a call that the grant does not cover, because one property of the
// request differs.
func (c *race) askOther(ctx context.Context, r *rand.Rand) {
	q := c.request(raceTool, raceInput)
	switch dice := r.IntN(5); {
	case dice == 0:
		q.Confirmation.ToolName = otherTool
	case dice == 1:
		q.Confirmation.Server = ""
	case dice == 2:
		q.Agent += " too"
	case dice == 3:
		q.To = []string{"cem"} // not the person who made the grant
	default:
		q.Confirmation.Dangerous = true
	}
	a, err := c.agent(r).Ask(ctx, q)
	c.record(reply{action: actionAskOther, who: racerName, ask: a, err: err})
}

// String returns the reply as one line of the log of a race.
func (t reply) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s", t.who, t.action)
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
