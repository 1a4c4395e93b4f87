package feed

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/text/resumecontext"
	"github.com/askback/askback/store"
)

// Sessions implements [askback.Sessions]. It omits the implicit sessions of single
// asks (see OwnSession); their asks are in the list of asks.
func (c *Client) Sessions(ctx context.Context, q askback.SessionQuery) (askback.SessionPage, error) {
	if err := c.authorizeSessions(); err != nil {
		return askback.SessionPage{}, err
	}
	if err := cmp.Or(q.Check(), txn.CheckCursor(ids.Session, q.Cursor)); err != nil {
		return askback.SessionPage{}, err
	}
	from := store.Query{Kind: txn.KindSession, Agent: q.Agent, Status: string(q.Status), Newest: true, After: q.Cursor}
	if c.Who.Kind == askback.Agent {
		from.Owner = c.Who.Name
	}
	items, next, err := txn.ListPage(ctx,
		c.service.DB, from, q.Limit, func(row store.Record) (askback.Session, bool, error) {
			state, err := txn.DecodeSession(row)
			one := c.RedactSession(state.Session)
			return one, containsFold(q.Search, one.Title, one.Agent), err
		})
	if err != nil {
		return askback.SessionPage{}, fmt.Errorf("sessions: %w", err)
	}
	return askback.SessionPage{Items: items, NextCursor: next}, nil
}

// authorizeSessions returns [askback.ErrForbidden] unless this principal may see
// sessions, in full or without their contents.
func (c *Client) authorizeSessions() error {
	if access.Ever(c.Who.Kind, access.ActFollow) {
		return nil
	}
	return c.Authorize(access.ActSessions)
}

// RedactSession returns a session, without its contents unless principals of this kind
// may follow sessions.
func (c *Client) RedactSession(one askback.Session) askback.Session {
	if access.Ever(c.Who.Kind, access.ActFollow) {
		return one
	}
	one.Title, one.Payload, one.Result, one.Error, one.Metadata, one.Todos = "", nil, nil, "", nil, nil
	return one
}

// visibleText returns the text of a message for this principal. Only agents see the context that a resumed
// agent was given. A hosted agent gets no such context, so people see its whole text. Otherwise a payload
// could hide instructions from people.
func (c *Client) visibleText(text string, hosted bool) string {
	if c.Who.Kind == askback.Agent || hosted {
		return text
	}
	return resumecontext.Strip(text)
}

// containsFold reports whether one of the texts contains search, ignoring case. It returns true if search is
// "".
func containsFold(search string, texts ...string) bool {
	if search == "" {
		return true
	}
	search = strings.ToLower(search)
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), search) {
			return true
		}
	}
	return false
}

// shareMessage reports whether the principal gets the message h, which was decoded from rows[i].
func (c *Client) shareMessage(
	ctx context.Context, f *partFinder, rows []store.Event, i int, h lifecycle.Event,
) (bool, error) {
	if c.Who.Kind == askback.Agent {
		return true, nil // the session belongs to the agent
	}
	parts, err := f.parts(ctx, rows, i, h)
	for _, p := range parts {
		if ok, err := c.sharePart(ctx, p); err != nil || !ok {
			return false, err
		}
	}
	return err == nil, err
}

// Messages implements [askback.Sessions].
func (c *Client) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	var page askback.MessagePage
	if err := (askback.Query{Limit: limit}).Check(); err != nil {
		return page, err
	}
	limit = cmp.Or(limit, askback.DefaultLimit)
	one, err := c.FindSession(ctx, access.ActFollow, id)
	if err != nil {
		return page, fmt.Errorf("messages %s: %w", id, err)
	}
	var at position
	if cursor != "" {
		if at, err = parseCursor("?cursor", askback.Cursor(cursor)); err != nil {
			return page, err
		}
	}
	for size, looked := 0, 0; ; {
		rows, err := c.service.Store.History(ctx, id, at.seq, txn.HistoryChunk)
		if err != nil {
			return page, fmt.Errorf("messages %s: %w", id, txn.FromStore(err))
		}
		finder := c.service.newPartFinder()
		for i, l := range rows {
			if l.Type == string(askback.EventMessage) && (len(page.Items) == limit || size > txn.ListBytes) {
				page.NextCursor = string(at.cursor())
				return page, nil
			}
			at = position{l.Seq, l.StreamSeq}
			if l.Type != string(askback.EventMessage) {
				continue
			}
			h, ok := c.service.DecodeEvent(l)
			if !ok || h.Text == "" { // this message has only calls
				continue
			}
			ok, err := c.shareMessage(ctx, finder, rows, i, h)
			if err != nil {
				return page, fmt.Errorf("messages %s: %w", id, err)
			}
			if ok {
				size += len(l.Data)
				page.Items = append(page.Items, askback.Message{
					Seq: l.StreamSeq, Role: h.Role, By: h.By, Text: c.visibleText(h.Text, one.Hosted), At: l.At,
				})
			}
		}
		if len(rows) < txn.HistoryChunk {
			return page, nil
		}
		if looked += len(rows); looked >= txn.MaxScanned {
			page.NextCursor = string(at.cursor())
			return page, nil
		}
	}
}

// LastMessage returns the newest message of the agent in a session that this principal may see. It reads at
// most the last MaxScanned events, and returns "" if these events have no such message.
func (c *Client) LastMessage(ctx context.Context, id string) (string, error) {
	one, err := c.FindSession(ctx, access.ActFollow, id)
	if err != nil {
		return "", fmt.Errorf("messages %s: %w", id, err)
	}
	for before, looked := int64(0), 0; looked < txn.MaxScanned; looked += txn.HistoryChunk {
		rows, err := c.service.Store.Recent(ctx, id, before, txn.HistoryChunk)
		if err != nil {
			return "", fmt.Errorf("messages %s: %w", id, txn.FromStore(err))
		}
		for i, l := range rows {
			before = l.Seq
			if l.Type != string(askback.EventMessage) {
				continue
			}
			h, ok := c.service.DecodeEvent(l)
			if !ok || h.Role != askback.RoleAssistant || h.Text == "" {
				continue
			}
			ok, err := c.shareMessage(ctx, c.service.newPartFinder(), rows[i:i+1], 0, h)
			if err != nil {
				return "", fmt.Errorf("messages %s: %w", id, err)
			}
			if ok {
				return c.visibleText(h.Text, one.Hosted), nil
			}
		}
		if len(rows) < txn.HistoryChunk {
			break
		}
	}
	return "", nil
}
