package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// What a principal gets of the history is decided here, for streams, pages and lists alike. People
// follow each session, but see only the asks that are addressed to them. So a call of a hosted
// agent about which people are asked is theirs alone, and so is the message that makes it. The
// agent that started a run gets all of it. The table is in package access.

// A part is an ask to which the content of an event belongs, although the event is about something
// else: a call, a message or a grant.
type part struct {
	ask *lifecycle.AskState // nil: no such ask exists now
	run string              // without an ask: the session of the run that may ask
	by  string              // the person who made the grant, and so may see it
}

// sharePart reports whether the principal gets what belongs to an ask.
func (c *client) sharePart(ctx context.Context, p part) (bool, error) {
	switch {
	case c.who.Kind == askback.Agent: // the session is its own
		return true, nil
	case p.by != "" && p.by == c.who.Name && access.Ever(c.who.Kind, access.ActAnswer):
		return true, nil
	case p.ask != nil:
		return c.authorizeAsk(access.ActGet, p.ask) == nil, nil
	case p.run != "":
		return c.isAskedBy(ctx, p.run)
	}
	return false, nil
}

// share returns how much of an event the principal gets.
func (c *client) share(ctx context.Context, e *pageEvent) (access.Share, error) {
	less := access.Unaddressed(e.history.Type)
	if !access.KnowsEvent(e.history.Type) || e.history.Type.ForPeople() && (e.ask == nil || c.who.Kind == askback.Agent) {
		return access.None, nil
	}
	if e.ask != nil {
		err := c.authorizeAsk(access.ActGet, &e.ask.state)
		if errors.Is(err, askback.ErrNotFound) {
			return less, nil
		}
		if err != nil {
			return access.None, err
		}
	}
	for _, p := range e.parts {
		if ok, err := c.sharePart(ctx, p); err != nil || !ok {
			return less, err
		}
	}
	return access.Whole, nil
}

// shown returns the data of an event in the form that the principal gets. ok is false if the
// principal gets nothing.
func (c *client) shown(ctx context.Context, e *pageEvent) (data json.RawMessage, ok bool, err error) {
	share, err := c.share(ctx, e)
	switch {
	case err != nil || share == access.None:
		return nil, false, err
	case share == access.Outline:
		data, err = c.engine.eventData(outline(e.history), e.ask)
		if err == nil {
			data = append(data[:len(data)-1], `,"withheld":true}`...)
		}
		return data, err == nil, err
	}
	h := e.history
	if c.visibleText(h.Text, false) == h.Text {
		return e.data, true, nil
	}
	hosted, err := c.engine.isHosted(ctx, e.row.Stream)
	if err != nil {
		return nil, false, err
	}
	h.Text = c.visibleText(h.Text, hosted)
	data, err = c.engine.eventData(h, e.ask)
	return data, err == nil, err
}

// outline returns an event without what belongs to an ask. It copies what else the event has, so a
// new field is withheld.
func outline(h lifecycle.Event) lifecycle.Event {
	out := lifecycle.Event{Type: h.Type, By: h.By}
	switch h.Type {
	case askback.EventMessage:
		out.Role, out.Final = h.Role, h.Final
	case askback.EventToolInput, askback.EventToolComplete:
		out.Call, out.Tool = h.Call, h.Tool
	case askback.EventGrantMade, askback.EventGrantUsed, askback.EventGrantRevoked, askback.EventGrantExpired:
		if h.Grant != nil {
			g := *h.Grant
			g.Input, g.Digest = nil, ""
			out.Grant = &g
		}
	}
	return out
}

// shownGrant returns a grant as the principal gets it: without the arguments of its ask, unless the
// principal may see that ask or made the grant.
func (c *client) shownGrant(ctx context.Context, g askback.Grant) (askback.Grant, error) {
	if len(g.Input) == 0 && g.Digest == "" {
		return g, nil
	}
	p, err := c.engine.grantPart(ctx, g)
	if err != nil {
		return askback.Grant{}, err
	}
	if ok, err := c.sharePart(ctx, p); err != nil || !ok {
		g.Input, g.Digest = nil, "" // arguments can be guessed by their digest
		return g, err
	}
	return g, nil
}

