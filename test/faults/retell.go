package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// compare holds what each reader was told against the database: line by line
// against the history, and word by word against what an engine that saw nothing
// of it tells of the same place.
func (s *streams) compare(ctx context.Context) (err error) {
	check := newChecker(s.path, s.crowd.ledger)
	bad, err := check.audit(ctx)
	if s.bad = append(s.bad, bad...); err != nil {
		return err
	}
	db, err := sqlite.Open(s.path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	history, err := wholeHistory(ctx, db)
	if err != nil {
		return err
	}
	s.lines = len(history)
	s.bad = append(s.bad, s.words.compare(history)...)
	fresh := engine.New(db, nil).As(askback.Principal{Kind: askback.Responder, Name: s.reader.name})
	retold := map[string][]heard{}
	for _, r := range s.records {
		if _, ok := retold[r.session]; !ok {
			lines := linesOf(history[s.begun:], r.session)
			if retold[r.session], err = retell(ctx, fresh, r, len(lines)); err != nil {
				return err
			}
			s.bad = append(s.bad, sameLines(lines, retold[r.session])...)
		}
		s.bad = append(s.bad, r.compare(retold[r.session])...)
	}
	return nil
}

func wholeHistory(ctx context.Context, db store.Store) (all []store.Event, err error) {
	for {
		after := int64(len(all)) // the audit found no gap
		events, err := db.History(ctx, "", after, store.MaxList)
		if all = append(all, events...); err != nil || len(events) == 0 {
			return all, err
		}
	}
}

// linesOf are the lines of a session, or all.
func linesOf(history []store.Event, session string) (out []store.Event) {
	for _, e := range history {
		if session == "" || e.Stream == session {
			out = append(out, e)
		}
	}
	return out
}

// retell returns what a seat tells from where a reader began, up to so many
// events.
func retell(ctx context.Context, seat askback.Events, r *record, n int) (out []heard, err error) {
	if n == 0 {
		return nil, nil
	}
	again := newRecord("the feed")
	for e, err := range seat.Events(ctx, r.session, askback.Cursor(r.start)) {
		if err != nil {
			return nil, fmt.Errorf("retell %q: %w", r.session, err)
		}
		data, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if again.hear(string(e.Cursor), string(e.Type), data); len(again.all) >= n {
			break
		}
	}
	return again.all, nil
}

// sameLines holds what a feed tells against the lines themselves.
func sameLines(lines []store.Event, told []heard) (bad []violation) {
	for i, l := range lines {
		if i >= len(told) {
			return append(bad, violated(lost, "line %d of the history is not told", l.Seq))
		}
		if h := told[i]; h.session != l.Stream || h.seq != l.StreamSeq || h.kind != l.Type {
			return append(bad, violated(torn, "line %d of the history, %s %d %s, is told as %s", l.Seq, l.Stream, l.StreamSeq, l.Type, h))
		}
	}
	return bad
}

// compare holds what a reader was told against what is to be told.
func (r *record) compare(want []heard) (bad []violation) {
	wrong := func(f fault, format string, args ...any) {
		bad = append(bad, violated(f, r.name+" "+format, args...))
	}
	for i, w := range want {
		switch {
		case i >= len(r.all):
			wrong(lost, "was not told %s and %d more", w, len(want)-i-1)
			return bad
		case r.all[i].String() != w.String():
			wrong(torn, "was told %s, and it was the turn of %s", r.all[i], w)
			return bad
		case r.all[i] != w:
			wrong(doubled, "was told %s in other words than it is told now", w)
		}
	}
	if more := len(r.all) - len(want); more > 0 {
		wrong(doubled, "was told %s and %d more, of which nobody knows", r.all[len(want)], more-1)
	}
	return bad
}
