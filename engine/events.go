package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// An eventStream sends history events to one reader. It reads a stream from the store to
// its end and then waits until it grows. No event is queued in memory, so a slow
// reader delays no other and misses nothing.
type eventStream struct {
	client  *client
	session string // "": all sessions
	pos     position
}

// A position is a place in the history. seq is the number of an event over all streams,
// and n is its number within the stream of its session. A gap in the numbers of a stream
// shows that events were deleted.
type position struct{ seq, n int64 }

// historyChunk is how many events a reader reads, and holds in memory, at once. It is
// small because a message may have 800 KB.
const historyChunk = 16

// cursor encodes a position as an opaque string.
func (m position) cursor() askback.Cursor {
	s := strconv.FormatInt(m.seq, 36) + "." + strconv.FormatInt(m.n, 36)
	return askback.Cursor(base64.RawURLEncoding.EncodeToString([]byte(s)))
}

// parseCursor decodes a cursor. If the cursor is not valid, the error is an
// [askback.Invalid] with the pointer at.
func parseCursor(at string, c askback.Cursor) (position, error) {
	wrong := askback.Invalid{{Pointer: at, Detail: "this is not a cursor of this stream", Fix: "send one that this stream returned, or leave it out"}}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	first, second, ok := strings.Cut(string(raw), ".")
	if err != nil || !ok {
		return position{}, wrong
	}
	seq, errSeq := strconv.ParseInt(first, 36, 64)
	n, errN := strconv.ParseInt(second, 36, 64)
	if errSeq != nil || errN != nil || seq < 0 || n < 0 {
		return position{}, wrong
	}
	return position{seq, n}, nil
}

// Events implements [askback.Events].
func (c *client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		f := eventStream{client: c, session: sessionID}
		w := c.engine.hub.follow(sessionID)
		defer c.engine.hub.unfollow(sessionID, w)
		err := f.begin(ctx, after, yield)
		for err == nil {
			if err = f.read(ctx, yield); err == nil {
				err = w.wait(ctx)
			}
		}
		if !errors.Is(err, errStopped) {
			yield(askback.Event{}, fmt.Errorf("events: %w", fromStore(err)))
		}
	}
}

