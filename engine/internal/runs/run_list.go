package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// Children returns the sessions that the run of a session started, oldest first. It omits sessions that
// cannot be read.
func (c *Client) Children(ctx context.Context, id string) (children []askback.Session, err error) {
	if _, err := c.FindSession(ctx, access.ActFollow, id); err != nil {
		return nil, fmt.Errorf("children of %s: %w", id, err)
	}
	r, err := c.service.readRun(ctx, id)
	if errors.Is(err, askback.ErrNotFound) {
		return nil, nil // the agent of this session is not hosted
	}
	if err != nil {
		return nil, fmt.Errorf("children of %s: %w", id, err)
	}
	for call := 1; call <= r.state.Calls && len(children) < r.state.Spawned; call++ {
		for child := 0; ; child++ {
			row, err := c.service.Store.ReadKey(ctx, txn.KindSession, childKey(id, runWork{Call: call, Child: child}))
			if errors.Is(err, store.ErrNotFound) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("children of %s: %w", id, txn.FromStore(err))
			}
			s, err := txn.DecodeSession(row)
			if err != nil {
				continue // this session is damaged, but the other sessions can be read
			}
			children = append(children, s.Session)
		}
	}
	return children, nil
}

// knownRun returns a stored run. It returns nil if there is no such run, or if the run cannot be read.
func (e *Service) knownRun(ctx context.Context, session string) (*runRecord, error) {
	r, err := e.readRun(ctx, session)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r, nil
}

// OpenCalls returns the calls of the run of a session that have no result yet. It returns nil if there is no
// such run, or if the run cannot be read.
func (e *Service) OpenCalls(ctx context.Context, session string) ([]conversation.Open, error) {
	r, err := e.knownRun(ctx, session)
	if err != nil || r == nil {
		return nil, err
	}
	return r.state.Open, nil
}

// AsksOf returns an ask that has the agent of the run of a session, its owner, and the recipients that it
// names. It also reports whether the run may ask people. The ask is nil if the run or its definition is not
// known.
func (e *Service) AsksOf(ctx context.Context, session string) (a *askback.Ask, asks bool, err error) {
	r, err := e.knownRun(ctx, session)
	if err != nil || r == nil || e.Runner == nil {
		return nil, false, err
	}
	a = &askback.Ask{Agent: r.fixed.Agent, Owner: askback.HostedPrefix + r.fixed.Agent}
	if a.To, asks, err = e.Runner.Asks(r.fixed.Run); err != nil {
		return nil, false, nil //nolint:nilerr // its definition is gone, so it is not known whom it asks
	}
	return a, asks, nil
}
