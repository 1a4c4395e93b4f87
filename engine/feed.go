package engine

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
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// A feed is one reader of what happens. It reads history until there is no
// more, and then waits until the head moved: nothing is handed over in memory,
// so a slow reader holds up nobody and misses nothing.
type feed struct {
	seat    *seat
	session string // "" is all
	at      mark
}

// A mark is a place in the history: the number over all, and within a session.
// The second tells whether lines in between were cleaned away.
type mark struct{ seq, n int64 }

// feedChunk is how many lines are read, and held for a reader, at once: a message
// may have 800 KB.
const feedChunk = 16

// cursor writes a mark; readMark reads one that stood at a pointer. The form is nobody's affair.
func (m mark) cursor() askback.Cursor {
	s := strconv.FormatInt(m.seq, 36) + "." + strconv.FormatInt(m.n, 36)
	return askback.Cursor(base64.RawURLEncoding.EncodeToString([]byte(s)))
}

func readMark(at string, c askback.Cursor) (mark, error) {
	wrong := askback.Invalid{{Pointer: at, Detail: "this is no cursor of this stream", Fix: "send one that a stream gave, or none"}}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	first, second, ok := strings.Cut(string(raw), ".")
	if err != nil || !ok {
		return mark{}, wrong
	}
	seq, errSeq := strconv.ParseInt(first, 36, 64)
	n, errN := strconv.ParseInt(second, 36, 64)
	if errSeq != nil || errN != nil || seq < 0 || n < 0 {
		return mark{}, wrong
	}
	return mark{seq, n}, nil
}

// Events implements [askback.Feed].
func (s *seat) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		f := feed{seat: s, session: sessionID}
		w := s.engine.hub.follow(sessionID)
		defer s.engine.hub.unfollow(sessionID, w)
		more, err := f.begin(ctx, after, yield)
		for more && err == nil {
			more, err = f.read(ctx, yield)
			if more && err == nil {
				err = w.wait(ctx)
			}
		}
		if more && err != nil {
			yield(askback.Event{}, fmt.Errorf("events: %w", mine(err)))
		}
	}
}

