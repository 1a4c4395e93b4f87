package engine

import (
	"context"
	"time"

	"github.com/askback/askback/store"
)

// maxSkew is how far the clock may be behind a time that was stored.
const maxSkew = 5 * time.Second

// A clockWatch logs when the clock is behind a time that was seen before (T27).
type clockWatch struct {
	newest time.Time
	behind bool // it was logged
}

// check compares the clock with the newest time so far.
func (w *clockWatch) check(e *Engine) {
	now := e.clock()
	if !now.Before(w.newest) {
		w.newest, w.behind = now, false
		return
	}
	if d := w.newest.Sub(now); d > maxSkew && !w.behind {
		w.behind = true
		e.log.Warn("the clock is behind the latest time in the database; until it is set, deadlines pass late, and tokens, grants and links are valid for longer", "behind", d.Round(time.Second))
	}
}

// newestTime returns the newest time that few queries find: that of the last event, and of the asks
// and sessions with the last ids. Ids sort by time, so what was stored with a wrong clock hides no
// others. After an error, it returns what it has found.
func (e *Engine) newestTime(ctx context.Context) (newest time.Time) {
	add := func(at time.Time) {
		if at.After(newest) {
			newest = at
		}
	}
	if seq, _, err := e.store.Head(ctx, ""); err == nil && seq > 0 {
		events, _ := e.store.History(ctx, "", seq-1, 1)
		for _, event := range events {
			add(event.At)
		}
	}
	for _, kind := range []string{kindAsk, kindSession} {
		records, _ := e.store.List(ctx, store.Query{Kind: kind, Newest: true, Limit: 1})
		for _, r := range records {
			add(r.Created)
			add(r.Updated)
		}
	}
	return newest
}
