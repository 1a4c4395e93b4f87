package engine

import (
	"context"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// join returns the pending ask of this principal with the same content, marked as repeated, if
// the route of a question joins equal ones. Otherwise it returns nil. Confirmations are not
// joined, because each approval is for one call. The caller calls done when the new ask is
// committed: until then, equal questions wait.
func (c *client) join(ctx context.Context, n *newAsk) (found *askback.Ask, done func(), err error) {
	if !n.route.Join || n.asked.Ask.Kind != askback.Questions {
		return nil, func() {}, nil
	}
	lock := "join:" + c.ownerKey(n.asked.Request)
	if err := c.engine.locks.lock(ctx, lock); err != nil {
		return nil, nil, err
	}
	done = func() { c.engine.locks.unlock(lock) }
	q := store.Query{Kind: kindAsk, Owner: c.who.Name, Open: new(true), Limit: listChunk}
	for row, err := range c.engine.rows(ctx, q) {
		if err != nil {
			done()
			return nil, nil, fromStore(err)
		}
		state, err := decodeAsk(row)
		if err == nil && state.Request == n.asked.Request {
			state.Ask.Repeated = true
			return &state.Ask, done, nil
		}
	}
	return nil, done, nil
}

// joins reports whether a route joins equal questions.
func (s *Settings) joins() bool {
	return slices.ContainsFunc(s.Routes, func(r askback.Route) bool { return r.Join })
}
