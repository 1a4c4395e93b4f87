package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// kindAsk is the kind of the records of asks.
const kindAsk = "ask"

// A checker checks that a database is consistent and agrees with the acknowledgements. The
// method check reads only the events since the last check, so that it stays fast while the
// database grows.
type checker struct {
	path      string
	ackLog    *ackLog
	seq       int64                 // last sequence number that was read
	lastSeq   map[string]int64      // last sequence number of each session
	histories map[string]askHistory // keyed by the id of the ask
}

// An askHistory summarizes the events of one ask.
type askHistory struct {
	steps     int64
	settledBy string // type of the event that settled the ask
	consumed  bool
	received  bool
}

func newChecker(path string, l *ackLog) *checker {
	return &checker{path: path, ackLog: l, lastSeq: map[string]int64{}, histories: map[string]askHistory{}}
}

// compared returns the numbers of compared items, for the report.
func (c *checker) compared() string {
	return fmt.Sprintf("%d acknowledgements and %d events compared", c.ackLog.acks, c.seq)
}

// check opens the database, as a server does after a crash, and returns the violations
// that are new since the last check.
func (c *checker) check(ctx context.Context) (bad []violation, err error) {
	db, err := sqlite.Open(c.path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	touched, bad, err := c.checkNewEvents(ctx, db)
	if err != nil {
		return bad, err
	}
	more, err := c.checkKeys(ctx, db)
	if bad = append(bad, more...); err != nil {
		return bad, err
	}
	maps.Copy(touched, c.ackLog.newIDs)
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		more, err := c.checkAsk(ctx, db, id)
		if bad = append(bad, more...); err != nil {
			return bad, err
		}
	}
	c.ackLog.markChecked()
	return bad, nil
}

// checkNewEvents checks the events since the last check, and returns the ids of their
// asks.
func (c *checker) checkNewEvents(
	ctx context.Context, db store.Store,
) (touched map[string]bool, bad []violation, err error) {
	touched = map[string]bool{}
	if bad, err = c.checkLastEvent(ctx, db); err != nil {
		return touched, bad, err
	}
	for {
		events, err := db.History(ctx, "", c.seq, store.MaxList)
		if err != nil || len(events) == 0 {
			return touched, bad, err
		}
		for _, e := range events {
			if !isSessionEvent(e) {
				touched[e.Subject] = true
			}
			bad = append(bad, c.checkEvent(e)...)
		}
	}
}

// checkLastEvent checks that the last event of the previous check is still
// stored.
func (c *checker) checkLastEvent(ctx context.Context, db store.Store) ([]violation, error) {
	if c.seq == 0 {
		return nil, nil
	}
	events, err := db.History(ctx, "", c.seq-1, 1)
	if err == nil && (len(events) == 0 || events[0].Seq != c.seq) {
		return []violation{violated(lost, "event %d is missing, which an earlier check read", c.seq)}, nil
	}
	return nil, err
}

// checkEvent checks the sequence numbers of an event, and that its session or ask may have this event now.
// The event then counts as an earlier event.
func (c *checker) checkEvent(e store.Event) (bad []violation) {
	if e.Seq != c.seq+1 {
		bad = append(bad, violated(inconsistent, "event %d follows %d", e.Seq, c.seq))
	}
	if last := c.lastSeq[e.Stream]; e.StreamSeq != last+1 {
		bad = append(bad, violated(inconsistent, "event %d of session %s follows %d", e.StreamSeq, e.Stream, last))
	}
	c.seq, c.lastSeq[e.Stream] = e.Seq, e.StreamSeq
	if isSessionEvent(e) {
		if first := e.Type == "session_started"; first != (e.StreamSeq == 1) {
			bad = append(bad, violated(inconsistent,
				"%s: event %d, %s, is out of place: a session begins with one session_started", e.Stream, e.Seq,
				e.Type))
		}
		return bad
	}
	l := c.histories[e.Subject]
	bad = append(bad, l.apply(e)...)
	c.histories[e.Subject] = l
	return bad
}

// isSessionEvent reports whether an event is about a session and not about one of its asks.
func isSessionEvent(e store.Event) bool { return strings.HasPrefix(e.Subject, "ses_") }

// apply adds an event to the history of an ask. It returns violations if the event cannot follow the earlier
// events.
func (l *askHistory) apply(e store.Event) (bad []violation) {
	violate := func(f fault, what string) {
		bad = append(bad, violated(f, "%s: event %d, %s, %s", e.Subject, e.Seq, e.Type, what))
	}
	l.steps++
	if first := e.Type == "question_pending"; first != (l.steps == 1) {
		violate(inconsistent, "is out of place: an ask begins with one question_pending")
	}
	switch e.Type {
	case "question_answered", "question_declined", "question_cancelled", "question_expired":
		if l.settledBy != "" {
			violate(duplicated, "follows "+l.settledBy)
		}
		l.settledBy = e.Type
	case "question_consumed":
		if l.consumed || l.settledBy != "question_answered" {
			violate(duplicated, "spends an approval that is missing or spent")
		}
		l.consumed = true
	case "answer_acked":
		if l.settledBy == "" || l.received {
			violate(inconsistent, "acknowledges an ask that is pending or was acknowledged before")
		}
		l.received = true
	case "answer_refused":
		if l.settledBy == "" {
			violate(inconsistent, "rejects an answer to a pending ask")
		}
	}
	return bad
}

