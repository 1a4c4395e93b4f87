package feed

import (
	"cmp"
	"context"
	"encoding/base64"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// settlingEvents are the types of the events that settle an ask, keyed by the resulting status.
var settlingEvents = map[askback.Status]askback.EventType{
	askback.Answered:  askback.EventQuestionAnswered,
	askback.Declined:  askback.EventQuestionDeclined,
	askback.Cancelled: askback.EventQuestionCancelled,
	askback.Expired:   askback.EventQuestionExpired,
}

// bySettling reports whether a list is sorted by the time at which its asks were settled.
func bySettling(q askback.Query) bool {
	return !q.Unacked && (q.Status == askback.SettledStatus || settlingEvents[q.Status] != "")
}

// settled returns a page of settled asks, sorted by outcome, latest first. It reads the history backwards,
// because an index by this time would cost each ask a write.
func (c *Client) settled(ctx context.Context, q askback.Query) (page askback.Page, err error) {
	from, err := c.settledQuery(ctx, q)
	if err != nil {
		return page, err
	}
	limit, size := cmp.Or(q.Limit, askback.DefaultLimit), 0
	for begun, examined := time.Now(), 0; ; {
		list, before, err := c.service.Store.Subjects(ctx, from)
		if err != nil {
			return askback.Page{}, txn.FromStore(err)
		}
		for _, row := range list {
			a, ok := c.settledAsk(q, row.Record)
			if !ok {
				continue
			}
			if n := len(page.Items); n == limit || n > 0 && size > txn.ListBytes {
				page.NextCursor = settledCursor{seq: row.Seq + 1}.String()
				return page, nil
			}
			page.Items = append(page.Items, a)
			size += len(row.Fixed) + len(row.State)
		}
		if before == 0 {
			return page, nil
		}
		if examined += len(list); len(list) < txn.ListChunk {
			examined += from.Scan
		}
		if from.Before = before; examined >= txn.MaxExamined || time.Since(begun) >= txn.MaxListTime {
			page.NextCursor = settledCursor{seq: before}.String()
			return page, nil
		}
	}
}

// settledAsk returns the ask of a record that Subjects has selected. It reports false if the principal may
// not list the ask, or if the ask does not match the other filters. It also reports false if the ask cannot
// be read.
func (c *Client) settledAsk(q askback.Query, row store.Record) (a askback.Ask, ok bool) {
	state, err := txn.DecodeAsk(row)
	if err != nil {
		c.service.LogUnreadable(row, err)
		return a, false
	}
	a = state.Ask
	return a, a.Settled() && c.AuthorizeAsk(access.ActList, &state) == nil && matchesQuery(q, a)
}

// settledQuery returns the part of a query of settled asks that the store evaluates.
func (c *Client) settledQuery(ctx context.Context, q askback.Query) (from store.SubjectQuery, err error) {
	from.Query = store.Query{
		Kind: txn.KindAsk, Stream: q.SessionID, Agent: q.Agent, Open: new(false), Limit: txn.ListChunk,
		Scan: txn.ExamineChunk,
	}
	if c.Who.Kind == askback.Agent {
		from.Owner = c.Who.Name
	} else {
		from.For = c.Who.Name
	}
	for status, event := range settlingEvents {
		if q.Status == status || q.Status == askback.SettledStatus {
			from.Types = append(from.Types, string(event))
		}
	}
	sort.Strings(from.Types)
	if !q.Since.IsZero() {
		if from.Since, err = c.service.seqAt(ctx, q.Since.Add(-clockStep)); err != nil {
			return from, err
		}
	}
	switch {
	case q.Cursor != "":
		cursor, err := parseSettledCursor(q.Cursor)
		from.Before = cursor.seq
		return from, err
	case !q.Until.IsZero():
		from.Before, err = c.service.seqAt(ctx, q.Until.Add(clockStep))
	}
	return from, err
}

// clockStep is the maximum disorder of the times of events. The times are not always in order, because the
// clock of a machine may be set back.
const clockStep = time.Hour

// seqAt returns the Seq of the first event that is not before a time. If all events are before the time, it
// returns the next Seq. It makes a binary search in the history.
func (e *Service) seqAt(ctx context.Context, at time.Time) (int64, error) {
	head, _, err := e.Store.Head(ctx, "")
	if err != nil {
		return 0, txn.FromStore(err)
	}
	n := sort.Search(int(head), func(i int) bool {
		if err != nil {
			return true
		}
		var next []store.Event
		next, err = e.Store.History(ctx, "", int64(i), 1)
		return err != nil || len(next) == 0 || !next[0].At.Before(at)
	})
	return int64(n) + 1, txn.FromStore(err)
}

// A settledCursor is the position of a page of settled asks. In a search it has the last ask of the previous
// page and the time of its outcome. In other lists it has the Seq of an event.
type settledCursor struct {
	seq int64
	at  time.Time
	ask string
}

// String encodes a cursor as an opaque string.
func (c settledCursor) String() string {
	s := "s" + strconv.FormatInt(c.seq, 36)
	if c.ask != "" {
		s = "a" + strconv.FormatInt(c.at.UnixMilli(), 36) + "." + c.ask
	}
	return base64.RawURLEncoding.EncodeToString([]byte(s))
}

// parseSettledCursor decodes a cursor. If the cursor is not valid, the error is an [askback.Invalid].
func parseSettledCursor(text string) (c settledCursor, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	s := string(raw)
	if number, ok := strings.CutPrefix(s, "s"); ok && err == nil {
		if c.seq, err = strconv.ParseInt(number, 36, 64); err == nil && c.seq > 0 {
			return c, nil
		}
	}
	if rest, ok := strings.CutPrefix(s, "a"); ok && err == nil {
		number, id, _ := strings.Cut(rest, ".")
		at, err := strconv.ParseInt(number, 36, 64)
		if err == nil && at > 0 && ids.Valid(ids.Ask, id) {
			return settledCursor{at: time.UnixMilli(at).UTC(), ask: id}, nil
		}
	}
	return settledCursor{}, txn.ErrCursor
}
