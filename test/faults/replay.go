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

// compare audits the database, and compares the sent texts with the history. It then
// compares the history with a replay, which has the events that a new engine sends from the
// cursor of a reader. Each reader must have received the events of its replay.
func (s *streamTest) compare(ctx context.Context) (err error) {
	check := newChecker(s.path, s.clientPool.ackLog)
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
	s.bad = append(s.bad, s.sentTexts.compare(history)...)
	client := engine.New(db, nil).As(askback.Principal{Kind: askback.Responder, Name: s.reader.name})
	replayed := map[string][]entry{}
	for _, r := range s.records {
		if _, ok := replayed[r.session]; !ok {
			lines := eventsOf(history[s.begun:], r.session)
			if replayed[r.session], err = replay(ctx, client, r, len(lines)); err != nil {
				return err
			}
			s.bad = append(s.bad, compareEvents(lines, replayed[r.session])...)
		}
		s.bad = append(s.bad, r.compare(replayed[r.session])...)
	}
	return nil
}

func wholeHistory(ctx context.Context, db store.Store) (all []store.Event, err error) {
	for {
		after := int64(len(all)) // the audit has found no gaps
		events, err := db.History(ctx, "", after, store.MaxList)
		if all = append(all, events...); err != nil || len(events) == 0 {
			return all, err
		}
	}
}

// eventsOf returns the events of a session, or all events if session is "".
func eventsOf(history []store.Event, session string) (out []store.Event) {
	for _, e := range history {
		if session == "" || e.Stream == session {
			out = append(out, e)
		}
	}
	return out
}

// replay returns the n events after the cursor at which a reader began.
func replay(ctx context.Context, client askback.Events, r *record, n int) (out []entry, err error) {
	if n == 0 {
		return nil, nil
	}
	received := newRecord("the replay")
	for e, err := range client.Events(ctx, r.session, askback.Cursor(r.start)) {
		if err != nil {
			return nil, fmt.Errorf("replay %q: %w", r.session, err)
		}
		data, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if received.add(string(e.Cursor), string(e.Type), data); len(received.all) >= n {
			break
		}
	}
	return received.all, nil
}

// compareEvents returns a violation for the first difference between the history and the
// replayed events.
func compareEvents(lines []store.Event, events []entry) (bad []violation) {
	for i, l := range lines {
		if i >= len(events) {
			return append(bad, violated(lost, "event %d is missing in the replay", l.Seq))
		}
		if h := events[i]; h.session != l.Stream || h.seq != l.StreamSeq || h.kind != l.Type {
			return append(bad, violated(inconsistent, "event %d, %s %d %s, is replayed as %s", l.Seq, l.Stream,
				l.StreamSeq, l.Type, h))
		}
	}
	return bad
}

// compare compares the events that a reader received with want.
func (r *record) compare(want []entry) (bad []violation) {
	violate := func(f fault, format string, args ...any) {
		bad = append(bad, violated(f, r.name+" "+format, args...))
	}
	for i, w := range want {
		switch {
		case i >= len(r.all):
			violate(lost, "did not receive %s and %d more", w, len(want)-i-1)
			return bad
		case r.all[i].String() != w.String():
			violate(inconsistent, "received %s instead of %s", r.all[i], w)
			return bad
		case r.all[i] != w:
			violate(duplicated, "received %s with other content than the replay", w)
		}
	}
	if more := len(r.all) - len(want); more > 0 {
		violate(duplicated, "received %s and %d more, which do not exist", r.all[len(want)], more-1)
	}
	return bad
}
