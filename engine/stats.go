package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// maxCounted is how many open asks, and how many settled ones, statistics read.
// Any responder may request them, so they must take a fraction of a second.
const maxCounted = 4000

// People implements [askback.Directory]. It returns the people that the configuration
// names and those with a token of kind responder or admin.
func (s *client) People(ctx context.Context) ([]askback.Person, error) {
	if err := s.authorize(askback.ActPeople); err != nil {
		return nil, err
	}
	people := slices.Clone(s.engine.settings.Load().People)
	err := s.engine.EachToken(ctx, true, func(t askback.Token) {
		known := slices.ContainsFunc(people, func(p askback.Person) bool { return p.Name == t.Name })
		if !known && (t.Kind == askback.Responder || t.Kind == askback.Admin) {
			people = append(people, askback.Person{Name: t.Name})
		}
	})
	slices.SortFunc(people, func(a, b askback.Person) int { return cmp.Compare(a.Name, b.Name) })
	return people, err
}

// Agents implements [askback.Directory].
func (s *client) Agents(ctx context.Context) ([]askback.AgentStats, error) {
	if err := s.authorize(askback.ActPeople); err != nil {
		return nil, err
	}
	c := s.newStats()
	if err := s.countOpen(ctx, &c); err != nil {
		return nil, err
	}
	agents := c.stats.Agents
	err := s.engine.EachToken(ctx, true, func(t askback.Token) {
		known := slices.ContainsFunc(agents, func(a askback.AgentStats) bool { return a.Name == t.Name })
		if !known && t.Kind == askback.Agent {
			agents = append(agents, askback.AgentStats{Name: t.Name})
		}
	})
	slices.SortFunc(agents, func(a, b askback.AgentStats) int { return cmp.Compare(a.Name, b.Name) })
	return agents, err
}

// Stats implements [askback.Directory]. It counts the asks that this principal may see;
// for an operator, all asks.
func (s *client) Stats(ctx context.Context) (askback.Stats, error) {
	if err := s.authorize(askback.ActPeople); err != nil {
		return askback.Stats{}, err
	}
	c := s.newStats()
	if err := s.countOpen(ctx, &c); err != nil {
		return c.stats, fmt.Errorf("stats: %w", err)
	}
	since := c.now.Add(-askback.StatsTime)
	looked := 0
	err := s.eachAsk(ctx, askback.Query{Status: askback.AnyStatus}, func(a askback.Ask) bool {
		looked++
		if a.Settled() && !a.Outcome.At.Before(since) {
			c.addSettled(a)
		}
		return looked < maxCounted
	})
	c.stats.Partial = c.stats.Pending >= maxCounted || looked >= maxCounted
	return c.result(), err
}

func (s *client) newStats() statsBuilder {
	return statsBuilder{now: s.engine.clock(), stats: askback.Stats{
		Settled: map[askback.Status]int{}, Answers: []askback.PersonStats{}, Agents: []askback.AgentStats{},
	}}
}

func (s *client) countOpen(ctx context.Context, c *statsBuilder) error {
	return s.eachAsk(ctx, askback.Query{}, func(a askback.Ask) bool {
		c.addPending(a)
		return c.stats.Pending < maxCounted
	})
}

// eachAsk calls do for the asks of a query until it returns false. For an operator
// it passes all asks, which an operator may count but not see.
func (s *client) eachAsk(ctx context.Context, q askback.Query, do func(askback.Ask) bool) error {
	q.Limit = askback.MaxLimit
	for {
		page, err := s.list(ctx, q, s.who.Kind == askback.Operator)
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			if !do(a) {
				return nil
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}

// statsBuilder accumulates [askback.Stats].
type statsBuilder struct {
	now    time.Time
	stats  askback.Stats
	waits  []float64 // seconds until people answered
	people []personWaits
}

// personWaits is the statistics of a person, with the times that their median is
// made of.
type personWaits struct {
	askback.PersonStats
	waits []float64
}

func (c *statsBuilder) addPending(a askback.Ask) {
	c.stats.Pending++
	c.stats.OldestPending = max(c.stats.OldestPending, c.now.Sub(a.CreatedAt).Seconds())
	i := slices.IndexFunc(c.stats.Agents, func(g askback.AgentStats) bool { return g.Name == a.Owner })
	if i < 0 {
		i = len(c.stats.Agents)
		c.stats.Agents = append(c.stats.Agents, askback.AgentStats{Name: a.Owner})
	}
	c.stats.Agents[i].Pending++
}

func (c *statsBuilder) addSettled(a askback.Ask) {
	o := a.Outcome
	c.stats.Settled[o.Status]++
	if o.Actor.Kind == askback.ActorPolicy {
		c.stats.ByPolicy++
	}
	if o.Status != askback.Answered || o.Actor.Kind != askback.ActorPerson {
		return
	}
	wait := o.At.Sub(a.CreatedAt).Seconds()
	c.waits = append(c.waits, wait)
	i := slices.IndexFunc(c.people, func(p personWaits) bool { return p.Name == o.Actor.Name })
	if i < 0 {
		i = len(c.people)
		c.people = append(c.people, personWaits{PersonStats: askback.PersonStats{Name: o.Actor.Name}})
	}
	p := &c.people[i]
	p.Answered++
	p.waits = append(p.waits, wait)
	switch {
	case o.Approved():
		p.Approved++
	case o.Decision == askback.Deny:
		p.Denied++
	}
}

func (c *statsBuilder) result() askback.Stats {
	c.stats.MedianWait = median(c.waits)
	for _, p := range c.people {
		p.MedianWait = median(p.waits)
		c.stats.Answers = append(c.stats.Answers, p.PersonStats)
	}
	slices.SortFunc(c.stats.Answers, func(a, b askback.PersonStats) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.stats.Agents, func(a, b askback.AgentStats) int { return cmp.Compare(a.Name, b.Name) })
	return c.stats
}

// median sorts all and returns its median, or 0 if it is empty.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
