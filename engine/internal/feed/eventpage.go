package feed

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// An eventPage has the next events of a stream. Followers at the same position of a stream share a page, so
// that it is read and encoded once.
type eventPage struct {
	ready  chan struct{} // closed when the page was read
	events []pageEvent
	full   bool  // there may be more events
	err    error // the error that ended the page early, or nil
}

// A pageEvent is an event of a page, with the data that its readers share.
type pageEvent struct {
	row      store.Event
	readable bool // the event and its ask could be read
	history  lifecycle.Event
	ask      *txn.AskRecord  // the ask of the event, or nil
	parts    []part          // the asks to which the content of the event belongs
	data     json.RawMessage // the data for readers who may see the whole event
	err      error
}

// The limits of shared pages. A page is shared if it has at most pageBytes of data, and its asks take at most
// pageAskBytes of memory. At most maxPages pages are shared.
const (
	pageBytes    = 64 << 10
	pageAskBytes = 1 << 20
	maxPages     = 16
)

// A pageKey is a position in a stream: after the event with this number.
type pageKey struct {
	stream string
	after  int64
}

// eventPages are the pages that followers share, until a commit changes the history.
type eventPages struct {
	mu  sync.Mutex
	all map[pageKey]*eventPage
}

// page returns the shared page at a position, or a new page if that position has no shared page. If isNew is
// set, the page is new and the caller must read it. A new page is shared if keep is set and fewer than
// maxPages pages are shared.
func (p *eventPages) page(key pageKey, keep bool) (page *eventPage, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if page := p.all[key]; page != nil {
		return page, false
	}
	page = &eventPage{ready: make(chan struct{})}
	if keep && len(p.all) < maxPages {
		p.all[key] = page
	}
	return page, true
}

// drop stops sharing a page with further followers.
func (p *eventPages) drop(key pageKey, page *eventPage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[key] == page {
		delete(p.all, key)
	}
}

// clear stops sharing all pages.
func (p *eventPages) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.all)
}

// nextPage returns the page after the position of the reader. If ctx ends first, the error
// is the cause of ctx.
func (f *eventStream) nextPage(ctx context.Context) (*eventPage, error) {
	e, key := f.client.service, pageKey{f.session, f.pos.seq}
	p, isNew := e.shared.page(key, e.Hub.IsShared(f.follower))
	if isNew {
		// The other followers need the page even if ctx ends, so a separate goroutine reads the page. A query
		// needs a large stack. If the goroutine of the reader made the query, it would keep this stack while
		// it sleeps.
		go e.readPage(context.WithoutCancel(ctx), key, p)
	}
	select {
	case <-p.ready:
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readPage reads a page from the store and closes p.ready. It stops sharing a page that is too large or has
// an error. A panic counts as an error.
func (e *Service) readPage(ctx context.Context, key pageKey, p *eventPage) {
	defer close(p.ready)
	keep := false
	defer func() {
		if !keep {
			e.shared.drop(key, p)
		}
	}()
	defer e.RecoverTo(&p.err)
	rows, err := e.Store.History(ctx, key.stream, key.after, txn.HistoryChunk)
	p.full, p.err = len(rows) == txn.HistoryChunk, err
	p.events = make([]pageEvent, 0, len(rows))
	size, asks := 0, 0
	finder := e.newPartFinder()
	for i, row := range rows {
		ev := e.pageEvent(ctx, row)
		if ev.readable && ev.err == nil {
			ev.parts, ev.err = finder.parts(ctx, rows, i, ev.history)
		}
		p.events = append(p.events, ev)
		for _, one := range ev.parts {
			if one.ask != nil {
				asks += txn.AskBytes(&one.ask.Ask)
			}
		}
		size += len(row.Data) + len(ev.data)
		if ev.ask != nil {
			asks += txn.AskBytes(&ev.ask.State.Ask) + ev.ask.Kept
		}
		err = errors.Join(err, ev.err)
	}
	keep = size <= pageBytes && asks <= pageAskBytes && err == nil
}

// pageEvent decodes a stored event and reads its ask, or the session that the event starts. If the event, the
// ask or the session cannot be decoded, pageEvent logs the error and readable is false. If the ask or the
// session was deleted, the error of the event is errMissing, because the other events were deleted with it.
func (e *Service) pageEvent(ctx context.Context, row store.Event) (out pageEvent) {
	out.row = row
	var ok bool
	if out.history, ok = e.DecodeEvent(row); !ok {
		return out
	}
	about := out.history.Ask
	if strings.HasPrefix(row.Subject, "ask_") {
		about = row.Subject
	}
	if about != "" {
		a, err := e.Read(ctx, about)
		if err == nil && out.history.Type.Settles() && !a.State.Ask.Settled() {
			a, err = e.Fetch(ctx, about) // the cache is updated after the commit
		}
		switch {
		case errors.Is(err, askback.ErrNotFound):
			out.err = errMissing
			return out
		case errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
			e.Log.Error("an ask cannot be read, and its events are omitted", "ask", about, "error", err)
			return out
		case err != nil:
			out.err = err
			return out
		}
		out.ask = a
	}
	if out.history.Type == askback.EventSessionStarted && out.history.Session == nil {
		one, err := e.startedSession(ctx, row.Stream)
		if errors.Is(err, askback.ErrDamaged) || errors.Is(err, txn.ErrUnreadable) {
			e.Log.Error("a session cannot be read, and its first event is omitted", "session", row.Stream, "error", err)
			return out
		}
		if out.history.Session, out.err = one, err; err != nil {
			return out
		}
	}
	out.data, out.err = e.eventData(out.history, out.ask)
	out.readable = true
	return out
}

// startedSession returns a session as it began. The error is errMissing if the session was deleted, because
// its events were deleted with it.
func (e *Service) startedSession(ctx context.Context, id string) (*askback.Session, error) {
	row, err := e.Store.Read(ctx, txn.KindSession, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errMissing
	}
	if err != nil {
		return nil, txn.FromStore(err)
	}
	state, err := txn.DecodeSession(row)
	if err != nil {
		return nil, err
	}
	return new(lifecycle.Initial(state.Session)), nil
}
