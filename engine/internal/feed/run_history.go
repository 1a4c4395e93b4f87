package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
)

// The limits of [reports.Reader.SessionHistory]: the maximum number of events, and the maximum number of
// their bytes in the store. They are needed because an agent determines both numbers, and one page has all
// these events.
const (
	maxHistory      = 1000
	maxHistoryBytes = 2 << 20
)

// SessionHistory implements [reports.Reader].
func (c *Client) SessionHistory(ctx context.Context, id string) (events []askback.Event, more bool, err error) {
	if _, err := c.FindSession(ctx, access.ActFollow, id); err != nil {
		return nil, false, fmt.Errorf("history of %s: %w", id, err)
	}
	f := eventStream{client: c, session: id, follower: c.service.Hub.Follow(id)}
	defer c.service.Hub.Unfollow(id, f.follower)
	if f.pos, err = f.historyStart(ctx); err != nil {
		return nil, false, fmt.Errorf("history of %s: %w", id, err)
	}
	more = f.pos.n > 0
	for full := true; full; {
		var page []askback.Event
		page, full, err = f.batch(ctx)
		if errors.Is(err, errMissing) { // these are the events of a deleted ask
			full, err = f.skipMissing(ctx)
		}
		if err != nil {
			return nil, false, fmt.Errorf("history of %s: %w", id, txn.FromStore(err))
		}
		events = append(events, page...)
	}
	return events, more, nil
}

// skipMissing sets the position before the next event that still exists, and reports whether there is such an
// event.
func (f *eventStream) skipMissing(ctx context.Context) (bool, error) {
	rows, err := f.client.service.Store.History(ctx, f.session, f.pos.seq, 1)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	f.pos = position{rows[0].Seq - 1, rows[0].StreamSeq - 1}
	return true, nil
}

// historyStart returns the position before the events that [reports.Reader.SessionHistory] returns.
func (f *eventStream) historyStart(ctx context.Context) (position, error) {
	start := position{}
	for before, n, size := int64(0), 0, 0; ; {
		rows, err := f.client.service.Store.Recent(ctx, f.session, before, txn.HistoryChunk)
		if err != nil {
			return start, txn.FromStore(err)
		}
		for _, row := range rows {
			if n, size = n+1, size+len(row.Data); n > maxHistory || size > maxHistoryBytes {
				return start, nil
			}
			before, start = row.Seq, position{row.Seq - 1, row.StreamSeq - 1}
		}
		if len(rows) < txn.HistoryChunk {
			return start, nil
		}
	}
}
