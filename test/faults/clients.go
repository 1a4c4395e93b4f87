package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/pause"
)

// Numbers of clients. There are far more agents than people, so that most
// agents wait.
const (
	agentCount  = 64
	personCount = 6
)

// A clientPool runs clients that continue when the server is killed: agents that ask and
// wait, and people who answer. They reconnect to the next server, and record all
// acknowledgements.
type clientPool struct {
	conn   *connection
	seed   uint64
	agents []account // several agents share an account
	people []account

	mu     sync.Mutex
	ackLog *ackLog
	bad    []violation
	states [agentCount]agentState
	recent []agentState
	next   int
	paused chan struct{} // closed when people may continue; nil if they are not paused
}

// An account is a name with its token.
type account struct{ name, token string }

// nameOf returns the name of the person with this token, or "" if it is not the token of a
// person.
func (c *clientPool) nameOf(token string) string {
	for _, h := range c.people {
		if h.token == token {
			return h.name
		}
	}
	return ""
}

// An agentState is the current ask of an agent.
type agentState struct {
	turn    int // number of outcomes that the agent received
	id      string
	owner   account
	waiting bool
}

// run starts all clients, and returns a group to wait for them. They run until ctx is done
// or there is a violation.
func (c *clientPool) run(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range agentCount {
		a := &agent{c, i, c.agents[i%len(c.agents)], rand.New(rand.NewPCG(c.seed, uint64(i)))}
		all.Go(func() { a.run(ctx) })
	}
	for i := range personCount {
		p := &person{
			clientPool: c, account: c.people[i%len(c.people)],
			rand: rand.New(rand.NewPCG(c.seed, uint64(agentCount+i))),
		}
		all.Go(func() { p.run(ctx) })
	}
	return &all
}

// record records an acknowledgement, and a violation if the acknowledgement contradicts an earlier
// acknowledgement.
func (c *clientPool) record(a ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad = append(c.bad, c.ackLog.add(a)...)
}

func (c *clientPool) violate(f fault, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad = append(c.bad, violated(f, format, args...))
}

func (c *clientPool) ok() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bad) == 0
}

// noError reports whether err is nil. If not, it records a violation, unless ctx is
// done.
func (c *clientPool) noError(ctx context.Context, what string, err error) bool {
	if err != nil && ctx.Err() == nil {
		c.violate(failed, "%s: %v", what, err)
	}
	return err == nil
}

// recordOutcome records the outcome that a call returned to a client that tried to settle the ask. own
// reports whether this client gave an outcome. It must return true if and only if err is nil.
func (c *clientPool) recordOutcome(
	ctx context.Context, what string, a askback.Ask, err error, own func(*askback.Outcome) bool,
) {
	if !errors.Is(err, askback.ErrSettled) && !c.noError(ctx, what, err) {
		return
	}
	if a.Outcome == nil {
		c.violate(failed, "%s: got %v without the outcome", what, err)
		return
	}
	c.record(ack{Op: opSettled, ID: a.ID, Text: outcomeText(a.Outcome)})
	if own(a.Outcome) != (err == nil) {
		c.violate(duplicated, "%s: got %v, but the outcome is %s", what, err, outcomeText(a.Outcome))
	}
}

// setState sets the state of an agent. When the agent no longer waits, its ask becomes one of the recent
// asks.
func (c *clientPool) setState(i int, now agentState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.waiting && c.states[i].waiting { // people also send late answers to settled asks
		if len(c.recent) < maxRecent {
			c.recent = append(c.recent, c.states[i])
		} else {
			c.recent[c.next%maxRecent] = c.states[i]
			c.next++
		}
	}
	c.states[i] = now
}

// waiting returns the number of waiting agents.
func (c *clientPool) waiting() (n int) {
	for _, s := range c.agentStates() {
		if s.waiting {
			n++
		}
	}
	return n
}

func (c *clientPool) agentStates() [agentCount]agentState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states
}

// randomAsk returns the current ask of a random agent, or sometimes a settled ask. The id is "" if the agent
// has not asked yet.
func (c *clientPool) randomAsk(r *rand.Rand) agentState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.recent) > 0 && r.IntN(5) == 0 {
		return c.recent[r.IntN(len(c.recent))]
	}
	return c.states[r.IntN(agentCount)]
}

// pause makes the people wait until resume is called.
func (c *clientPool) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	paused := make(chan struct{})
	c.paused = paused
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(paused)
		c.paused = nil
	}
}

// waitWhilePaused waits while the people are paused and ctx is not done.
func (c *clientPool) waitWhilePaused(ctx context.Context) {
	c.mu.Lock()
	paused := c.paused
	c.mu.Unlock()
	if paused == nil {
		return
	}
	select {
	case <-paused:
	case <-ctx.Done():
	}
}

// withoutOutcome compares an earlier and a later state of all agents. It returns a violation for each agent
// that waited then and has received no outcome since.
func withoutOutcome(then, now [agentCount]agentState) (bad []violation) {
	for i, s := range then {
		if s.waiting && now[i].turn == s.turn {
			bad = append(bad, violated(lost,
				"agent %d waited for %s when the server was killed, and received no outcome afterwards", i, s.id))
		}
	}
	return bad
}

// An agent makes one ask after another and waits for each.
type agent struct {
	*clientPool
	number  int
	account account
	rand    *rand.Rand
}

// run makes asks until ctx is done or there is a violation.
func (a *agent) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil && a.ok(); n++ {
		a.step(ctx, n)
	}
}

func (a *agent) key(n int) string { return fmt.Sprintf("agent %d ask %d", a.number, n) }