// wait sleeps until the stream has grown, or ctx ends.
func (m *member) wait(ctx context.Context) error {
	select {
	case <-m.wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errStopped is returned by the methods of eventStream after yield has returned false.
var errStopped = errors.New("the reader of events has stopped")

// begin sets the position to the cursor. If there is no cursor, or if it is ahead of the
// history, begin yields a snapshot instead.
func (f *eventStream) begin(ctx context.Context, after askback.Cursor, yield func(askback.Event, error) bool) (err error) {
	if err := f.authorize(ctx); err != nil {
		return err
	}
	if after == "" {
		return f.snapshot(ctx, yield)
	}
	if f.pos, err = parseCursor("?after", after); err != nil {
		return err
	}
	head, err := f.head(ctx)
	if err == nil && head.seq < f.pos.seq { // the cursor is from before a backup was restored
		return f.snapshot(ctx, yield)
	}
	return err
}

// missingBefore reports whether events between the position and an event were deleted.
func (f *eventStream) missingBefore(next store.Event) bool {
	if f.session == "" {
		return next.Seq != f.pos.seq+1
	}
	return next.StreamSeq != f.pos.n+1
}

// authorize returns an error unless the principal may follow the stream.
func (f *eventStream) authorize(ctx context.Context) error {
	if f.session == "" {
		return f.client.authorize(askback.ActEvents)
	}
	_, err := f.client.findSession(ctx, askback.ActFollow, f.session)
	return err
}

// snapshot yields an event with the open asks and sets the position to the end of the
// stream. It reads the position before the asks, so a change in between is both in the
// snapshot and in a later event.
func (f *eventStream) snapshot(ctx context.Context, yield func(askback.Event, error) bool) (err error) {
	if f.pos, err = f.head(ctx); err != nil {
		return err
	}
	shot, size := snapshot{Asks: []askback.Ask{}}, 0
	q := askback.Query{SessionID: f.session, Limit: askback.MaxLimit}
	for {
		page, err := f.client.List(ctx, q)
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			shot.Asks = append(shot.Asks, f.client.engine.withPageURL(a))
			size += askBytes(a)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
		if shot.More = len(shot.Asks) >= maxSnapshot || size > listBytes || len(page.Items) == 0; shot.More {
			break
		}
	}
	if f.session != "" {
		one, err := f.client.findSession(ctx, askback.ActFollow, f.session)
		if err != nil {
			return err
		}
		shot.Session = &one
	}
	data, err := encode(shot)
	if err != nil {
		return err
	}
	ev := askback.Event{
		Cursor: f.pos.cursor(), SessionID: f.session, Type: askback.EventSnapshot, At: f.client.engine.clock(), Data: data,
	}
	if !yield(ev, nil) {
		return errStopped
	}
	return nil
}

// maxSnapshot is the number of open asks at which a snapshot reads no further page.
const maxSnapshot = 1000

// snapshot is the data of a snapshot event (docs/wire.md §4). More is set if there
// are open asks that are not in Asks.
type snapshot struct {
	Asks    []askback.Ask    `json:"asks"`
	More    bool             `json:"more,omitempty"`
	Session *askback.Session `json:"session"`
}

// withPageURL returns an ask with the address of its page.
func (e *Engine) withPageURL(a askback.Ask) askback.Ask { return a.WithPageURL(*e.pages.Load()) }

// head returns the position of the newest event of the stream.
func (f *eventStream) head(ctx context.Context) (position, error) {
	seq, n, err := f.client.engine.store.Head(ctx, f.session)
	return position{seq, n}, err
}

// read yields the events up to the end of the stream. If events are missing, it yields a
// snapshot and continues after it. Old events may be deleted anywhere in a stream, even
// during a read.
func (f *eventStream) read(ctx context.Context, yield func(askback.Event, error) bool) error {
	for ctx.Err() == nil {
		events, full, err := f.batch(ctx)
		for _, ev := range events {
			if !yield(ev, nil) {
				return errStopped
			}
		}
		if errors.Is(err, errMissing) {
			full, err = true, f.snapshot(ctx, yield)
		}
		if err != nil || !full {
			return err
		}
	}
	return context.Cause(ctx)
}

// errMissing is returned when events that the reader has not seen were deleted.
var errMissing = errors.New("events of the history are missing")

// decodeEvent decodes a stored event. If that fails, it logs the error and ok is false.
func (e *Engine) decodeEvent(l store.Event) (h lifecycle.Event, ok bool) {
	h, err := lifecycle.DecodeEvent(l.Type, l.Data)
	if err != nil {
		e.log.Error("an event cannot be read and is omitted", "seq", l.Seq, "error", err)
		return h, false
	}
	return h, true
}

// batch reads the next events; full reports whether there may be more. It reads on a
// separate goroutine: a query needs a large stack, which the goroutine of the reader
// would keep while it sleeps.
func (f *eventStream) batch(ctx context.Context) (events []askback.Event, full bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var rows []store.Event
		if rows, err = f.client.engine.store.History(ctx, f.session, f.pos.seq, historyChunk); err != nil {
			return
		}
		full = len(rows) == historyChunk
		for _, l := range rows {
			if f.missingBefore(l) {
				err = errMissing
				return
			}
			f.pos = position{l.Seq, l.StreamSeq}
			var ev askback.Event
			var ok bool
			if ev, ok, err = f.event(ctx, l); err != nil {
				return
			}
			if ok {
				events = append(events, ev)
			}
		}
	}()
	<-done
	return events, full, err
}

// event returns a stored event in the form that its readers get. ok is false if the
// principal may not see the event, or if the event or its ask cannot be read. The error is
// errMissing if the ask was deleted, since its other events were deleted with it.
func (f *eventStream) event(ctx context.Context, l store.Event) (ev askback.Event, ok bool, err error) {
	h, ok := f.client.engine.decodeEvent(l)
	if !ok {
		return ev, false, nil
	}
	h.Text = f.client.visibleText(h.Text)
	about := h.Ask
	if strings.HasPrefix(l.Subject, "ask_") {
		about = l.Subject
	}
	var a askback.Ask
	if about != "" {
		one, err := f.client.engine.read(ctx, about)
		if err == nil && h.Type.Settles() && !one.state.Ask.Settled() {
			one, err = f.client.engine.fetch(ctx, about) // the cache is updated after the commit
		}
		if errors.Is(err, askback.ErrNotFound) {
			return ev, false, errMissing
		}
		if errors.Is(err, askback.ErrDamaged) || errors.Is(err, errUnreadable) {
			f.client.engine.log.Error("an ask cannot be read, and its events are omitted", "ask", about, "error", err)
			return ev, false, nil
		}
		if err != nil {
			return ev, false, err
		}
		if err := f.client.authorizeAsk(askback.ActGet, &one.state); err != nil {
			if errors.Is(err, askback.ErrNotFound) {
				err = nil // the principal may not see it
			}
			return ev, false, err
		}
		a = one.state.Ask
	}
	data, err := eventData(h, f.client.engine.withPageURL(a))
	return askback.Event{
		Cursor: f.pos.cursor(), Seq: l.StreamSeq, SessionID: l.Stream, Type: h.Type, At: l.At, Data: data,
	}, err == nil, err
}
