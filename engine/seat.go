package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// client implements [askback.Client] for one principal. Each method first checks the
// permission of the principal.
type client struct {
	engine *Engine
	who    askback.Principal
}

// authorizeAsk returns an error unless this principal may do an action on an ask:
// ErrForbidden if its kind never may, ErrNotFound if it may not see this ask.
func (s *client) authorizeAsk(action askback.Action, state lifecycle.State) error {
	return s.authorizeRelation(action, s.relation(state))
}

func (s *client) authorizeRelation(action askback.Action, relation askback.Relation) error {
	if !access.Ever(s.who.Kind, action) {
		return askback.ErrForbidden
	}
	if !access.Allowed(s.who.Kind, action, relation) {
		return askback.ErrNotFound
	}
	return nil
}

// relation returns the relation of this principal to an ask. An agent owns its own
// asks. People are addressed by name; an ask without names addresses all of them.
func (s *client) relation(state lifecycle.State) askback.Relation {
	to := state.Ask.To
	switch {
	case s.who.Kind == askback.Agent && s.who.Name == state.Owner:
		return askback.Owner
	case s.who.Kind != askback.Agent && (len(to) == 0 || slices.Contains(to, s.who.Name)):
		return askback.Recipient
	}
	return askback.Unrelated
}

// act steps an ask for this principal.
func (s *client) act(ctx context.Context, action askback.Action, id string, event func(now time.Time) lifecycle.Input) (askback.Ask, error) {
	if !access.Ever(s.who.Kind, action) {
		return askback.Ask{}, askback.ErrForbidden
	}
	state, err := s.engine.step(ctx, id, func(state lifecycle.State, now time.Time) (lifecycle.Input, error) {
		return event(now), s.authorizeAsk(action, state)
	})
	return s.askResult(action, id, state, err)
}

// askResult returns the ask and error of a step to the caller. Only ErrSettled
// comes with the ask; with any other error the ask is zero.
func (s *client) askResult(action askback.Action, id string, state lifecycle.State, err error) (askback.Ask, error) {
	switch {
	case err == nil:
		return state.Ask.Clone(), nil
	case errors.Is(err, askback.ErrSettled):
		return state.Ask.Clone(), fmt.Errorf("%s %s: %w", action, id, err)
	}
	return askback.Ask{}, fmt.Errorf("%s %s: %w", action, id, err)
}

// Answer implements [askback.Inbox].
func (s *client) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	if !access.Ever(s.who.Kind, askback.ActAnswer) {
		return askback.Ask{}, askback.ErrForbidden
	}
	state, err := s.engine.step(ctx, id, func(state lifecycle.State, now time.Time) (lifecycle.Input, error) {
		if err := s.authorizeAsk(askback.ActAnswer, state); err != nil {
			return nil, err
		}
		return s.engine.answerEvent(ctx, s.who.Token, state, a, lifecycle.Answered{By: s.who.Name, Via: s.who.Channel, At: now})
	})
	return s.askResult(askback.ActAnswer, id, state, err)
}

// Decline implements [askback.Inbox].
func (s *client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return s.act(ctx, askback.ActDecline, id, func(now time.Time) lifecycle.Input {
		return lifecycle.Declined{By: s.who.Name, Via: s.who.Channel, Reason: reason, At: now}
	})
}

// Claim implements [askback.Inbox].
func (s *client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return s.act(ctx, askback.ActClaim, id, func(now time.Time) lifecycle.Input {
		return lifecycle.Claimed{By: s.who.Name, At: now}
	})
}

// Cancel implements [askback.Asker].
func (s *client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return s.act(ctx, askback.ActCancel, id, func(now time.Time) lifecycle.Input {
		by := askback.Actor{Kind: askback.ActorAgent, Name: s.who.Name}
		return lifecycle.Cancelled{By: by, Via: s.who.Channel, Reason: reason, At: now}
	})
}

// Consume implements [askback.Asker].
func (s *client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return s.act(ctx, askback.ActConsume, id, func(now time.Time) lifecycle.Input {
		return lifecycle.Consumed{Digest: digest, At: now}
	})
}

// Ack implements [askback.Asker].
func (s *client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return s.act(ctx, askback.ActAck, id, func(now time.Time) lifecycle.Input { return lifecycle.Acked{At: now} })
}

// Get implements [askback.Inbox]. It changes nothing, not even an ask whose
// deadline is past.
func (s *client) Get(ctx context.Context, id string) (askback.Ask, error) {
	k, err := s.engine.read(ctx, id)
	if err == nil {
		err = s.authorizeAsk(askback.ActGet, k.state)
	}
	return s.askResult(askback.ActGet, id, k.state, err)
}

// Wait implements [askback.Asker].
func (s *client) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := s.wait(ctx, id)
	if a == nil {
		return askback.Ask{}, err
	}
	return a.Clone(), err
}

// wait returns an ask when it is settled, or when ctx ends. It keeps no copy of
// the ask while it sleeps.
func (s *client) wait(ctx context.Context, id string) (*askback.Ask, error) {
	free, err := s.engine.quota.addWaiter(s.who)
	if err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	defer free()
	w := s.engine.hub.join(id, s.who.Kind)
	defer s.engine.hub.leave(id, w)
	if a, err := s.readForWait(context.WithoutCancel(ctx), id, false); a != nil || err != nil {
		return a, err
	}
	select {
	case a := <-w.settled:
		return a, nil
	case <-ctx.Done():
	}
	a, err := s.readForWait(context.WithoutCancel(ctx), id, true)
	if err != nil || a.Settled() {
		return a, err
	}
	return a, context.Cause(ctx)
}

