package feed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/limits"
)

// maxCounted is the maximum number of asks that Stats reads: first of the open asks, and then of all asks.
// Any responder may request statistics, so a request must take only a fraction of a second.
const maxCounted = 4000

// Agents implements [askback.Directory].
func (c *Client) Agents(ctx context.Context) ([]askback.AgentStats, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return nil, err
	}
	b, _, err := c.countOpen(ctx)
	if err != nil {
		return nil, err
	}
	err = c.service.EachToken(ctx, true, func(t askback.Token) {
		if t.Kind == askback.Agent {
			b.pending[t.Name] += 0 // an agent without an open ask is listed too
		}
	})
	return b.result().Agents, err
}

// Stats implements [askback.Directory]. It counts the asks that this principal may see, or all asks for an
// operator. If there are more than maxCounted, it sets Partial.
func (c *Client) Stats(ctx context.Context) (askback.Stats, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return askback.Stats{}, err
	}
	b, allOpen, err := c.countOpen(ctx)
	if err != nil {
		return askback.Stats{}, fmt.Errorf("stats: %w", err)
	}
	since := b.now.Add(-limits.StatsTime)
	looked := 0
	all, err := c.eachAsk(ctx, askback.Query{Status: askback.AnyStatus}, func(a askback.Ask) bool {
		looked++
		if a.Settled() && !a.Outcome.At.Before(since) {
			b.addSettled(a)
		}
		return looked < maxCounted
	})
	b.stats.Partial = !allOpen || !all
	return b.result(), err
}

// countOpen returns a builder with the statistics of at most maxCounted open asks. It
// reports false if there may be more.
func (c *Client) countOpen(ctx context.Context) (b *statsBuilder, all bool, err error) {
	b = &statsBuilder{now: c.service.Clock(), pending: map[string]int{}, people: map[string]*personWaits{}}
	b.stats.Settled = map[askback.Status]int{}
	all, err = c.eachAsk(ctx, askback.Query{}, func(a askback.Ask) bool {
		b.addPending(a)
		return b.stats.Pending < maxCounted
	})
	return b, all, err
}

// eachAsk calls do for the asks of a query until do returns false, or until a page has no ask. It reports
// whether all asks were passed to do. An operator may count all asks but not see them, so for an operator
// eachAsk ignores the permissions.
func (c *Client) eachAsk(ctx context.Context, q askback.Query, do func(askback.Ask) bool) (all bool, err error) {
	q.Limit = askback.MaxLimit
	for {
		page, err := c.list(ctx, q, c.Who.Kind == askback.Operator, nil)
		if err != nil {
			return false, err
		}
		for _, a := range page.Items {
			if !do(a) {
				return false, nil
			}
		}
		q.Cursor = page.NextCursor
		switch {
		case q.Cursor == "":
			return true, nil
		case len(page.Items) == 0:
			return false, nil // few of the asks are visible
		}
	}
}

// A statsBuilder accumulates the counts and waiting times from which [askback.Stats] are computed.
type statsBuilder struct {
	now     time.Time
	stats   askback.Stats
	waits   []float64               // seconds until people answered
	pending map[string]int          // the number of open asks, keyed by agent
	people  map[string]*personWaits // by name
}

// A personWaits is the statistics of a person, with the waiting times from which the median is computed.
type personWaits struct {
	askback.PersonStats
	waits []float64
}

func (b *statsBuilder) addPending(a askback.Ask) {
	b.stats.Pending++
	b.stats.OldestPending = max(b.stats.OldestPending, b.now.Sub(a.CreatedAt).Seconds())
	b.pending[a.Owner]++
}

func (b *statsBuilder) addSettled(a askback.Ask) {
	o := a.Outcome
	b.stats.Settled[o.Status]++
	if o.Actor.Kind == askback.ActorPolicy {
		b.stats.ByPolicy++
	}
	if o.Status != askback.Answered || o.Actor.Kind != askback.ActorPerson {
		return
	}
	wait := o.At.Sub(a.CreatedAt).Seconds()
	b.waits = append(b.waits, wait)
	p := b.people[o.Actor.Name]
	if p == nil {
		p = &personWaits{PersonStats: askback.PersonStats{Name: o.Actor.Name}}
		b.people[p.Name] = p
	}
	p.Answered++
	p.waits = append(p.waits, wait)
	switch {
	case o.Approved():
		p.Approved++
	case o.Decision == askback.Deny:
		p.Denied++
	}
}

// result returns the statistics, with people and agents sorted by name.
func (b *statsBuilder) result() askback.Stats {
	b.stats.MedianWait = median(b.waits)
	b.stats.Answers, b.stats.Agents = []askback.PersonStats{}, []askback.AgentStats{}
	for _, name := range slices.Sorted(maps.Keys(b.people)) {
		p := b.people[name]
		p.MedianWait = median(p.waits)
		b.stats.Answers = append(b.stats.Answers, p.PersonStats)
	}
	for _, name := range slices.Sorted(maps.Keys(b.pending)) {
		b.stats.Agents = append(b.stats.Agents, askback.AgentStats{Name: name, Pending: b.pending[name]})
	}
	return b.stats
}

// median sorts all and returns its median, or 0 if it is empty.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
