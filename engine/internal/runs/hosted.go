package runs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// HostedAgents implements [askback.Sessions].
func (c *Client) HostedAgents(context.Context) ([]askback.HostedAgent, error) {
	if err := c.Authorize(access.ActRun); err != nil {
		return nil, err
	}
	return c.service.HostedAgents(), nil
}

// HostedAgents returns the agents that this engine can start, sorted by name, each with the time of its next
// run.
func (e *Service) HostedAgents() []askback.HostedAgent {
	if e.Runner == nil {
		return nil
	}
	all := e.Runner.Agents()
	if s, ok := e.Runner.(Scheduler); ok {
		for i, a := range all {
			if a.Schedule != "" {
				all[i].NextRun = s.NextRun(a.Name, e.Clock()).UTC()
			}
		}
	}
	return all
}

// A CallbackRunner is a [Runner] whose agents have callbacks.
type CallbackRunner interface {
	// Callback returns the address that receives the events of the runs of an agent, or "".
	Callback(agent string) string
}

// agentCallback returns the address that receives the events of the runs of an agent, or "". The error is not
// nil if the engine cannot send to the address.
func (e *Service) agentCallback(agent string) (string, error) {
	c, ok := e.Runner.(CallbackRunner)
	if !ok {
		return "", nil
	}
	address := c.Callback(agent)
	if err := e.CheckCallback(address); err != nil {
		return "", fmt.Errorf("the callback of agent %s: %w", agent, err)
	}
	return address, nil
}

// IsHosted reports whether a session belongs to a hosted agent.
func (e *Service) IsHosted(ctx context.Context, id string) (bool, error) {
	_, err := e.Store.Read(ctx, KindRun, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, txn.FromStore(err)
}

// LimitRuns records that a program starts a run. It returns [askback.ErrTooMany] if the program has as many
// open runs as it may have open asks. The asks of its runs do not count as its own.
func (e *Service) LimitRuns(ctx context.Context, owner string) error {
	if limit := e.MaxOpen(); limit > 0 {
		n, err := e.countRuns(ctx, owner, limit)
		if err != nil {
			return err
		}
		if n >= limit {
			return &askback.RetryError{
				Err: askback.ErrTooMany, After: txn.FullRetryAfter,
				Why: fmt.Sprintf("%s has %d open runs, the maximum; wait until some end, or cancel them", owner, limit),
			}
		}
	}
	return e.LimitStarts(owner)
}

// LimitStarts records that a program starts a turn of a run. A program may start as many turns in a minute as
// an agent may make asks, because each turn costs requests to a model.
func (e *Service) LimitStarts(owner string) error {
	limit := e.Settings.Load().AsksPerMinute
	err := e.Quota.LimitRate("start\x00"+owner, limit, e.Clock())
	if r, ok := errors.AsType[*askback.RetryError](err); ok {
		r.Why = fmt.Sprintf("%s started %d runs within a minute, the maximum; the next one can start in %.0f s", owner,
			limit, math.Ceil(r.After.Seconds()))
	}
	return err
}

// preferCallback removes the callback of an agent from the ask of a run if the session has a callback. The
// ask then gets the callback of the session, which the starter of the run chose.
func (e *Service) preferCallback(ctx context.Context, id string, r *askback.Request) error {
	if r.CallbackURL == "" {
		return nil
	}
	row, err := e.Store.Read(ctx, txn.KindSession, id)
	if err != nil {
		return txn.FromStore(err)
	}
	s, err := txn.DecodeSession(row)
	if s.Callback != "" {
		r.CallbackURL = ""
	}
	return err
}

// agentNames returns the fix for an unknown agent: a sentence with the names of the first hosted agents.
func (e *Service) agentNames() string {
	const most = 20
	var names []string
	for i, a := range e.Runner.Agents() {
		if i == most {
			names = append(names, "and others")
			break
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return "add the definition of an agent"
	}
	return "name one of " + strings.Join(names, ", ")
}

// countRuns returns the number of open hosted sessions of an owner, at most limit. If the owner has fewer
// than limit open sessions, countRuns returns the number of all of them. It then need not read which sessions
// are hosted.
func (e *Service) countRuns(ctx context.Context, owner string, limit int) (n int, err error) {
	all, err := e.Store.CountOpen(ctx, txn.KindSession, owner, limit)
	if err != nil || all < limit { // most owners have few open sessions
		return all, txn.FromStore(err)
	}
	for s, err := range e.OpenSessions(ctx, owner) {
		if err != nil {
			return 0, err
		}
		if s.Hosted {
			n++
		}
		if n == limit {
			break
		}
	}
	return n, nil
}