// wait sleeps until the head moved.
func (f *follower) wait(ctx context.Context) error {
	select {
	case <-f.moved:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin finds the place to go on from. Without one, or where lines behind it
// are gone, it tells how things stand and goes on from there.
func (f *feed) begin(ctx context.Context, after askback.Cursor, yield func(askback.Event, error) bool) (more bool, err error) {
	if err := f.may(ctx); err != nil {
		return true, err
	}
	if after == "" {
		return f.snapshot(ctx, yield)
	}
	if f.at, err = readMark("?after", after); err != nil {
		return true, err
	}
	next, err := f.seat.engine.store.History(ctx, f.session, f.at.seq, 1)
	if err != nil {
		return true, err
	}
	if len(next) == 0 {
		// A cursor ahead of the history is one of another: a backup was restored.
		if head, err := f.head(ctx); err != nil || head.seq < f.at.seq {
			if err != nil {
				return true, err
			}
			return f.snapshot(ctx, yield)
		}
	}
	return true, nil
}

// ends says whether a line of history tells of an outcome.
func ends(event string) bool {
	switch event {
	case "question_answered", "question_declined", "question_cancelled", "question_expired":
		return true
	}
	return false
}

// gone says whether lines between the mark and an event were cleaned away.
func (f *feed) gone(next store.Event) bool {
	if f.session == "" {
		return next.Seq != f.at.seq+1
	}
	return next.StreamSeq != f.at.n+1
}

func (f *feed) may(ctx context.Context) error {
	if f.session == "" {
		return f.seat.mayEver(askback.ActFeed)
	}
	_, err := f.seat.find(ctx, askback.ActFollow, f.session)
	return err
}

// snapshot tells what is open, as of a head that is read before: what happens
// meanwhile is told again as an event.
func (f *feed) snapshot(ctx context.Context, yield func(askback.Event, error) bool) (more bool, err error) {
	if f.at, err = f.head(ctx); err != nil {
		return true, err
	}
	shot, size := snapshot{Asks: []askback.Ask{}}, 0
	q := askback.Query{SessionID: f.session, Limit: askback.MaxLimit}
	for {
		page, err := f.seat.List(ctx, q)
		if err != nil {
			return true, err
		}
		for _, a := range page.Items {
			shot.Asks = append(shot.Asks, f.seat.engine.linked(a))
			size += weight(a)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
		if shot.More = len(shot.Asks) >= maxSnapshot || size > listBytes; shot.More {
			break
		}
	}
	if f.session != "" {
		one, err := f.seat.find(ctx, askback.ActFollow, f.session)
		if err != nil {
			return true, err
		}
		shot.Session = &one
	}
	data, err := encode(shot)
	if err != nil {
		return true, err
	}
	return yield(askback.Event{
		Cursor: f.at.cursor(), SessionID: f.session, Type: "snapshot", At: f.seat.engine.clock(), Data: data,
	}, nil), nil
}

// maxSnapshot bounds how many open asks a snapshot tells of; the list has all.
const maxSnapshot = 1000

// snapshot is how things stand (wire.md §4). More says that there are more open
// asks than it tells of: the list has them all.
type snapshot struct {
	Asks    []askback.Ask    `json:"asks"`
	More    bool             `json:"more,omitempty"`
	Session *askback.Session `json:"session"`
}

// linked adds the address of an ask's page: made when it is told, never stored,
// because servers move.
func (e *Engine) linked(a askback.Ask) askback.Ask {
	if base := e.pages.Load(); base != nil && *base != "" && a.ID != "" {
		a.PageURL = *base + "/asks/" + a.ID
	}
	return a
}

// head is the mark of the last line there is.
func (f *feed) head(ctx context.Context) (mark, error) {
	seq, n, err := f.seat.engine.store.Head(ctx, f.session)
	return mark{seq, n}, err
}

// read yields all lines there are. When lines are missing before one of them, it
// yields a snapshot instead and goes on behind that: a clean-up may delete lines
// anywhere, and while the reader is on its way.
func (f *feed) read(ctx context.Context, yield func(askback.Event, error) bool) (more bool, err error) {
	for {
		if ctx.Err() != nil {
			return true, context.Cause(ctx)
		}
		events, full, err := f.batch(ctx)
		for _, ev := range events {
			if !yield(ev, nil) {
				return false, nil
			}
		}
		switch {
		case errors.Is(err, errHole):
			if more, err := f.snapshot(ctx, yield); err != nil || !more {
				return more, err
			}
		case err != nil || !full:
			return true, err
		}
	}
}

// errHole is returned when lines that a reader has not seen are missing.
var errHole = errors.New("lines of the history are missing")

// entry decodes a line of history. A line that cannot be read is logged, and is left out.
func (e *Engine) entry(l store.Event) (h lifecycle.Entry, ok bool) {
	if err := json.Unmarshal(l.Data, &h); err != nil {
		e.log.Error("a line of history cannot be read, and is left out", "seq", l.Seq, "error", err)
		return h, false
	}
	return h, true
}

// batch reads the next lines on a goroutine of its own: a stack that grew on the
// way through a database does not shrink again while its owner sleeps. full says
// that there may be more.
func (f *feed) batch(ctx context.Context) (events []askback.Event, full bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var lines []store.Event
		if lines, err = f.seat.engine.store.History(ctx, f.session, f.at.seq, feedChunk); err != nil {
			return
		}
		full = len(lines) == feedChunk
		for _, l := range lines {
			if f.gone(l) {
				err = errHole
				return
			}
			f.at = mark{l.Seq, l.StreamSeq}
			var ev askback.Event
			var ok bool
			if ev, ok, err = f.tell(ctx, l); err != nil {
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

// tell is a line of history as this principal may see it; ok is false if it may
// not. The error is errHole if the ask of the line is gone: its other lines are
// gone with it.
func (f *feed) tell(ctx context.Context, l store.Event) (ev askback.Event, ok bool, err error) {
	h, ok := f.seat.engine.entry(l)
	if !ok {
		return ev, false, nil
	}
	h.Type, h.Text = l.Type, f.seat.visible(h.Text)
	about := h.Ask
	if strings.HasPrefix(l.Subject, "ask_") {
		about = l.Subject
	}
	var a askback.Ask
	if about != "" {
		k, err := f.seat.engine.read(ctx, about)
		if err == nil && ends(l.Type) && !k.state.Ask.Settled() {
			k, err = f.seat.engine.fetch(ctx, about) // the line is there before the cache hears of it
		}
		if errors.Is(err, askback.ErrNotFound) {
			return ev, false, errHole
		}
		if errors.Is(err, askback.ErrDamaged) || errors.Is(err, errUnreadable) {
			f.seat.engine.log.Error("an ask cannot be read, and its events are left out", "ask", about, "error", err)
			return ev, false, nil
		}
		if err != nil {
			return ev, false, err
		}
		if err := f.seat.may(askback.ActGet, k.state); err != nil {
			if errors.Is(err, askback.ErrNotFound) {
				err = nil // it is not this principal's
			}
			return ev, false, err
		}
		a = k.state.Ask
	}
	data, err := rendered(h, f.seat.engine.linked(a))
	return askback.Event{
		Cursor: f.at.cursor(), Seq: l.StreamSeq, SessionID: l.Stream, Type: l.Type, At: l.At, Data: data,
	}, err == nil, err
}
