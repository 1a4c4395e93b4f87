package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// Sessions implements [askback.Sessions]. The session that a single ask has of
// its own is not listed: the ask is.
func (s *seat) Sessions(ctx context.Context, q askback.SessionQuery) (askback.SessionPage, error) {
	var page askback.SessionPage
	if err := s.maySee(); err != nil {
		return page, err
	}
	if err := cmp.Or(q.Check(), checkCursor(ids.Session, q.Cursor)); err != nil {
		return page, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = askback.DefaultLimit
	}
	from := store.Query{Kind: kindSession, Agent: q.Agent, Status: string(q.Status), Newest: true, After: q.Cursor, Limit: min(limit+1, listChunk)}
	if s.who.Kind == askback.Agent {
		from.Owner = s.who.Name
	}
	for looked, size := 0, 0; ; {
		records, err := s.engine.store.List(ctx, from)
		if err != nil {
			return page, fmt.Errorf("sessions: %w", mine(err))
		}
		for _, r := range records {
			if n := len(page.Items); n == limit || n > 0 && size > listBytes {
				page.NextCursor = from.After
				return page, nil
			}
			from.After = r.ID
			size += len(r.Fixed) + len(r.State)
			is, err := lifecycle.DecodeSession(r.Fixed, r.State)
			if err != nil {
				s.engine.leftOut(r, err)
				continue
			}
			if one := s.seen(is.Session); matches(q.Search, one.Title, one.Agent) {
				page.Items = append(page.Items, one)
			}
		}
		if looked += len(records); len(records) < from.Limit {
			return page, nil
		}
		if looked >= maxLooked {
			page.NextCursor = from.After
			return page, nil
		}
	}
}

// maySee reports whether this principal may see sessions: all of them, or how they stand.
func (s *seat) maySee() error {
	if access.Ever(s.who.Kind, askback.ActFollow) {
		return nil
	}
	return s.mayEver(askback.ActSessions)
}

// seen is a session as this principal may see it: without what is said in it for one that
// may not follow it.
func (s *seat) seen(one askback.Session) askback.Session {
	if access.Ever(s.who.Kind, askback.ActFollow) {
		return one
	}
	one.Title, one.Payload, one.Result, one.Error, one.Metadata, one.Todos = "", nil, nil, "", nil, nil
	return one
}

// visible is a message as this principal reads it: what an agent was told when it resumed
// is for the agent.
func (s *seat) visible(text string) string {
	if s.who.Kind == askback.Agent {
		return text
	}
	return askback.StripResumeContext(text)
}

// maxLooked is how many records a search looks at before a page ends, whatever
// its limit: a reader gets a cursor sooner instead of waiting.
const maxLooked = 2000

// matches says whether one of the texts contains what is searched for, in any
// case. Nothing is in every text.
func matches(search string, texts ...string) bool {
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

// Messages implements [askback.Sessions].
func (s *seat) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	var page askback.MessagePage
	if err := (askback.Query{Limit: limit}).Check(); err != nil {
		return page, err
	}
	if limit == 0 {
		limit = askback.DefaultLimit
	}
	if _, err := s.find(ctx, askback.ActFollow, id); err != nil {
		return page, fmt.Errorf("messages %s: %w", id, err)
	}
	var at mark
	if cursor != "" {
		var err error
		if at, err = readMark("?cursor", askback.Cursor(cursor)); err != nil {
			return page, err
		}
	}
	for size, looked := 0, 0; ; {
		lines, err := s.engine.store.History(ctx, id, at.seq, feedChunk)
		if err != nil {
			return page, fmt.Errorf("messages %s: %w", id, mine(err))
		}
		for _, l := range lines {
			if l.Type == "message" && (len(page.Items) == limit || size > listBytes) {
				page.NextCursor = string(at.cursor())
				return page, nil
			}
			at = mark{l.Seq, l.StreamSeq}
			if l.Type != "message" {
				continue
			}
			h, ok := s.engine.entry(l)
			if !ok {
				continue
			}
			size += len(l.Data)
			page.Items = append(page.Items, askback.Message{Seq: l.StreamSeq, Role: h.Role, By: h.By, Text: s.visible(h.Text), At: l.At})
		}
		if len(lines) < feedChunk {
			return page, nil
		}
		if looked += len(lines); looked >= maxLooked {
			page.NextCursor = string(at.cursor())
			return page, nil
		}
	}
}

// LastSaid returns the newest text of the run among the last lines of a session's
// history, or "": what else happened since may be more than is looked at.
func (s *seat) LastSaid(ctx context.Context, id string) (string, error) {
	if _, err := s.find(ctx, askback.ActFollow, id); err != nil {
		return "", fmt.Errorf("messages %s: %w", id, err)
	}
	for before, looked := int64(0), 0; looked < maxLooked; looked += feedChunk {
		lines, err := s.engine.store.Recent(ctx, id, before, feedChunk)
		if err != nil {
			return "", fmt.Errorf("messages %s: %w", id, mine(err))
		}
		for _, l := range lines {
			before = l.Seq
			if l.Type != "message" {
				continue
			}
			if h, ok := s.engine.entry(l); ok && h.Role == askback.RoleAssistant {
				return s.visible(h.Text), nil
			}
		}
		if len(lines) < feedChunk {
			break
		}
	}
	return "", nil
}
