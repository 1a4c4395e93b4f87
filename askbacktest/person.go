package askbacktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// ErrUnscripted is returned by the Wait method of an agent if nothing will settle its
// ask. The ask has no deadline and matches no remaining reply, and every person who
// may answer it has a script. If no person has a script, Wait blocks instead.
var ErrUnscripted = errors.New("no script answers this ask")

// A Person answers asks, either by a script or when the test calls the methods
// of the embedded client.
type Person struct {
	askback.PersonClient
	Name string

	instance *Instance
	script   []*scriptedReply
	returned map[string]bool // ids of the asks that Next has returned
}

// A scriptedReply is a reply of a script with the number of its uses.
type scriptedReply struct {
	Reply
	used int
}

// Person adds a person with a script. Each ask is answered by the first matching reply of a person who may
// answer it. Replies are tried in the order in which people were added. Open asks that no reply has matched
// yet are tried again. A person without a script answers only when the test calls methods of the person, such
// as [Person.Next], which returns an ask. Person panics if a reply is the zero Reply.
func (i *Instance) Person(name string, script ...Reply) *Person {
	p := &Person{
		PersonClient: i.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelAPI}),
		Name:         name, instance: i, returned: map[string]bool{},
	}
	for _, r := range script {
		if r.send == nil {
			panic("askbacktest: the script of " + name +
				" has an empty Reply; use Answer, Approve, Deny, Decline, Ignore or Give")
		}
		p.script = append(p.script, &scriptedReply{Reply: r})
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.people = append(i.people, p)
	for _, a := range i.open() {
		if !a.matched {
			i.queue = append(i.queue, a.ID)
		}
	}
	i.wake.Signal()
	return p
}

// Next returns the oldest pending ask that the person may answer and that Next has not returned before. It
// blocks until there is such an ask. If ctx ends first, it returns the cause of ctx.
func (p *Person) Next(ctx context.Context) (askback.Ask, error) {
	for {
		a, changed := p.next()
		if a.ID != "" {
			return a, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return askback.Ask{}, context.Cause(ctx)
		}
	}
}

// next is like [Person.Next], but does not block. If there is no ask, it returns the zero Ask and a channel
// that is closed at the next change.
func (p *Person) next() (askback.Ask, <-chan struct{}) {
	p.instance.mu.Lock()
	defer p.instance.mu.Unlock()
	for _, a := range p.instance.open() {
		if p.mayAnswer(a.Ask) && !p.returned[a.ID] {
			p.returned[a.ID] = true
			return a.Clone(), nil
		}
	}
	return askback.Ask{}, p.instance.changed
}

func (p *Person) mayAnswer(a askback.Ask) bool {
	return a.Addressed(p.Name)
}

// answerAll answers the queued asks by the scripts, one after another, until the
// instance is closed and the queue is empty.
func (i *Instance) answerAll() {
	defer close(i.done)
	for {
		i.mu.Lock()
		i.busy = false
		i.notify()
		for len(i.queue) == 0 && !i.closing {
			i.wake.Wait()
		}
		if len(i.queue) == 0 {
			i.mu.Unlock()
			return
		}
		a := i.asks[i.queue[0]]
		i.queue, i.busy = i.queue[1:], true
		if a.matched || a.Settled() {
			i.mu.Unlock()
			continue
		}
		person, reply := i.match(a)
		ask := a.Clone()
		i.mu.Unlock()
		if reply != nil {
			i.send(person, reply, ask)
		}
	}
}

// match returns the first reply that matches an ask, with its person, and counts it
// as used. If no reply matches and the ask is unanswerable, its Wait calls fail. The
// caller holds the lock.
func (i *Instance) match(a *askState) (*Person, *scriptedReply) {
	for _, p := range i.people {
		if !p.mayAnswer(a.Ask) {
			continue
		}
		for _, r := range p.script {
			if (r.times == 0 || r.used < r.times) && r.matches(a.Ask) {
				r.used++
				a.matched, a.err = true, nil
				return p, r
			}
		}
	}
	if i.unanswerable(a.Ask) {
		a.fail(fmt.Errorf("askbacktest: %w: %s\n%s", ErrUnscripted, describe(a.Ask), i.scripts(a.Ask)))
	}
	return nil, nil
}

// send answers an ask with a reply. If the ask was settled in the meantime, the reply
// does not count as used. For any other error, the test and the Wait calls fail.
func (i *Instance) send(p *Person, r *scriptedReply, a askback.Ask) {
	err := r.send(context.Background(), p.PersonClient, a)
	if err == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if errors.Is(err, askback.ErrSettled) {
		r.used--
		return
	}
	i.t.Errorf("askbacktest: %s of %s, to %s: %v", r, p.Name, describe(a), err)
	i.asks[a.ID].fail(fmt.Errorf("askbacktest: %s of %s: %w", r, p.Name, err))
}