// checkKeys checks that every key that was acknowledged since the last check is stored,
// with the acknowledged ask.
func (c *checker) checkKeys(ctx context.Context, db store.Store) (bad []violation, err error) {
	for _, key := range slices.Sorted(maps.Keys(c.ackLog.newKeys)) {
		r, err := db.ReadKey(ctx, kindAsk, key)
		switch {
		case errors.Is(err, store.ErrNotFound):
			bad = append(bad, violated(lost, "the ask with the key %s was acknowledged and is missing", key))
		case err != nil:
			return bad, err
		default:
			bad = append(bad, c.ackLog.addKey(key, r.ID)...)
			c.ackLog.newIDs[r.ID] = true
		}
	}
	return bad, nil
}

// checkAsk checks that an ask is stored, and compares its record with its history and with
// the acknowledgements.
func (c *checker) checkAsk(ctx context.Context, db store.Store, id string) ([]violation, error) {
	r, err := db.Read(ctx, kindAsk, id)
	if errors.Is(err, store.ErrNotFound) {
		f := inconsistent // there are events, but no record
		if c.ackLog.newIDs[id] {
			f = lost
		}
		return []violation{violated(f, "ask %s is missing", id)}, nil
	}
	if err != nil {
		return nil, err
	}
	return c.checkRecord(r), nil
}

// columnsOf returns the columns of a record that are part of its state.
func columnsOf(r store.Record) lifecycle.Row {
	return lifecycle.Row{
		ID: r.ID, Stream: r.Stream, Owner: r.Owner, Agent: r.Agent, Status: r.Status, Created: r.Created,
	}
}

// checkRecord compares a record with its history and with the acknowledgements, and returns the violations.
func (c *checker) checkRecord(r store.Record) (bad []violation) {
	violate := func(f fault, format string, args ...any) {
		bad = append(bad, violated(f, r.ID+": "+format, args...))
	}
	s, err := lifecycle.DecodeAsk(columnsOf(r), r.Fixed, r.State)
	if err != nil {
		violate(inconsistent, "%v", err)
		return bad
	}
	l := c.histories[r.ID]
	if l.steps < r.Version { // a deadline that has passed may share a version with a late answer
		violate(inconsistent, "the version is %d, but there are only %d events", r.Version, l.steps)
	}
	if s.Ask.Settled() == r.Open || s.Ask.Unacked() != r.Unacked || string(s.Ask.Status) != r.Status ||
		s.Ask.ID != r.ID || s.Ask.SessionID != r.Stream {
		violate(inconsistent, "the columns differ from the state")
	}
	if ended := strings.TrimPrefix(l.settledBy, "question_"); s.Ask.Settled() != (ended != "") ||
		s.Ask.Settled() && ended != r.Status {
		violate(inconsistent, "the status is %s, but the history says %q", r.Status, l.settledBy)
	}
	if (l.received || l.consumed) != !s.Ask.AckedAt.IsZero() {
		violate(inconsistent, "acknowledged at %v, but the history says %t", s.Ask.AckedAt, l.received)
	}
	if l.consumed != !s.Ask.ConsumedAt.IsZero() {
		violate(inconsistent, "spent at %v, but the history says %t", s.Ask.ConsumedAt, l.consumed)
	}
	bad = append(bad, c.checkAcks(s)...)
	return bad
}

// checkAcks compares an ask with the acknowledgements, and returns the violations.
func (c *checker) checkAcks(s lifecycle.AskState) (bad []violation) {
	a := s.Ask
	outcome, settled := c.ackLog.outcomes[a.ID]
	switch {
	case settled && !a.Settled():
		bad = append(bad, violated(lost, "%s was acknowledged as %s, but is pending", a.ID, outcome))
	case settled && outcomeText(a.Outcome) != outcome:
		bad = append(bad,
			violated(duplicated, "%s was acknowledged as %s, but is %s", a.ID, outcome, outcomeText(a.Outcome)))
	}
	if c.ackLog.consumed[a.ID] && s.Ask.ConsumedAt.IsZero() {
		bad = append(bad, violated(lost, "the consumption of %s was acknowledged, but is not stored", a.ID))
	}
	return bad
}

// ownedKey returns a key as the engine stores it, together with its owner.
func ownedKey(owner, key string) string { return fmt.Sprintf("%d:%s:%s", len(owner), owner, key) }
