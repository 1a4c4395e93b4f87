package feed

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// This file determines which parts of the history a principal gets, for streams, pages and lists alike. The
// table is in package access. People follow each session, but see only the asks that are addressed to them.
// If people are asked about a call of a hosted agent, no other people see the call and its message. The agent
// that started a run sees the whole run.

// A part is an ask to which the content of an event belongs. The event itself is about a call, a message or a
// grant.
type part struct {
	ask *lifecycle.AskState // nil: there is no such ask now
	run string              // if ask is nil: the session of the run that may ask
	by  string              // the person who made the grant and so may see it
}

// sharePart reports whether the principal gets the content of an event that belongs to an ask.
func (c *Client) sharePart(ctx context.Context, p part) (bool, error) {
	switch {
	case c.Who.Kind == askback.Agent: // the session belongs to the agent, so the agent gets all content
		return true, nil
	case p.by != "" && p.by == c.Who.Name && access.Ever(c.Who.Kind, access.ActAnswer):
		return true, nil
	case p.ask != nil:
		return c.AuthorizeAsk(access.ActGet, p.ask) == nil, nil
	case p.run != "":
		return c.isAskedBy(ctx, p.run)
	}
	return false, nil
}

// share returns how much of an event the principal gets.
func (c *Client) share(ctx context.Context, e *pageEvent) (access.Share, error) {
	less := access.Unaddressed(e.history.Type)
	if !access.KnowsEvent(e.history.Type) ||
		e.history.Type.ForPeople() && (e.ask == nil || c.Who.Kind == askback.Agent) {
		return access.None, nil
	}
	if e.ask != nil {
		err := c.AuthorizeAsk(access.ActGet, &e.ask.State)
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
func (c *Client) shown(ctx context.Context, e *pageEvent) (data json.RawMessage, ok bool, err error) {
	share, err := c.share(ctx, e)
	switch {
	case err != nil || share == access.None:
		return nil, false, err
	case share == access.Outline:
		data, err = c.service.eventData(outline(e.history), e.ask)
		if err == nil {
			data = append(data[:len(data)-1], `,"withheld":true}`...)
		}
		return data, err == nil, err
	}
	h := e.history
	if c.visibleText(h.Text, false) == h.Text {
		return e.data, true, nil
	}
	hosted, err := c.service.runs.IsHosted(ctx, e.row.Stream)
	if err != nil {
		return nil, false, err
	}
	h.Text = c.visibleText(h.Text, hosted)
	data, err = c.service.eventData(h, e.ask)
	return data, err == nil, err
}

// outline returns an event without the content that belongs to an ask. It copies the other fields by name, so
// that a new field is withheld.
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

// ShownGrant returns a grant in the form for the principal. It omits the arguments of the grant's ask, unless
// the principal may see that ask or made the grant.
func (c *Client) ShownGrant(ctx context.Context, g askback.Grant) (askback.Grant, error) {
	if len(g.Input) == 0 && g.Digest == "" {
		return g, nil
	}
	p, err := c.service.grantPart(ctx, g)
	if err != nil {
		return askback.Grant{}, err
	}
	if ok, err := c.sharePart(ctx, p); err != nil || !ok {
		g.Input, g.Digest = nil, "" // with the digest, a reader could guess the arguments
		return g, err
	}
	return g, nil
}

// grantPart returns the ask to which a grant belongs.
func (e *Service) grantPart(ctx context.Context, g askback.Grant) (part, error) {
	p := part{by: g.By}
	if g.AskID == "" {
		return p, nil
	}
	a, err := e.Read(ctx, g.AskID)
	switch {
	case err == nil:
		p.ask = &a.State
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		err = nil // only the maker of the grant gets the content
	}
	return p, err
}

// isAskedBy reports whether every ask that a run may make is addressed to this person. It returns false if
// that is not known. For an agent it returns true, because the agent owns the session. It is used for text of
// the model that may be part of an ask. Only people for whom it returns true see such text.
func (c *Client) isAskedBy(ctx context.Context, session string) (bool, error) {
	if c.Who.Kind == askback.Agent {
		return true, nil
	}
	ask, asks, err := c.service.runs.AsksOf(ctx, session)
	if err != nil || ask == nil || !asks {
		return err == nil && ask != nil, err
	}
	s, err := c.service.Current(ctx)
	if err != nil {
		return false, err
	}
	return alwaysAddresses(s, c.Who.Name, ask), nil
}

// alwaysAddresses reports whether an ask is addressed to a person whatever its content. The person must be
// among the names in the ask. If the ask has no names, the person must be among the names of each route that
// may apply.
func alwaysAddresses(s *txn.Settings, person string, a *askback.Ask) bool {
	lists := [][]string{a.To}
	if len(a.To) == 0 {
		for _, r := range s.Routes {
			if !(askback.Match{Agent: r.Match.Agent}).Matches(a) {
				continue
			}
			if lists = append(lists, r.To); len(r.To) == 0 { // without To, a confirmation is addressed to its approvers
				lists = append(lists, r.Approvers)
			}
		}
	}
	for _, to := range lists {
		people, _ := s.Members(to)
		if len(to) > 0 && !slices.Contains(people, person) {
			return false
		}
	}
	return true
}

// A partFinder finds the asks to which events belong. It is used for one page of events.
type partFinder struct {
	service *Service
	calls   map[callKey]part
	open    map[string][]conversation.Open // the open calls of each session
}

// A callKey identifies a call of a hosted run.
type callKey struct {
	session string
	call    int
}

func (e *Service) newPartFinder() *partFinder {
	return &partFinder{service: e, calls: map[callKey]part{}, open: map[string][]conversation.Open{}}
}

// parts returns the asks to which the content of the event in rows[i] belongs.
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
			p, err := f.service.grantPart(ctx, *h.Grant)
			return []part{p}, err
		}
	}
	return nil, nil
}

