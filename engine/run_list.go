package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// Children implements [askback.Reports].
func (c *client) Children(ctx context.Context, id string) (children []askback.Session, err error) {
	if _, err := c.findSession(ctx, access.ActFollow, id); err != nil {
		return nil, fmt.Errorf("children of %s: %w", id, err)
	}
	r, err := c.engine.readRun(ctx, id)
	if errors.Is(err, askback.ErrNotFound) {
		return nil, nil // its agent runs elsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("children of %s: %w", id, err)
	}
	for call := 1; call <= r.state.Calls && len(children) < r.state.Spawned; call++ {
		for child := 0; ; child++ {
			row, err := c.engine.store.ReadKey(ctx, kindSession, childKey(id, runWork{Call: call, Child: child}))
			if errors.Is(err, store.ErrNotFound) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("children of %s: %w", id, fromStore(err))
			}
			s, err := decodeSession(row)
			if err != nil {
				continue // damaged; the others can be read
			}
			children = append(children, s.Session)
		}
	}
	return children, nil
}
