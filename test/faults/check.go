package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// kindAsk is the kind of record that asks are, and the prefix of the lines of
// history that end one.
const kindAsk = "ask"

// A checker compares a database with what was acknowledged and with itself. It
// reads on in the history from where it stood, so that a look at a growing
// database costs what is new in it.
type checker struct {
	path    string
	ledger  *ledger
	seq     int64            // the last number it read
	streams map[string]int64 // the last number of each session
	lives   map[string]life  // of each ask
}

// A life is what the history says of one ask.
type life struct {
	steps    int64
	settled  string // the line that ended it
	consumed bool
	received bool
}

func newChecker(path string, l *ledger) *checker {
	return &checker{path: path, ledger: l, streams: map[string]int64{}, lives: map[string]life{}}
}

// compared says how much there was to compare.
func (c *checker) compared() string {
	return fmt.Sprintf("%d acknowledgements and %d lines of history compared", c.ledger.acks, c.seq)
}

// check opens the database, as after a crash, and returns what is wrong.
func (c *checker) check(ctx context.Context) (bad []violation, err error) {
	db, err := sqlite.Open(c.path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	touched, bad, err := c.readOn(ctx, db)
	if err != nil {
		return bad, err
	}
	wrong, err := c.keys(ctx, db)
	if bad = append(bad, wrong...); err != nil {
		return bad, err
	}
	maps.Copy(touched, c.ledger.freshIDs)
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		wrong, err := c.ask(ctx, db, id)
		if bad = append(bad, wrong...); err != nil {
			return bad, err
		}
	}
	c.ledger.looked()
	return bad, nil
}

// readOn reads the history that is new, and returns the asks it speaks of.
func (c *checker) readOn(ctx context.Context, db store.Store) (touched map[string]bool, bad []violation, err error) {
	touched = map[string]bool{}
	if bad, err = c.stillThere(ctx, db); err != nil {
		return touched, bad, err
	}
	for {
		events, err := db.History(ctx, "", c.seq, store.MaxList)
		if err != nil || len(events) == 0 {
			return touched, bad, err
		}
		for _, e := range events {
			if !ofSession(e) {
				touched[e.Subject] = true
			}
			bad = append(bad, c.event(e)...)
		}
	}
}

// stillThere looks for the last line that was there before.
func (c *checker) stillThere(ctx context.Context, db store.Store) ([]violation, error) {
	if c.seq == 0 {
		return nil, nil
	}
	events, err := db.History(ctx, "", c.seq-1, 1)
	if err == nil && (len(events) == 0 || events[0].Seq != c.seq) {
		return []violation{violated(lost, "line %d of the history was there before", c.seq)}, nil
	}
	return nil, err
}

// event takes one line of history.
func (c *checker) event(e store.Event) (bad []violation) {
	if e.Seq != c.seq+1 {
		bad = append(bad, violated(torn, "line %d of the history follows %d", e.Seq, c.seq))
	}
	if last := c.streams[e.Stream]; e.StreamSeq != last+1 {
		bad = append(bad, violated(torn, "line %d of session %s follows %d", e.StreamSeq, e.Stream, last))
	}
	c.seq, c.streams[e.Stream] = e.Seq, e.StreamSeq
	if ofSession(e) {
		if first := e.Type == "session_started"; first != (e.StreamSeq == 1) {
			bad = append(bad, violated(torn, "%s: line %d, %s, is out of place: a session starts once, first of all", e.Stream, e.Seq, e.Type))
		}
		return bad
	}
	l := c.lives[e.Subject]
	bad = append(bad, l.take(e)...)
	c.lives[e.Subject] = l
	return bad
}

// ofSession says that a line is about a session, and not about an ask in it.
func ofSession(e store.Event) bool { return e.Subject == e.Stream }