// readForWait reads an ask for wait. It returns nil if the ask is open, unless open
// is set. It reads on a separate goroutine, so that the stack that a query needs
// is not kept by a goroutine that sleeps.
func (s *client) readForWait(ctx context.Context, id string, open bool) (a *askback.Ask, err error) {
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		var k cachedAsk
		if k, err = s.engine.read(ctx, id); err == nil {
			err = s.authorizeAsk(askback.ActGet, k.state)
		}
		if err != nil {
			err = fmt.Errorf("wait %s: %w", id, err)
		} else if open || k.state.Ask.Settled() {
			a = &k.state.Ask
		}
	}()
	<-looked
	return a, err
}

// List implements [askback.Inbox].
func (s *client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if !access.Ever(s.who.Kind, askback.ActList) {
		return askback.Page{}, fmt.Errorf("list: %w", askback.ErrForbidden)
	}
	if err := cmp.Or(q.Check(), checkCursor(ids.Ask, q.Cursor)); err != nil {
		return askback.Page{}, err
	}
	if q.Key != "" {
		return s.listKey(ctx, q.Key)
	}
	return s.list(ctx, q, false)
}

// listKey returns a page with the ask that this principal made with a key, or an empty
// page.
func (s *client) listKey(ctx context.Context, key string) (askback.Page, error) {
	r, err := s.engine.store.ReadKey(ctx, kindAsk, s.ownerKey(key))
	if errors.Is(err, store.ErrNotFound) {
		return askback.Page{}, nil
	}
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", fromStore(err))
	}
	k, err := decode(r)
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", err)
	}
	if s.authorizeAsk(askback.ActList, k.state) != nil {
		return askback.Page{}, nil
	}
	return askback.Page{Items: []askback.Ask{k.state.Ask.Clone()}}, nil
}

// list returns a page of the asks that match a query: those that this principal may
// see, or all of them if every is set.
func (s *client) list(ctx context.Context, q askback.Query, every bool) (askback.Page, error) {
	limit := q.Limit
	if limit == 0 {
		limit = askback.DefaultLimit
	}
	from := s.storeQuery(q)
	if every {
		from.For, from.Owner = "", ""
	}
	from.Limit = min(limit+1, listChunk)
	var page askback.Page
	for size, looked := 0, 0; ; {
		records, err := s.engine.store.List(ctx, from)
		if err != nil {
			return askback.Page{}, fmt.Errorf("list: %w", fromStore(err))
		}
		for _, r := range records {
			from.After = r.ID
			k, err := decode(r)
			if err != nil {
				s.engine.logUnreadable(r, err)
				continue
			}
			if !every && s.authorizeAsk(askback.ActList, k.state) != nil || !matchesQuery(q, k.state.Ask) {
				continue
			}
			if n := len(page.Items); n == limit || n > 0 && size > listBytes {
				page.NextCursor = page.Items[n-1].ID
				return page, nil
			}
			page.Items = append(page.Items, k.state.Ask.Clone())
			size += len(r.Fixed) + len(r.State)
		}
		if len(records) < from.Limit {
			return page, nil
		}
		if looked += len(records); looked >= maxLooked {
			page.NextCursor = from.After
			return page, nil
		}
	}
}

const (
	// listChunk is how many asks a list reads at once. An ask may have 2 MB.
	listChunk = 16
	// listBytes is the size at which a page ends, even if it has fewer items than
	// its limit.
	listBytes = 4 << 20
)

// checkCursor returns an error unless cursor can be the cursor of a page. A wrong
// cursor would return an empty page, which a client takes for the last.
func checkCursor(prefix, cursor string) error {
	if cursor == "" || ids.Valid(prefix, cursor) {
		return nil
	}
	return askback.Invalid{{Pointer: "?cursor", Detail: "this is no cursor of this list", Fix: "send the next_cursor of a page, or leave it out"}}
}

// storeQuery returns the part of a query that the store evaluates: its columns, and
// whether the principal is the owner or addressed. [matchesQuery] evaluates the rest.
func (s *client) storeQuery(q askback.Query) store.Query {
	from := store.Query{
		Kind: kindAsk, Agent: q.Agent, Stream: q.SessionID, After: q.Cursor,
	}
	from.Unacked, from.Newest = q.Unacked, q.Unacked
	switch q.Status {
	case askback.AnyStatus:
		from.Newest = true
	case "", askback.Pending:
		if open := true; !q.Unacked {
			from.Open = &open
		}
	default:
		from.Status, from.Newest = string(q.Status), true
	}
	if s.who.Kind == askback.Agent {
		from.Owner = s.who.Name
	} else {
		from.For = s.who.Name
	}
	return from
}

// matchesQuery reports whether an ask matches the part of a query that the store
// does not evaluate.
func matchesQuery(q askback.Query, a askback.Ask) bool {
	if q.To != "" && len(a.To) > 0 && !slices.Contains(a.To, q.To) {
		return false
	}
	if q.Search == "" {
		return true
	}
	texts := []string{a.Title, a.Agent}
	for _, one := range a.Questions {
		texts = append(texts, one.Text, one.Header)
	}
	if c := a.Confirmation; c != nil {
		texts = append(texts, c.ToolName, c.Server, c.Description)
	}
	return containsFold(q.Search, texts...)
}
