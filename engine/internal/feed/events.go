package feed

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/wire/codec"
	"github.com/askback/askback/store"
)

// An eventStream sends history events to one reader. It reads a stream from the store to its end and then
// waits for more events. No event is queued in memory, so a slow reader delays no other reader. If unread
// events are deleted, the reader gets a snapshot.
type eventStream struct {
	client   *Client
	session  string // "": all sessions
	follower *txn.Member
	pos      position

	live       *txn.LiveText // the text of the model; the reader already has its first liveSent bytes
	liveSent   int
	liveHidden bool // whether the reader may not read the text in live
}

// A position is a place in the history. The field seq is the number of an event over all streams. The field n
// is the number of the event within the stream of its session. A gap in the numbers of a stream means that
// events were deleted.
type position struct{ seq, n int64 }

// cursor encodes a position as an opaque string.
func (m position) cursor() askback.Cursor {
	s := strconv.FormatInt(m.seq, 36) + "." + strconv.FormatInt(m.n, 36)
	return askback.Cursor(base64.RawURLEncoding.EncodeToString([]byte(s)))
}

// parseCursor decodes a cursor. If the cursor is not valid, the error is an
// [askback.Invalid] with the pointer at.
func parseCursor(at string, c askback.Cursor) (position, error) {
	wrong := askback.Invalid{{
		Pointer: at, Detail: "is not a cursor of this stream",
		Fix: "send a cursor of this stream, or leave it out",
	}}
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
func (c *Client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		f := eventStream{client: c, session: sessionID, follower: c.service.Hub.Follow(sessionID)}
		defer c.service.Hub.Unfollow(sessionID, f.follower)
		err := f.yieldApart(yield, func() (*askback.Event, error) { return f.begin(ctx, after) })
		for err == nil {
			if err = f.read(ctx, yield); err == nil {
				err = f.yieldLive(ctx, yield)
			}
			if err == nil {
				err = f.follower.Wait(ctx)
			}
		}
		if !errors.Is(err, errStopped) {
			yield(askback.Event{}, fmt.Errorf("events: %w", txn.FromStore(err)))
		}
	}
}

// errStopped is returned by the methods of eventStream after yield has returned false.
var errStopped = errors.New("the reader of events has stopped")

// yieldApart calls read on a separate goroutine (see Apart) and yields the event that read returns. It yields
// nothing if the event is nil or there is an error.
func (f *eventStream) yieldApart(yield func(askback.Event, error) bool, read func() (*askback.Event, error)) error {
	var ev *askback.Event
	err := f.client.service.Apart(func() (err error) {
		ev, err = read()
		return err
	})
	if err == nil && ev != nil && !yield(*ev, nil) {
		return errStopped
	}
	return err
}

// begin sets the position to the cursor. Without a cursor, or if the cursor is after the end of the history,
// begin returns a snapshot instead. The error is not nil if the principal may not follow the stream.
func (f *eventStream) begin(ctx context.Context, after askback.Cursor) (_ *askback.Event, err error) {
	if err := f.authorize(ctx); err != nil {
		return nil, err
	}
	if after == "" {
		return f.snapshot(ctx)
	}
	if after == askback.Beginning {
		return nil, nil
	}
	if f.pos, err = parseCursor("?after", after); err != nil {
		return nil, err
	}
	head, err := f.head(ctx)
	if err == nil && head.seq < f.pos.seq { // the cursor was made before a backup was restored
		return f.snapshot(ctx)
	}
	return nil, err
}

// missingBefore reports whether events between the position and next were deleted.
func (f *eventStream) missingBefore(next store.Event) bool {
	if f.session == "" {
		return next.Seq != f.pos.seq+1
	}
	return next.StreamSeq != f.pos.n+1
}

// authorize returns an error unless the principal may follow the stream.
func (f *eventStream) authorize(ctx context.Context) error {
	if f.session == "" {
		return f.client.Authorize(access.ActEvents)
	}
	_, err := f.client.FindSession(ctx, access.ActFollow, f.session)
	return err
}