// grantPart returns the ask to which a grant belongs.
func (e *Engine) grantPart(ctx context.Context, g askback.Grant) (part, error) {
	p := part{by: g.By}
	if g.AskID == "" {
		return p, nil
	}
	a, err := e.read(ctx, g.AskID)
	switch {
	case err == nil:
		p.ask = &a.state
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, errUnreadable):
		err = nil // only its maker gets it
	}
	return p, err
}

// isAskedBy reports whether each ask of a run is certainly addressed to this person, whichever it
// is. What the model writes is shown to no other people while it is not known whether it is part of
// an ask.
func (c *client) isAskedBy(ctx context.Context, session string) (bool, error) {
	if c.who.Kind == askback.Agent {
		return true, nil
	}
	r, err := c.engine.knownRun(ctx, session)
	if err != nil || r == nil || c.engine.runner == nil {
		return false, err
	}
	to, asks, err := c.engine.runner.Asks(r.fixed.Run)
	if err != nil || !asks {
		return err == nil, nil //nolint:nilerr // its definition is gone, so it is not known whom it asks
	}
	s, err := c.engine.current(ctx)
	if err != nil {
		return false, err
	}
	return s.alwaysAddresses(c.who.Name, &askback.Ask{Agent: r.fixed.Agent, Owner: askback.HostedPrefix + r.fixed.Agent, To: to}), nil
}

// knownRun is like readRun. It returns nil if there is no such run, or if it cannot be read.
func (e *Engine) knownRun(ctx context.Context, session string) (*runRecord, error) {
	r, err := e.readRun(ctx, session)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, errUnreadable):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r, nil
}

// alwaysAddresses reports whether an ask is addressed to a person whatever it asks: by the names in
// it, or by each route that may apply.
func (s *Settings) alwaysAddresses(person string, a *askback.Ask) bool {
	lists := [][]string{a.To}
	if len(a.To) == 0 {
		for _, r := range s.Routes {
			if !(askback.Match{Agent: r.Match.Agent}).Matches(a) {
				continue
			}
			if lists = append(lists, r.To); len(r.To) == 0 { // then a confirmation is for its approvers
				lists = append(lists, r.Approvers)
			}
		}
	}
	for _, to := range lists {
		people, _ := s.members(to)
		if len(to) > 0 && !slices.Contains(people, person) {
			return false
		}
	}
	return true
}

// A partFinder finds the asks to which events belong. It is used for one page of events.
type partFinder struct {
	engine *Engine
	calls  map[callKey]part
	runs   map[string]*runRecord // nil: the session has no run
}

// A callKey identifies a call of a hosted run.
type callKey struct {
	session string
	call    int
}

func (e *Engine) newPartFinder() *partFinder {
	return &partFinder{engine: e, calls: map[callKey]part{}, runs: map[string]*runRecord{}}
}

// parts returns the asks to which the content of an event belongs, which is the one at an index
// of rows.
func (f *partFinder) parts(ctx context.Context, rows []store.Event, i int, h lifecycle.Event) ([]part, error) {
	switch h.Type {
	case askback.EventToolInput, askback.EventToolComplete:
		return f.add(ctx, nil, rows[i], h)
	case askback.EventMessage:
		if h.Role == askback.RoleAssistant && h.Text != "" {
			return f.messageParts(ctx, rows, i)
		}
	case askback.EventGrantMade, askback.EventGrantUsed, askback.EventGrantRevoked, askback.EventGrantExpired:
		if h.Grant != nil && len(h.Grant.Input) > 0 {
			p, err := f.engine.grantPart(ctx, *h.Grant)
			return []part{p}, err
		}
	}
	return nil, nil
}

