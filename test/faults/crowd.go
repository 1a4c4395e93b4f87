package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/instance"
)

// How many outlive the server. Agents are far more, so that most of them wait.
const (
	agentCount  = 64
	personCount = 6
)

// A crowd is everybody who outlives the server: agents that ask and wait, and
// people who answer. They go on with whoever serves the database next, and
// write down whatever they were told.
type crowd struct {
	line   *line
	seed   uint64
	agents []holder // who asks; each is several agents at once
	people []holder

	mu     sync.Mutex
	ledger *ledger
	bad    []violation
	stands [agentCount]stand
	recent []stand
	next   int
	rest   chan struct{} // while people rest: closed when they go on
}

// A holder of a token.
type holder struct{ name, token string }

// nameOf is the name of whoever holds a token.
func (c *crowd) nameOf(token string) string {
	for _, h := range c.people {
		if h.token == token {
			return h.name
		}
	}
	return ""
}

// A stand is where an agent stands.
type stand struct {
	turn    int // asks it had the outcome of
	id      string
	owner   holder
	waiting bool
}

// live starts everybody; they work until ctx ends.
func (c *crowd) live(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range agentCount {
		a := &agent{c, i, c.agents[i%len(c.agents)], rand.New(rand.NewPCG(c.seed, uint64(i)))}
		all.Go(func() { a.live(ctx) })
	}
	for i := range personCount {
		p := &person{crowd: c, holder: c.people[i%len(c.people)], rand: rand.New(rand.NewPCG(c.seed, uint64(agentCount+i)))}
		all.Go(func() { p.live(ctx) })
	}
	return &all
}

// tell writes down what somebody was told.
func (c *crowd) tell(a ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad = append(c.bad, c.ledger.note(a)...)
}

// wrong writes down what must not happen.
func (c *crowd) wrong(f fault, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad = append(c.bad, violated(f, format, args...))
}

func (c *crowd) fine() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bad) == 0
}

// well says that a call went well; a failure that the end of ctx explains is
// written down by nobody.
func (c *crowd) well(ctx context.Context, what string, err error) bool {
	if err != nil && ctx.Err() == nil {
		c.wrong(failed, "%s: %v", what, err)
	}
	return err == nil
}

// settled writes down the outcome somebody was told who tried to give one. It
// must be his own exactly if he was told that he succeeded: also if he was told
// so only the second time.
func (c *crowd) settled(ctx context.Context, what string, a askback.Ask, err error, own func(*askback.Outcome) bool) {
	if !errors.Is(err, askback.ErrSettled) && !c.well(ctx, what, err) {
		return
	}
	if a.Outcome == nil {
		c.wrong(failed, "%s: told %v, without the outcome", what, err)
		return
	}
	c.tell(ack{Op: opSettled, ID: a.ID, Said: said(a.Outcome)})
	if own(a.Outcome) != (err == nil) {
		c.wrong(doubled, "%s: told %v, and the outcome is %s", what, err, said(a.Outcome))
	}
}

// stand notes where an agent stands.
func (c *crowd) stand(i int, now stand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.waiting && c.stands[i].waiting { // what is settled can be answered late
		if len(c.recent) < recent {
			c.recent = append(c.recent, c.stands[i])
		} else {
			c.recent[c.next%recent] = c.stands[i]
			c.next++
		}
	}
	c.stands[i] = now
}

// waiting is how many agents wait.
func (c *crowd) waiting() (n int) {
	for _, s := range c.standing() {
		if s.waiting {
			n++
		}
	}
	return n
}

func (c *crowd) standing() [agentCount]stand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stands
}

// any returns an ask that somebody waits for, or, sometimes, one that is over.
func (c *crowd) any(r *rand.Rand) stand {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.recent) > 0 && r.IntN(5) == 0 {
		return c.recent[r.IntN(len(c.recent))]
	}
	return c.stands[r.IntN(agentCount)]
}

// pause lets people rest until the function it returns is called.
func (c *crowd) pause() (goOn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := make(chan struct{})
	c.rest = rest
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(rest)
		c.rest = nil
	}
}

// rested returns when people do not rest.
func (c *crowd) rested(ctx context.Context) {
	c.mu.Lock()
	rest := c.rest
	c.mu.Unlock()
	if rest == nil {
		return
	}
	select {
	case <-rest:
	case <-ctx.Done():
	}
}

// untold are the agents that waited then and have had no outcome since.
func untold(then, now [agentCount]stand) (bad []violation) {
	for i, s := range then {
		if s.waiting && now[i].turn == s.turn {
			bad = append(bad, violated(lost, "agent %d waited for %s when the server was killed, and was never told how it ended", i, s.id))
		}
	}
	return bad
}

// An agent asks one thing after another and waits for each.
type agent struct {
	*crowd
	number int
	holder holder
	rand   *rand.Rand
}

// live asks until ctx ends, or something is wrong.
func (a *agent) live(ctx context.Context) {
	for n := 0; ctx.Err() == nil && a.fine(); n++ {
		a.once(ctx, n)
	}
}

func (a *agent) key(n int) string { return fmt.Sprintf("agent %d ask %d", a.number, n) }

