package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/reports"
)

// Figures implements [reports.Reader]. Like [askback.Directory.Stats], it reads a bounded number of asks, and
// sets Partial if there are more.
func (c *Client) Figures(ctx context.Context, q reports.FiguresQuery) (reports.Figures, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return reports.Figures{}, err
	}
	b := newFiguresBuilder(c.service.Clock(), q)
	open := 0
	allOpen, err := c.eachAsk(ctx, askback.Query{}, func(a askback.Ask) bool {
		b.addOpen(a)
		open++
		return open < maxCounted
	})
	if err != nil {
		return reports.Figures{}, fmt.Errorf("figures: %w", err)
	}
	looked := 0
	all, err := c.eachAsk(ctx,
		askback.Query{Status: askback.AnyStatus, Since: b.figures.Since}, func(a askback.Ask) bool {
			b.addAsked(a)
			looked++
			return looked < maxCounted
		})
	if err != nil {
		return reports.Figures{}, fmt.Errorf("figures: %w", err)
	}
	b.figures.Partial = !allOpen || !all
	return b.result(), nil
}

// A figuresBuilder accumulates the counts and waiting times from which [reports.Figures] are computed.
type figuresBuilder struct {
	figures  reports.Figures
	waits    []time.Duration
	agents   map[agentKey]*agentWaits
	people   map[string]*personFigureWaits
	outcomes map[outcomeKey]int
}

type agentKey struct{ label, owner string }

type outcomeKey struct {
	status askback.Status
	actor  askback.ActorKind
}

// An agentWaits is the figures of an agent, with the waiting times of its asks.
type agentWaits struct {
	reports.AgentFigures
	waits []time.Duration
}

// A personFigureWaits is the figures of a person, with the times until the person answered.
type personFigureWaits struct {
	reports.PersonFigures
	waits []time.Duration
}

func newFiguresBuilder(now time.Time, q reports.FiguresQuery) *figuresBuilder {
	b := &figuresBuilder{
		agents: map[agentKey]*agentWaits{}, people: map[string]*personFigureWaits{}, outcomes: map[outcomeKey]int{},
	}
	b.figures.Since = now.Add(-q.Period)
	for i := range q.Points {
		back := q.Period * time.Duration(q.Points-1-i) / time.Duration(q.Points)
		b.figures.Waiting = append(b.figures.Waiting, reports.WaitingCount{At: now.Add(-back)})
	}
	return b
}

func (b *figuresBuilder) agent(a askback.Ask) *agentWaits {
	key := agentKey{a.Agent, a.Owner}
	if b.agents[key] == nil {
		b.agents[key] = &agentWaits{AgentFigures: reports.AgentFigures{Label: a.Agent, Owner: a.Owner}}
	}
	return b.agents[key]
}

// addOpen adds an open ask of any age.
func (b *figuresBuilder) addOpen(a askback.Ask) {
	b.agent(a).Open++
	b.addWaiting(a)
	if len(a.People()) == 0 {
		b.figures.OpenForAll++
	}
	for _, name := range a.People() {
		b.person(name).Open++
	}
}

func (b *figuresBuilder) person(name string) *personFigureWaits {
	if b.people[name] == nil {
		b.people[name] = &personFigureWaits{PersonFigures: reports.PersonFigures{Name: name}}
	}
	return b.people[name]
}

// addAsked adds an ask that was made in the period. addOpen has already counted open asks.
func (b *figuresBuilder) addAsked(a askback.Ask) {
	b.figures.Asked++
	g := b.agent(a)
	g.Asked++
	for _, t := range []time.Time{a.CreatedAt, a.AckedAt} {
		if t.After(g.LastSeen) {
			g.LastSeen = t
		}
	}
	if !a.Settled() {
		return
	}
	b.addWaiting(a)
	o := a.Outcome
	b.outcomes[outcomeKey{o.Status, o.Actor.Kind}]++
	if o.Status != askback.Answered || o.Actor.Kind != askback.ActorPerson {
		return
	}
	wait := o.At.Sub(a.CreatedAt)
	b.waits, g.waits = append(b.waits, wait), append(g.waits, wait)
	p := b.person(o.Actor.Name)
	p.waits = append(p.waits, wait)
	switch {
	case o.Approved():
		p.Approved++
	case o.Decision == askback.Deny:
		p.Denied++
	}
}

// addWaiting adds an ask to the counts of the times at which it was open.
func (b *figuresBuilder) addWaiting(a askback.Ask) {
	for i, w := range b.figures.Waiting {
		if !a.CreatedAt.After(w.At) && (a.Outcome == nil || a.Outcome.At.After(w.At)) {
			b.figures.Waiting[i].Count++
		}
	}
}

func (b *figuresBuilder) result() reports.Figures {
	f := b.figures
	f.Wait = waitFigures(b.waits)
	for key, n := range b.outcomes {
		f.Outcomes = append(f.Outcomes, reports.OutcomeCount{Status: key.status, Actor: key.actor, Count: n})
	}
	for _, g := range b.agents {
		g.Wait = waitFigures(g.waits)
		f.Agents = append(f.Agents, g.AgentFigures)
	}
	for _, p := range b.people {
		p.Wait = waitFigures(p.waits)
		f.People = append(f.People, p.PersonFigures)
	}
	slices.SortFunc(f.Outcomes, func(a, b reports.OutcomeCount) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Actor, b.Actor))
	})
	slices.SortFunc(f.Agents, func(a, b reports.AgentFigures) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Owner, b.Owner))
	})
	slices.SortFunc(f.People, func(a, b reports.PersonFigures) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// waitFigures sorts waits and returns their median and their 90th percentile. The percentile is the shortest
// wait that is at least as long as nine of ten waits.
func waitFigures(waits []time.Duration) reports.WaitFigures {
	n := len(waits)
	if n == 0 {
		return reports.WaitFigures{}
	}
	slices.Sort(waits)
	return reports.WaitFigures{Answers: n, Median: (waits[(n-1)/2] + waits[n/2]) / 2, P90: waits[(n*9+9)/10-1]}
}