// unanswerable reports whether neither a deadline nor a call by the test will settle
// an ask that no reply matched. The caller holds the lock.
func (i *Instance) unanswerable(a askback.Ask) bool {
	return a.Deadline.IsZero() && i.scripted() && !i.answeredByTest(a)
}

// answeredByTest reports whether a person without a script may answer an ask. The
// caller holds the lock.
func (i *Instance) answeredByTest(a askback.Ask) bool {
	return slices.ContainsFunc(i.people, func(p *Person) bool { return len(p.script) == 0 && p.mayAnswer(a) })
}

// scripted reports whether any person has a script. If no person has a script, the test itself answers all
// asks. The caller holds the lock.
func (i *Instance) scripted() bool {
	return slices.ContainsFunc(i.people, func(p *Person) bool { return len(p.script) > 0 })
}

// fail ends the present and later Wait calls for an ask with an error. The caller
// holds the lock.
func (a *askState) fail(err error) {
	a.err = err
	for _, cancel := range a.waiters {
		cancel(err)
	}
}

// An agent is the client of an agent. Its Wait fails if no person will answer.
type agent struct {
	askback.AgentClient
	instance *Instance
}

// Wait implements askback.Asker.
func (g agent) Wait(ctx context.Context, id string) (askback.Ask, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g.instance.mu.Lock()
	if a := g.instance.asks[id]; a != nil {
		a.waiters = append(a.waiters, cancel)
		if a.err != nil {
			cancel(a.err)
		}
	}
	g.instance.mu.Unlock()
	a, err := g.AgentClient.Wait(ctx, id)
	if a.Settled() {
		g.instance.recordSettled(a)
	}
	return a, err
}

// recordSettled records the outcome that Wait returned. Wait may return before the
// observer is called, and then Asks must return the outcome, too.
func (i *Instance) recordSettled(a askback.Ask) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if known := i.asks[a.ID]; known != nil && !known.Settled() {
		known.Ask = a.Clone()
		i.notify()
	}
}

// reportUnanswered reports the asks that are pending because no reply matched them,
// unless a person without a script may answer them. The caller holds the lock.
func (i *Instance) reportUnanswered() {
	i.t.Helper()
	for _, a := range i.open() {
		if i.scripted() && !a.matched && !i.answeredByTest(a.Ask) {
			i.t.Errorf("askbacktest: %v: %s\n%s", ErrUnscripted, describe(a.Ask), i.scripts(a.Ask))
		}
	}
}

func (p *Person) reportUnused(t testing.TB) {
	t.Helper()
	for _, r := range p.script {
		switch {
		case r.used == 0:
			t.Errorf("askbacktest: %s of %s was not used: no such ask was made", r, p.Name)
		case r.used < r.times:
			t.Errorf("askbacktest: %s of %s was used %d times, want %d", r, p.Name, r.used, r.times)
		}
	}
}

// describe returns the agent and the content of an ask in one line.
func describe(a askback.Ask) string {
	if a.Kind == askback.Confirm {
		return fmt.Sprintf("%s asks to run %s with %s", a.Agent, a.Confirmation.ToolName, a.Confirmation.Input)
	}
	texts := make([]string, len(a.Questions))
	for n, q := range a.Questions {
		labels := make([]string, len(q.Options))
		for j, o := range q.Options {
			labels[j] = fmt.Sprintf("%q", o.Label)
		}
		texts[n] = strings.TrimSuffix(fmt.Sprintf("%q %s", q.Text, strings.Join(labels, ", ")), " ")
	}
	return a.Agent + " asks " + strings.Join(texts, "; ")
}

// scripts lists, for an error message, each person with the remaining replies, or with
// the reason why the person may not answer the ask. The caller holds the lock.
func (i *Instance) scripts(a askback.Ask) string {
	var b strings.Builder
	for _, p := range i.people {
		var left []string
		for _, r := range p.script {
			if r.times == 0 || r.used < r.times {
				left = append(left, r.String())
			}
		}
		switch {
		case !p.mayAnswer(a):
			fmt.Fprintf(&b, "\t%s may not answer: the ask is addressed to %s\n", p.Name, strings.Join(a.To, ", "))
		case len(left) == 0:
			fmt.Fprintf(&b, "\t%s has no replies left\n", p.Name)
		default:
			fmt.Fprintf(&b, "\t%s has these replies left: %s\n", p.Name, strings.Join(left, ", "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