// take holds one line of history against those before it.
func (l *life) take(e store.Event) (bad []violation) {
	wrong := func(f fault, what string) {
		bad = append(bad, violated(f, "%s: line %d, %s, %s", e.Subject, e.Seq, e.Type, what))
	}
	l.steps++
	if first := e.Type == "question_pending"; first != (l.steps == 1) {
		wrong(torn, "is out of place: an ask is asked once, first of all")
	}
	switch e.Type {
	case "question_answered", "question_declined", "question_cancelled", "question_expired":
		if l.settled != "" {
			wrong(doubled, "comes after "+l.settled)
		}
		l.settled = e.Type
	case "question_consumed":
		if l.consumed || l.settled != "question_answered" {
			wrong(doubled, "spends what is not there to be spent")
		}
		l.consumed = true
	case "answer_acked":
		if l.settled == "" || l.received {
			wrong(torn, "is a receipt for what was not there, or a second one")
		}
		l.received = true
	case "answer_refused":
		if l.settled == "" {
			wrong(torn, "refuses an answer to an ask that is pending")
		}
	}
	return bad
}

// keys looks for every key that was acknowledged.
func (c *checker) keys(ctx context.Context, db store.Store) (bad []violation, err error) {
	for _, key := range slices.Sorted(maps.Keys(c.ledger.freshKeys)) {
		r, err := db.ReadKey(ctx, kindAsk, key)
		switch {
		case errors.Is(err, store.ErrNotFound):
			bad = append(bad, violated(lost, "the ask with the key %s was acknowledged and is not there", key))
		case err != nil:
			return bad, err
		default:
			bad = append(bad, c.ledger.noteKey(key, r.ID)...)
			c.ledger.freshIDs[r.ID] = true
		}
	}
	return bad, nil
}

// ask compares one record with its history and with what was acknowledged.
func (c *checker) ask(ctx context.Context, db store.Store, id string) ([]violation, error) {
	r, err := db.Read(ctx, kindAsk, id)
	if errors.Is(err, store.ErrNotFound) {
		f := torn // history without a record
		if c.ledger.freshIDs[id] {
			f = lost
		}
		return []violation{violated(f, "there is no ask %s", id)}, nil
	}
	if err != nil {
		return nil, err
	}
	return c.compare(r), nil
}

// compare holds a record against its history and what was acknowledged.
func (c *checker) compare(r store.Record) (bad []violation) {
	wrong := func(f fault, format string, args ...any) {
		bad = append(bad, violated(f, r.ID+": "+format, args...))
	}
	s, err := lifecycle.Decode(r.Fixed, r.State)
	if err != nil {
		wrong(torn, "%v", err)
		return bad
	}
	l := c.lives[r.ID]
	if l.steps != r.Version {
		wrong(torn, "version %d, and %d lines of history", r.Version, l.steps)
	}
	if s.Ask.Settled() == r.Open || s.Ask.Unacked() != r.Unacked || string(s.Ask.Status) != r.Status || s.Ask.ID != r.ID || s.Ask.SessionID != r.Stream {
		wrong(torn, "the columns say other than the state")
	}
	if ended := strings.TrimPrefix(l.settled, "question_"); s.Ask.Settled() != (ended != "") || s.Ask.Settled() && ended != r.Status {
		wrong(torn, "it is %s, and its history says %q", r.Status, l.settled)
	}
	if (l.received || l.consumed) != !s.Ask.AckedAt.IsZero() {
		wrong(torn, "received at %v, and its history says %t", s.Ask.AckedAt, l.received)
	}
	if l.consumed != !s.Consumed.IsZero() {
		wrong(torn, "spent at %v, and its history says %t", s.Consumed, l.consumed)
	}
	bad = append(bad, c.acknowledged(s)...)
	return bad
}

// acknowledged compares an ask with what was said of it.
func (c *checker) acknowledged(s lifecycle.State) (bad []violation) {
	a := s.Ask
	told, settled := c.ledger.outcomes[a.ID]
	switch {
	case settled && !a.Settled():
		bad = append(bad, violated(lost, "%s was acknowledged as %s and is pending", a.ID, told))
	case settled && said(a.Outcome) != told:
		bad = append(bad, violated(doubled, "%s was acknowledged as %s and is %s", a.ID, told, said(a.Outcome)))
	}
	if c.ledger.consumed[a.ID] && s.Consumed.IsZero() {
		bad = append(bad, violated(lost, "the approval %s was spent and is not", a.ID))
	}
	return bad
}

// ownedKey is how the engine keeps a key that an asker chose.
func ownedKey(owner, key string) string { return fmt.Sprintf("%d:%s:%s", len(owner), owner, key) }
