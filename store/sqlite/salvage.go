package sqlite

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// A statement ends at the first row on a page that SQLite cannot read. The functions in this file read the
// other rows, so that one damaged page does not hide other records.

const (
	// salvageChunk is the number of keys that one statement reads.
	salvageChunk = 256
	// maxBackwards is the maximum number of keys that are read from the other end of a list.
	maxBackwards = 10_000
)

// A rowKey finds a record without an index.
type rowKey struct {
	rowid, due int64
	id         string
}

// A salvage collects the readable records of a list.
type salvage struct {
	list   []store.Record
	limit  int
	misses bool // whether at least one record or key could not be read
}

func (v *salvage) isFull() bool { return len(v.list) >= v.limit }

// result returns the records. If a record or key could not be read and there is no record, the error is
// errPage.
func (v *salvage) result() ([]store.Record, error) {
	if len(v.list) == 0 && v.misses {
		return nil, errPage
	}
	return v.list, nil
}

// salvageList returns the first readable records of a listing up to the id end, at most limit. It adds the
// unreadable records to s.damaged. If a page of the index cannot be read, salvageList reads the records
// behind the page from the other end of the list.
func (s *Store) salvageList(ctx context.Context, l listing, limit int, end string) ([]store.Record, error) {
	l.upTo(end)
	v := salvage{limit: limit}
	keysOf := func(l listing) ([]rowKey, error) {
		q := l.query("rowid, 0, id", conditions{slices.Clone(l.found.terms), slices.Clone(l.found.args)}, "")
		return s.keys(ctx, &v, q.text, q.args...)
	}
	for whole := false; !whole && !v.isFull(); {
		keys, err := keysOf(l)
		if len(keys) > 0 {
			l.after(keys[len(keys)-1].id)
		}
		if whole = len(keys) < salvageChunk; errors.Is(err, errPage) {
			back := l
			back.newest = !l.newest
			keys, err = withBehind(keys, func(last rowKey) ([]rowKey, error) {
				back.after(last.id)
				return keysOf(back)
			})
		}
		if err == nil {
			err = s.addKeys(ctx, &v, l, keys)
		}
		if err != nil {
			return nil, err
		}
	}
	return v.result()
}

// keys returns the first keys that a statement selects, at most salvageChunk. If the error is errPage, it
// also returns the keys before the page.
func (s *Store) keys(ctx context.Context, v *salvage, text string, args ...any) (keys []rowKey, err error) {
	err = s.eachRow(ctx, text, func(row *sqlite3.Stmt) (bool, error) {
		keys = append(keys, rowKey{row.ColumnInt64(0), row.ColumnInt64(1), row.ColumnText(2)})
		return len(keys) < salvageChunk, nil
	}, args...)
	v.misses = v.misses || errors.Is(err, errPage)
	return keys, err
}

// withBehind returns keys, followed by the keys behind a page that cannot be read, at most about
// maxBackwards. It reads the keys behind the page from the other end of the list. The function next returns
// the keys before last in reverse order. A zero last is the end of the list.
func withBehind(keys []rowKey, next func(last rowKey) ([]rowKey, error)) ([]rowKey, error) {
	var behind []rowKey
	var last rowKey
	for len(behind) < maxBackwards {
		more, err := next(last)
		if err != nil && !errors.Is(err, errPage) {
			return nil, err
		}
		behind = append(behind, more...)
		if err != nil || len(more) < salvageChunk {
			break
		}
		last = more[len(more)-1]
	}
	slices.Reverse(behind)
	return append(keys, behind...), nil
}

// addKeys adds the records with these keys to v, if the listing selects them and they can be read.
func (s *Store) addKeys(ctx context.Context, v *salvage, l listing, keys []rowKey) error {
	for _, k := range keys {
		c := l.conditions()
		c.add("rowid = ?%d", k.rowid)
		found, err := collect(ctx, s, 1, scanRecord, "select "+columns+" from records not indexed"+c.where(false),
			c.args...)
		if errors.Is(err, errPage) {
			v.misses = true
			s.damaged.add(store.DamagedError{Kind: cmp.Or(l.rest.Kind, "record"), ID: k.id})
			continue
		}
		if err != nil {
			return err
		}
		if v.list = append(v.list, found.list...); v.isFull() {
			break
		}
	}
	return nil
}

const (
	selectDueKeys = `select rowid, due, id from records indexed by records_due
		where due is not null and due <= ?1 and (due, id) > (?2, ?3) order by due, id`
	selectLastDueKeys = `select rowid, due, id from records indexed by records_due
		where due is not null and due <= ?1 and (due, id) > (?2, ?3) and (due, id) < (?4, ?5) order by due desc, id desc`
)

// salvageDue returns at most n records that are due and can be read. If no record can be read, the error is
// errPage.
func (s *Store) salvageDue(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	v := salvage{limit: n}
	at := rowKey{due: math.MinInt64}
	for whole := false; !whole && !v.isFull(); {
		keys, err := s.keys(ctx, &v, selectDueKeys, before.UnixMilli(), at.due, at.id)
		if len(keys) > 0 {
			at = keys[len(keys)-1]
		}
		if whole = len(keys) < salvageChunk; errors.Is(err, errPage) {
			keys, err = withBehind(keys, func(last rowKey) ([]rowKey, error) {
				if last.id == "" {
					last.due = math.MaxInt64
				}
				return s.keys(ctx, &v, selectLastDueKeys, before.UnixMilli(), at.due, at.id, last.due, last.id)
			})
		}
		if err == nil {
			err = s.addKeys(ctx, &v, listing{}, keys)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(v.list, func(a, b store.Record) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	return v.result()
}

// A skipper moves a statement that reads events past a page that cannot be read. It skips one event, then
// two, then four and so on, until the statement finds another event.
type skipper struct {
	at   int64 // the statement begins after the event with this Seq; if step is negative, it begins before that event
	step int64 // 1 or -1
	skip int64
}

// past moves past a page. The argument last is the Seq of the last event that the statement has found, or 0
// if it has found no event.
func (k *skipper) past(last int64) {
	if last != 0 {
		k.at, k.skip = last, 0
	}
	k.skip = max(1, 2*k.skip)
	k.at += k.step * k.skip
}

// events returns at most limit events that a statement selects, and skips pages that cannot be read. The last
// argument of the statement is k.at. If no event can be read, the error is errPage.
func (s *Store) events(
	ctx context.Context, limit int, k skipper, text string, args ...any,
) (list []store.Event, err error) {
	for {
		found, err := collect(ctx, s, limit-len(list), scanEvent, text, append(slices.Clone(args), k.at)...)
		list = append(list, found.list...)
		if err == nil || !errors.Is(err, errPage) {
			return list, err
		}
		var last int64
		if len(found.list) > 0 {
			last = found.list[len(found.list)-1].Seq
		}
		if more, err := s.past(ctx, &k, last); !more {
			if len(list) == 0 {
				err = errPage
			}
			return list, err
		}
	}
}

// past moves a skipper past a page. It reports whether there may be events behind the page.
func (s *Store) past(ctx context.Context, k *skipper, last int64) (bool, error) {
	newest, _, err := s.Head(ctx, "")
	if err != nil {
		return false, err
	}
	k.at = min(k.at, newest+1)
	k.past(last)
	return k.step > 0 && k.at < newest || k.step < 0 && k.at > 1, nil
}