func (a *agent) step(ctx context.Context, n int) {
	asked, ok := a.ask(ctx, a.key(n))
	if !ok {
		return
	}
	a.setState(a.number, agentState{n, asked.ID, a.account, true})
	settled, ok := a.wait(ctx, asked.ID)
	if !ok {
		return
	}
	a.setState(a.number, agentState{n + 1, asked.ID, a.account, false})
	if settled.Confirmation != nil && settled.Outcome.Approved() {
		a.consume(ctx, settled)
	}
	switch a.rand.IntN(10) {
	case 0, 1: // repeat the settled ask
		a.ask(ctx, a.key(n))
	case 2: // repeat an earlier ask
		a.ask(ctx, a.key(a.rand.IntN(n+1)))
	}
}

// ask makes an ask with a key, and retries until a server responds. It reports whether the
// ask was made.
func (a *agent) ask(ctx context.Context, key string) (askback.Ask, bool) {
	asked, _, err := call(ctx,
		a.conn, a.account.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Ask(ctx, request(key))
		})
	if !a.noError(ctx, "ask "+key, err) {
		return asked, false
	}
	a.record(ack{Op: opAsked, Key: ownedKey(a.account.name, key), ID: asked.ID})
	if asked.Outcome != nil {
		a.record(ack{Op: opSettled, ID: asked.ID, Text: outcomeText(asked.Outcome)})
	}
	return asked, true
}

// wait waits for an outcome, across restarts of the server. It reports whether there is an
// outcome.
func (a *agent) wait(ctx context.Context, id string) (askback.Ask, bool) {
	settled, _, err := call(ctx,
		a.conn, a.account.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Wait(ctx, id)
		})
	if !a.noError(ctx, "wait "+id, err) {
		return settled, false
	}
	if settled.Outcome == nil {
		a.violate(failed, "wait %s: ended without an outcome", id)
		return settled, false
	}
	a.record(ack{Op: opSettled, ID: id, Text: outcomeText(settled.Outcome)})
	return settled, true
}

// consume consumes an approval. ErrConsumed is expected if the response to an earlier
// attempt was lost.
func (a *agent) consume(ctx context.Context, of askback.Ask) {
	_, retried, err := call(ctx,
		a.conn, a.account.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Consume(ctx, of.ID, of.Confirmation.Digest)
		})
	switch {
	case retried && errors.Is(err, askback.ErrConsumed):
	case a.noError(ctx, "consume "+of.ID, err):
		a.record(ack{Op: opConsumed, ID: of.ID})
	}
}

// A person answers, declines and cancels asks, and repeats some calls.
type person struct {
	*clientPool
	account account
	rand    *rand.Rand
	last    func(context.Context) // the last call, for repetitions
}

func (p *person) run(ctx context.Context) {
	for ctx.Err() == nil && p.ok() {
		p.waitWhilePaused(ctx)
		p.act(ctx)
	}
}

func (p *person) act(ctx context.Context) {
	at := p.randomAsk(p.rand)
	dice := p.rand.IntN(100)
	switch {
	case at.id == "":
		_ = pause.For(ctx, retryPause) // no ask yet
		return
	case dice < 70:
		p.last = p.answer(ctx, at.id)
	case dice < 80:
		p.last = p.decline(at.id)
	case dice < 90:
		p.last = p.cancel(at)
	}
	if p.last != nil {
		p.last(ctx)
	}
}

// uniqueText returns a different text each time, so that all outcomes differ.
func (p *person) uniqueText() string { return fmt.Sprintf("%s %x", p.account.name, p.rand.Uint64()) }

// answer reads an ask and returns a function that answers it, or nil if the ask cannot be
// read.
func (p *person) answer(ctx context.Context, id string) func(context.Context) {
	a, _, err := call(ctx, p.conn, p.account.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Get(ctx, id)
	})
	if !p.noError(ctx, "get "+id, err) {
		return nil
	}
	if a.Outcome != nil {
		p.record(ack{Op: opSettled, ID: id, Text: outcomeText(a.Outcome)})
	}
	answer := askback.Choose([]string{"red", "green"}[p.rand.IntN(2)])
	if a.Kind == askback.Confirm {
		answer = askback.Decide([]askback.Decision{askback.Approve, askback.Approve, askback.Deny}[p.rand.IntN(3)], "")
	}
	answer.Comment = p.uniqueText()
	return p.settle("answer "+id,
		p.account, p.isOwn(answer.Comment), func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Answer(ctx, id, answer)
		})
}

func (p *person) decline(id string) func(context.Context) {
	text := p.uniqueText()
	return p.settle("decline "+id,
		p.account, p.isOwn(text), func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Decline(ctx, id, text)
		})
}

// cancel returns a function that cancels an ask in the name of its agent. A repeated
// cancel is not an error.
func (p *person) cancel(at agentState) func(context.Context) {
	text := p.uniqueText()
	own := func(o *askback.Outcome) bool { return o.Status == askback.Cancelled && o.Actor.Name == at.owner.name }
	return p.settle("cancel "+at.id, at.owner, own, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Cancel(ctx, at.id, text)
	})
}

// settle returns a function that settles an ask with do and records the outcome. The function can be called
// repeatedly.
func (p *person) settle(
	what string, as account, own func(*askback.Outcome) bool,
	do func(context.Context, *httpapi.Client) (askback.Ask, error),
) func(context.Context) {
	return func(ctx context.Context) {
		a, _, err := call(ctx, p.conn, as.token, do)
		p.recordOutcome(ctx, what, a, err, own)
	}
}

// isOwn returns a function that reports whether this person gave an outcome
// with this text.
func (p *person) isOwn(text string) func(*askback.Outcome) bool {
	return func(o *askback.Outcome) bool {
		return o.Actor.Name == p.account.name && (o.Comment == text || o.Reason == text)
	}
}