// snapshot returns an event with the session of the stream and the open asks that the principal may see. It
// sets the position to the end of the stream. It reads this position before the asks. So a change in between
// is both in the snapshot and in a later event.
func (f *eventStream) snapshot(ctx context.Context) (_ *askback.Event, err error) {
	if f.pos, err = f.head(ctx); err != nil {
		return nil, err
	}
	shot, size := snapshot{}, 0
	q := askback.Query{SessionID: f.session, Limit: askback.MaxLimit}
	for {
		page, err := f.client.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			shot.Asks = append(shot.Asks, f.client.service.WithPageURL(a))
			size += txn.AskBytes(&a)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
		if shot.More = len(shot.Asks) >= maxSnapshot || size > txn.ListBytes || len(page.Items) == 0; shot.More {
			break
		}
	}
	if f.session != "" {
		one, err := f.client.FindSession(ctx, access.ActFollow, f.session)
		if err != nil {
			return nil, err
		}
		shot.Session = &one
	}
	data, err := shot.encode()
	if err != nil {
		return nil, err
	}
	return &askback.Event{
		Cursor: f.pos.cursor(), SessionID: f.session, Type: askback.EventSnapshot, At: f.client.service.Clock(),
		Data: data,
	}, nil
}

// maxSnapshot is the number of open asks at which a snapshot reads no further page.
const maxSnapshot = 1000

// snapshot is the data of a snapshot event (docs/wire.md §4). More is set if there
// may be open asks that are not in Asks.
type snapshot struct {
	Asks    []askback.Ask
	More    bool
	Session *askback.Session
}

// encode returns a snapshot as JSON.
func (s *snapshot) encode() (json.RawMessage, error) {
	w := dataWriter{b: append(make([]byte, 0, dataSize), '{')}
	list(&w, "asks", s.Asks, askback.Ask.AppendJSON)
	if s.More {
		w.b = append(codec.AppendName(w.b, "more"), "true"...)
	}
	pointer(&w, "session", s.Session, askback.Session.AppendJSON)
	return append(w.b, '}'), w.err
}

// head returns the position of the newest event of the stream.
func (f *eventStream) head(ctx context.Context) (position, error) {
	seq, n, err := f.client.service.Store.Head(ctx, f.session)
	return position{seq, n}, err
}

// read yields the events up to the end of the stream. If events are missing, read yields a snapshot and
// continues after the snapshot. Old events may be deleted anywhere in a stream, even during a read.
func (f *eventStream) read(ctx context.Context, yield func(askback.Event, error) bool) error {
	for ctx.Err() == nil {
		events, full, err := f.batchApart(ctx)
		for i := range events {
			if !yield(events[i], nil) {
				return errStopped
			}
		}
		if errors.Is(err, errMissing) {
			full, err = true, f.yieldApart(yield, func() (*askback.Event, error) { return f.snapshot(ctx) })
		}
		if err != nil || !full {
			return err
		}
	}
	return context.Cause(ctx)
}

// batchApart returns the result of batch, which it calls on a separate goroutine (see Apart).
func (f *eventStream) batchApart(ctx context.Context) (events []askback.Event, full bool, err error) {
	err = f.client.service.Apart(func() (err error) {
		events, full, err = f.batch(ctx)
		return err
	})
	return events, full, err
}

// errMissing is returned when events that the reader has not seen were deleted.
var errMissing = errors.New("events of the history are missing")

// batch returns the next events that the principal may see. If full is set, there may be more events. The
// error is errMissing if an event after the position was deleted.
func (f *eventStream) batch(ctx context.Context) (events []askback.Event, full bool, err error) {
	p, err := f.nextPage(ctx)
	if err != nil {
		return nil, false, err
	}
	for i := range p.events {
		e := &p.events[i]
		if f.missingBefore(e.row) {
			return events, p.full, errMissing
		}
		f.pos = position{e.row.Seq, e.row.StreamSeq}
		ev, ok, err := f.event(ctx, e)
		if err != nil {
			return events, p.full, err
		}
		if ok {
			events = append(events, ev)
		}
	}
	return events, p.full, p.err
}

// event returns an event of a page in the form for this reader. ok is false if the principal may not see the
// event. It is also false if the event or its ask cannot be read.
func (f *eventStream) event(ctx context.Context, e *pageEvent) (ev askback.Event, ok bool, err error) {
	if !e.readable || e.err != nil {
		return ev, false, e.err
	}
	data, ok, err := f.client.shown(ctx, e)
	if err != nil || !ok {
		return ev, false, err
	}
	ev = askback.Event{
		Cursor: f.pos.cursor(), Seq: e.row.StreamSeq, SessionID: e.row.Stream, Type: e.history.Type, At: e.row.At,
		Data: data,
	}
	if ev.Type.ForPeople() { // the stream of such an event has the id of the ask
		ev.Seq, ev.SessionID = 0, e.ask.State.Ask.SessionID
	}
	return ev, true, nil
}