func (a *agent) once(ctx context.Context, n int) {
	asked, ok := a.ask(ctx, a.key(n))
	if !ok {
		return
	}
	a.stand(a.number, stand{n, asked.ID, a.holder, true})
	told, ok := a.wait(ctx, asked.ID)
	if !ok {
		return
	}
	a.stand(a.number, stand{n + 1, asked.ID, a.holder, false})
	if told.Confirmation != nil && told.Outcome.Approved() {
		a.consume(ctx, told)
	}
	switch a.rand.IntN(10) {
	case 0, 1: // the same again, now that it is over
		a.ask(ctx, a.key(n))
	case 2: // or what was asked long before
		a.ask(ctx, a.key(a.rand.IntN(n+1)))
	}
}

// ask asks with a key, until it knows which ask that gave.
func (a *agent) ask(ctx context.Context, key string) (askback.Ask, bool) {
	asked, _, err := call(ctx, a.line, a.holder.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Ask(ctx, request(key))
	})
	if !a.well(ctx, "ask "+key, err) {
		return asked, false
	}
	a.tell(ack{Op: opAsked, Key: ownedKey(a.holder.name, key), ID: asked.ID})
	if asked.Outcome != nil {
		a.tell(ack{Op: opSettled, ID: asked.ID, Said: said(asked.Outcome)})
	}
	return asked, true
}

// wait waits for an outcome, however often the server is killed meanwhile.
func (a *agent) wait(ctx context.Context, id string) (askback.Ask, bool) {
	told, _, err := call(ctx, a.line, a.holder.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Wait(ctx, id)
	})
	if !a.well(ctx, "wait "+id, err) {
		return told, false
	}
	if told.Outcome == nil {
		a.wrong(failed, "wait %s: ended without an outcome", id)
		return told, false
	}
	a.tell(ack{Op: opSettled, ID: id, Said: said(told.Outcome)})
	return told, true
}

// consume spends an approval. That it is spent already can only be its own
// doing, by a call that got lost.
func (a *agent) consume(ctx context.Context, of askback.Ask) {
	_, again, err := call(ctx, a.line, a.holder.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Consume(ctx, of.ID, of.Confirmation.Digest)
	})
	switch {
	case again && errors.Is(err, askback.ErrConsumed):
	case a.well(ctx, "consume "+of.ID, err):
		a.tell(ack{Op: opConsumed, ID: of.ID})
	}
}

// A person answers, declines and withdraws, and says some things twice.
type person struct {
	*crowd
	holder holder
	rand   *rand.Rand
	last   func(context.Context) // said last
}

func (p *person) live(ctx context.Context) {
	for ctx.Err() == nil && p.fine() {
		p.rested(ctx)
		p.act(ctx)
	}
}

func (p *person) act(ctx context.Context) {
	at := p.any(p.rand)
	dice := p.rand.IntN(100)
	switch {
	case at.id == "":
		_ = instance.Pause(ctx, retryPause) // nobody has asked yet
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

// words are new each time, so that no two outcomes are the same.
func (p *person) words() string { return fmt.Sprintf("%s %x", p.holder.name, p.rand.Uint64()) }

// answer looks at an ask and returns what answers it.
func (p *person) answer(ctx context.Context, id string) func(context.Context) {
	a, _, err := call(ctx, p.line, p.holder.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Get(ctx, id)
	})
	if !p.well(ctx, "get "+id, err) {
		return nil
	}
	if a.Outcome != nil {
		p.tell(ack{Op: opSettled, ID: id, Said: said(a.Outcome)})
	}
	answer := askback.Choose([]string{"red", "green"}[p.rand.IntN(2)])
	if a.Kind == askback.Confirm {
		answer = askback.Decide([]askback.Decision{askback.Approve, askback.Approve, askback.Deny}[p.rand.IntN(3)], "")
	}
	answer.Comment = p.words()
	return p.settle("answer "+id, p.holder, p.own(answer.Comment), func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Answer(ctx, id, answer)
	})
}

func (p *person) decline(id string) func(context.Context) {
	words := p.words()
	return p.settle("decline "+id, p.holder, p.own(words), func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Decline(ctx, id, words)
	})
}

// cancel takes an ask back in the name of the agent that asked. To take back
// what it took back before is no error.
func (p *person) cancel(at stand) func(context.Context) {
	words := p.words()
	own := func(o *askback.Outcome) bool { return o.Status == askback.Cancelled && o.Actor.Name == at.owner.name }
	return p.settle("cancel "+at.id, at.owner, own, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Cancel(ctx, at.id, words)
	})
}

// settle returns what gives an ask an outcome: the first time, or once more.
func (p *person) settle(what string, as holder, own func(*askback.Outcome) bool, do func(context.Context, *httpapi.Client) (askback.Ask, error)) func(context.Context) {
	return func(ctx context.Context) {
		a, _, err := call(ctx, p.line, as.token, do)
		p.settled(ctx, what, a, err, own)
	}
}

// own tells the outcome that this person gave with these words.
func (p *person) own(words string) func(*askback.Outcome) bool {
	return func(o *askback.Outcome) bool {
		return o.Actor.Name == p.holder.name && (o.Comment == words || o.Reason == words)
	}
}
