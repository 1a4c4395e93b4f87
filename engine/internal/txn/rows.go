package txn

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// ErrListEnd is returned for a record that is not in a list, if the records after it are not in the list
// either.
var ErrListEnd = errors.New("the list has ended")

// ListPage returns at most limit items of the records that a query selects. It also returns the cursor of the
// next page, or "" after the last page. A limit of 0 means askback.DefaultLimit. The function item returns
// the item of a record; ok is false if the record is not in the list. Records that cannot be read are
// omitted. A page may have fewer items than limit: see MaxScanned, MaxExamined, MaxListTime and ListBytes.
func ListPage[T any](
	ctx context.Context, e *DB, q store.Query, limit int, item func(store.Record) (one T, ok bool, err error),
) (items []T, next string, err error) {
	limit = cmp.Or(limit, askback.DefaultLimit)
	q.Limit, q.Scan = min(limit+1, ListChunk), ExamineChunk
	size, looked, last, first := 0, 0, "", q.After
	began, examined := time.Now(), 0
	for row, err := range e.Rows(ctx, q) {
		if more := (*store.MoreError)(nil); errors.As(err, &more) {
			if examined += q.Scan; examined >= MaxExamined || time.Since(began) >= MaxListTime {
				return items, cursorAfter(more.After, first, last, q.Newest), nil
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if looked == MaxScanned {
			return items, cursorAfter(q.After, first, last, q.Newest), nil
		}
		q.After = row.ID
		looked++
		one, ok, err := item(row)
		if errors.Is(err, ErrListEnd) {
			return items, "", nil
		}
		if err != nil {
			e.LogUnreadable(row, err)
		}
		if err != nil || !ok {
			continue
		}
		if n := len(items); n == limit || n > 0 && size > ListBytes {
			return items, last, nil
		}
		items, last = append(items, one), row.ID
		size += len(row.Fixed) + len(row.State)
	}
	return items, "", nil
}

// cursorAfter returns the cursor for the records after the record with an id. The principal may not be
// allowed to see this record. So the cursor has only the time of the id, if possible. The argument first is
// the cursor of this page. The argument last is the id of the last item, or "" without an item. The result is
// after first and after last.
func cursorAfter(id, first, last string, newest bool) string {
	last = cmp.Or(last, first)
	end := len(id) - 16 // the length of the time of a ULID
	if strings.IndexByte(id, '_') != end-11 {
		return id
	}
	rounded, after := id[:end]+strings.Repeat("0", 16), 1
	if newest {
		rounded, after = id[:end]+strings.Repeat("z", 16), -1
	}
	switch {
	case last == "" || strings.Compare(rounded, last) == after:
		return rounded
	case last != first:
		return last
	}
	return id // all records of the page have the same millisecond
}

// Rows yields the records that a query selects. It reads q.Limit records at a time. It yields each
// [store.MoreError] and continues. After any other error it ends.
func (db *DB) Rows(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			rows, err := db.Store.List(ctx, q)
			more := (*store.MoreError)(nil)
			if err != nil && !errors.As(err, &more) {
				yield(store.Record{}, FromStore(err))
				return
			}
			for _, row := range rows {
				if q.After = row.ID; !yield(row, nil) {
					return
				}
			}
			switch {
			case more != nil:
				if q.After = more.After; !yield(store.Record{}, more) {
					return
				}
			case len(rows) < q.Limit:
				return
			}
		}
	}
}

const (
	// ListChunk is the number of records that a list reads at a time. It is small because an ask may have 2
	// MB.
	ListChunk = 16
	// ListBytes is the size in bytes at which a page ends, even if it has fewer items
	// than its limit.
	ListBytes = 4 << 20
	// ExamineChunk is the number of records that the store examines at a time to find the records selected by
	// a query.
	ExamineChunk = 5000
	// MaxExamined and MaxListTime limit the records that are examined for a page, and the time for a page. A
	// page that reaches a limit ends with a cursor, even if the page has no items. In memory, 200 000 records
	// take about 0.15 s. From a slow disk, they take seconds.
	MaxExamined = 200_000
	// MaxListTime is described with MaxExamined.
	MaxListTime = 250 * time.Millisecond
)

// CheckCursor returns an error unless cursor can be the cursor of a page. With a wrong cursor, a client would
// take an empty page for the last page.
func CheckCursor(prefix, cursor string) error {
	if cursor == "" || ids.Valid(prefix, cursor) {
		return nil
	}
	return ErrCursor
}

// ErrCursor is the error for a cursor that no page of the list has returned.
var ErrCursor error = askback.Invalid{{
	Pointer: "?cursor", Detail: "is not a cursor of this list",
	Fix: "send the next_cursor of a page, or leave it out",
}}

// MaxScanned is the maximum number of records or events that are read for one page. A page that reaches this
// number ends with a cursor, even if it has fewer items than its limit.
const MaxScanned = 2000
