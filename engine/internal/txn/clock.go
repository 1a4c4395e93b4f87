package txn

import (
	"context"
	"time"

	"github.com/askback/askback/store"
)

// maxSkew is the maximum time by which the clock may be behind a stored time without a warning.
const maxSkew = 5 * time.Second

// A ClockWatch logs when the clock is behind an earlier time (T27).
type ClockWatch struct {
	Newest time.Time
	behind bool // the warning was logged
}

// Check compares the clock with the newest time so far. It logs once if the clock is behind this time by more
// than maxSkew.
func (w *ClockWatch) Check(e *DB) {
	now := e.Clock()
	if !now.Before(w.Newest) {
		w.Newest, w.behind = now, false
		return
	}
	if d := w.Newest.Sub(now); d > maxSkew && !w.behind {
		w.behind = true
		e.Log.Warn("the clock is behind the latest time in the database; until it is set, deadlines pass late, and "+
			"tokens, grants and links are valid for longer", "behind", d.Round(time.Second))
	}
}

// NewestTime returns the newest stored time that a few queries find. They read the time of the last event,
// the last ask and the last session. Ids sort by time, so a record with a wrong clock does not hide other
// records. NewestTime ignores errors of the store.
func (db *DB) NewestTime(ctx context.Context) (newest time.Time) {
	add := func(at time.Time) {
		if at.After(newest) {
			newest = at
		}
	}
	if seq, _, err := db.Store.Head(ctx, ""); err == nil && seq > 0 {
		events, _ := db.Store.History(ctx, "", seq-1, 1)
		for _, event := range events {
			add(event.At)
		}
	}
	for _, kind := range []string{KindAsk, KindSession} {
		records, _ := db.Store.List(ctx, store.Query{Kind: kind, Newest: true, Limit: 1})
		for _, r := range records {
			add(r.Created)
			add(r.Updated)
		}
	}
	return newest
}