// messageParts returns the asks to which the calls of the message in rows[i] belong. The events of the calls
// follow the message in the history.
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
			h, ok := f.service.DecodeEvent(row)
			if !ok { // a call that cannot be decoded is shown to no person
				all = append(all, part{})
			} else if all, err = f.add(ctx, all, row, h); err != nil {
				return nil, err
			}
		}
		if next, err = f.service.Store.History(ctx, stream, last, txn.HistoryChunk); err != nil || len(next) == 0 {
			return all, txn.FromStore(err)
		}
	}
}

// add appends the ask to which the call of an event belongs, if people are asked about the call. If that ask
// does not exist or cannot be found, it appends a part without an ask.
func (f *partFinder) add(ctx context.Context, all []part, row store.Event, h lifecycle.Event) ([]part, error) {
	kind := conversation.Kind(h.Kind)
	switch {
	case kind == conversation.KindRejected: // the model may correct the rejected call, and then the call asks
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
	switch keep := f.service.Settings.Load().Retention; {
	case err != nil:
		return nil, err
	case open == "" && !kind.Asks() && !isAskTool(h.Tool):
		return all, nil
	case open == "" && keep > 0 && !row.At.After(f.service.Clock().Add(-keep)):
		return append(all, part{}), nil // the ask may have been deleted with its list of recipients
	}
	return append(all, part{run: row.Stream}), nil
}

// isAskTool reports whether a tool of this name asks people. It is used for events of older releases, which
// do not record how a call was handled.
func isAskTool(name string) bool { return name == "ask_user_question" || name == "confirm_action" }

// openKind returns the kind of a call that has no result yet and asks people, or "".
func (f *partFinder) openKind(ctx context.Context, key callKey) (conversation.Kind, error) {
	open, known := f.open[key.session]
	if !known {
		var err error
		if open, err = f.service.runs.OpenCalls(ctx, key.session); err != nil {
			return "", err
		}
		f.open[key.session] = open
	}
	for _, c := range open {
		switch {
		case c.N != key.call:
		case c.Kind == conversation.KindAsk, c.Kind == conversation.KindTool && c.Confirm:
			return conversation.KindAsk, nil
		}
	}
	return "", nil
}

// find reads asks until it finds the ask of a call, and adds them to f.calls. Asks are made in the order of
// the calls. If ended is set, the call ended at the time at. Its ask is then among the last asks before that
// time, unless the clock was set back. Otherwise its ask is among the first asks after that time.
func (f *partFinder) find(ctx context.Context, key callKey, at time.Time, ended bool) error {
	if ended {
		if err := f.search(ctx, key, at.Add(time.Millisecond), true); err != nil {
			return err
		}
	}
	return f.search(ctx, key, at.Add(-time.Millisecond), false)
}

// search reads the asks of a session from a time on, forwards or backwards, up to the ask of a call. It does
// nothing if f.calls has the call.
func (f *partFinder) search(ctx context.Context, key callKey, from time.Time, back bool) error {
	if _, known := f.calls[key]; known {
		return nil
	}
	after, err := ids.New(ids.Ask, from, zeros{})
	if err != nil {
		return err
	}
	q := store.Query{Kind: txn.KindAsk, Stream: key.session, After: after, Newest: back, Limit: findChunk}
	for row, err := range f.service.Rows(ctx, q) {
		if err != nil {
			return err
		}
		state, err := txn.DecodeAsk(row)
		if err != nil { // this may be the ask of the call, so no person sees the call
			f.service.LogUnreadable(row, err)
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

// findChunk is the number of asks that one step reads to find the ask of a call.
const findChunk = 4
