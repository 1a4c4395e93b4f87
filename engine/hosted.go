package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// HostedAgents implements [askback.Sessions].
func (c *client) HostedAgents(context.Context) ([]askback.HostedAgent, error) {
	if err := c.authorize(access.ActRun); err != nil {
		return nil, err
	}
	return c.engine.HostedAgents(), nil
}

// HostedAgents returns the agents that can be started here, in order of name, each with the time
// of its next run.
func (e *Engine) HostedAgents() []askback.HostedAgent {
	if e.runner == nil {
		return nil
	}
	all := e.runner.Agents()
	if s, ok := e.runner.(Scheduler); ok {
		for i, a := range all {
			if a.Schedule != "" {
				all[i].NextRun = s.NextRun(a.Name, e.clock()).UTC()
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

// agentCallback returns the address that receives the events of the runs of an agent, or "".
func (e *Engine) agentCallback(agent string) (string, error) {
	c, ok := e.runner.(CallbackRunner)
	if !ok {
		return "", nil
	}
	address := c.Callback(agent)
	if err := e.checkCallback(address); err != nil {
		return "", fmt.Errorf("the callback of agent %s: %w", agent, err)
	}
	return address, nil
}

// isHosted reports whether a session is that of a hosted agent.
func (e *Engine) isHosted(ctx context.Context, id string) (bool, error) {
	_, err := e.store.Read(ctx, kindRun, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, fromStore(err)
}

// limitRuns records that a program starts a run. It returns [askback.ErrTooMany] if the program
// has as many runs as it may have open asks: the asks of its runs are not counted as its own.
func (e *Engine) limitRuns(ctx context.Context, owner string) error {
	if limit := e.maxOpen(); limit > 0 {
		n, err := e.countRuns(ctx, owner, limit)
		if err != nil {
			return err
		}
		if n >= limit {
			return &askback.RetryError{
				Err: askback.ErrTooMany, After: fullRetryAfter,
				Why: fmt.Sprintf("%s has %d runs that have not ended, as many as it may have; wait until some end, or cancel them", owner, limit),
			}
		}
	}
	return e.limitStarts(owner)
}

// limitStarts records that a program starts a turn of a run. Programs may start as many runs in a minute as
// an agent may ask: each run costs requests to a model.
func (e *Engine) limitStarts(owner string) error {
	limit := e.settings.Load().AsksPerMinute
	err := e.quota.limitRate("start\x00"+owner, limit, e.clock())
	if r, ok := errors.AsType[*askback.RetryError](err); ok {
		r.Why = fmt.Sprintf("%s started %d runs within a minute, as many as it may; the next one is started in %.0f s", owner, limit, math.Ceil(r.After.Seconds()))
	}
	return err
}

// preferCallback removes the callback of an agent from the ask of a run whose session has one:
// that of the session is its starter's, and the ask gets it then.
func (e *Engine) preferCallback(ctx context.Context, id string, r *askback.Request) error {
	if r.CallbackURL == "" {
		return nil
	}
	row, err := e.store.Read(ctx, kindSession, id)
	if err != nil {
		return fromStore(err)
	}
	s, err := decodeSession(row)
	if s.Callback != "" {
		r.CallbackURL = ""
	}
	return err
}

// agentNames returns a sentence with the names of the first hosted agents.
func (e *Engine) agentNames() string {
	const most = 20
	var names []string
	for i, a := range e.runner.Agents() {
		if i == most {
			names = append(names, "and others")
			break
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return "add the definition of one"
	}
	return "name one of " + strings.Join(names, ", ")
}