// messageParts returns the asks to which the calls of a message belong. These follow it in the
// history.
func (f *partFinder) messageParts(ctx context.Context, rows []store.Event, i int) (all []part, err error) {
	stream, last, next := rows[i].Stream, rows[i].Seq, rows[i+1:]
	for {
		for _, row := range next {
			switch {
			case row.Stream != stream:
				continue
			case row.Type != string(askback.EventToolInput):
				return all, nil
			}
			last = row.Seq
			h, ok := f.engine.decodeEvent(row)
			if !ok { // whatever it asks, no person gets it
				all = append(all, part{})
			} else if all, err = f.add(ctx, all, row, h); err != nil {
				return nil, err
			}
		}
		if next, err = f.engine.store.History(ctx, stream, last, historyChunk); err != nil || len(next) == 0 {
			return all, fromStore(err)
		}
	}
}

// add appends the ask to which the call of an event belongs, if people are asked about it.
func (f *partFinder) add(ctx context.Context, all []part, row store.Event, h lifecycle.Event) ([]part, error) {
	kind := conversation.Kind(h.Kind)
	switch {
	case kind == conversation.KindRejected: // the model may correct it and ask then
		return append(all, part{run: row.Stream}), nil
	case kind != "" && !kind.Asks():
		return all, nil
	}
	key := callKey{row.Stream, h.Call}
	if err := f.find(ctx, key, row.At, h.Type == askback.EventToolComplete); err != nil {
		return nil, err
	}
	if p, ok := f.calls[key]; ok {
		return append(all, p), nil
	}
	open, err := f.openKind(ctx, key)
	switch keep := f.engine.settings.Load().Retention; {
	case err != nil:
		return nil, err
	case open == "" && !kind.Asks() && !isAskTool(h.Tool):
		return all, nil
	case open == "" && keep > 0 && !row.At.After(f.engine.clock().Add(-keep)):
		return append(all, part{}), nil // its ask may have been deleted, and with it whom it was for
	}
	return append(all, part{run: row.Stream}), nil
}

// isAskTool reports whether a tool of this name asks people. Events of older releases do not say
// what was done with a call.
func isAskTool(name string) bool { return name == "ask_user_question" || name == "confirm_action" }

// openKind returns the kind of a call that still has no result and about which people are asked, or
// "".
func (f *partFinder) openKind(ctx context.Context, key callKey) (conversation.Kind, error) {
	r, known := f.runs[key.session]
	if !known {
		var err error
		if r, err = f.engine.knownRun(ctx, key.session); err != nil {
			return "", err
		}
		f.runs[key.session] = r
	}
	if r == nil {
		return "", nil
	}
	for _, c := range r.state.Open {
		switch {
		case c.N != key.call:
		case c.Kind == conversation.KindAsk, c.Kind == conversation.KindTool && c.Confirm:
			return conversation.KindAsk, nil
		}
	}
	return "", nil
}

// find adds the ask of a call to f.calls, if there is one, and the asks of other calls that it
// reads. Asks are made in the order of the calls, so it is among the first after the call or, if
// the call has ended at that time, among the last before it. A clock that was set back can have
// moved it behind that time.
func (f *partFinder) find(ctx context.Context, key callKey, at time.Time, ended bool) error {
	if ended {
		if err := f.search(ctx, key, at.Add(time.Millisecond), true); err != nil {
			return err
		}
	}
	return f.search(ctx, key, at.Add(-time.Millisecond), false)
}

// search reads the asks of a session from a time on, forwards or backwards, until the ask of a call,
// unless it is known.
func (f *partFinder) search(ctx context.Context, key callKey, from time.Time, back bool) error {
	if _, known := f.calls[key]; known {
		return nil
	}
	after, err := ids.New(ids.Ask, from, zeros{})
	if err != nil {
		return err
	}
	q := store.Query{Kind: kindAsk, Stream: key.session, After: after, Newest: back, Limit: findChunk}
	for row, err := range f.engine.rows(ctx, q) {
		if err != nil {
			return err
		}
		state, err := decodeAsk(row)
		if err != nil { // it may be the one, and then no person gets it
			f.engine.logUnreadable(row, err)
			f.calls[key] = part{}
			continue
		}
		f.calls[callKey{key.session, state.Call}] = part{ask: &state}
		if back && state.Call <= key.call || !back && state.Call >= key.call {
			break
		}
	}
	return nil
}

// findChunk is how many asks are read in one step to find the ask of a call.
const findChunk = 4
