package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// List returns the records that q selects, in order of ID, or newest first if q.Newest is
// set. It omits damaged records. If it stops because it has examined q.Scan records, it
// returns those found and a store.MoreError.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	if l := newListing(q); q.Scan <= 0 || !l.filters() {
		return s.list(ctx, q.Limit, l.sql(noEnd))
	}
	return s.scan(ctx, q)
}

// The number of records in the first window of a list, which is enough for most lists. Each
// window is windowGrowth times as long as the one before.
const (
	firstWindow  = 64
	windowGrowth = 8
)

// scan reads a list in windows, until it is full or complete, or q.Scan records were
// examined. It reads the end of a window first, because records may be deleted between two
// statements.
func (s *Store) scan(ctx context.Context, q store.Query) (list []store.Record, err error) {
	full, left := store.AtMost(q.Limit), q.Scan
	for window := firstWindow; left > 0; window *= windowGrowth {
		window = min(window, left)
		left -= window
		l := newListing(q)
		end, err := s.windowEnd(ctx, l.endSQL(window))
		if err != nil {
			return nil, err
		}
		found, err := s.list(ctx, full-len(list), l.sql(end))
		if err != nil {
			return nil, err
		}
		if list = append(list, found...); len(list) == full || end == noEnd {
			return list, nil
		}
		q.After = end
	}
	return list, &store.MoreError{After: q.After}
}

// list returns the first records of a statement that are not damaged, at most limit.
func (s *Store) list(ctx context.Context, limit int, q query) ([]store.Record, error) {
	found, err := collect(ctx, s, store.AtMost(limit), scanRecord, q.text, q.args...)
	return found.list, err
}

// windowEnd returns the id that a statement of endSQL selects, or noEnd.
func (s *Store) windowEnd(ctx context.Context, q query) (id string, err error) {
	err = s.eachRow(ctx, q.text, func(row *sqlite3.Stmt) (bool, error) {
		id = row.ColumnText(0)
		return false, nil
	}, q.args...)
	return id, err
}

// A query is a statement with its arguments.
type query struct {
	text string
	args []any
}

// A listing is a list with the index that finds its records. It names the index that
// probably has the fewest rows, because SQLite has no statistics to choose one.
type listing struct {
	index  string
	found  conditions  // met by the rows that are read from the index
	rest   store.Query // has the filters that are compared with each of these rows
	newest bool
}

func newListing(q store.Query) listing {
	l := listing{index: "records_id", rest: q, newest: q.Newest}
	l.found.add("kind = ?%d", q.Kind)
	open := q.Open != nil && *q.Open
	switch {
	case q.Stream != "":
		l.index, l.rest.Stream = "records_stream", ""
		l.found.add("stream <> '' and stream = ?%d", q.Stream)
	case open && q.Owner != "":
		l.index, l.rest.Open, l.rest.Owner = "records_owner", nil, ""
		l.found.add("open = 1 and owner = ?%d", q.Owner)
	case open:
		l.index, l.rest.Open = "records_open", nil
		l.found.terms = append(l.found.terms, "open = 1")
	case q.Unacked && q.Owner != "":
		l.index, l.rest.Unacked, l.rest.Owner = "records_unacked", false, ""
		l.found.add("unacked = 1 and owner = ?%d", q.Owner)
	}
	l.found.after(q)
	return l
}

// filters reports whether the list may omit rows that are read from the index.
func (l listing) filters() bool {
	r := l.rest
	return r.Open != nil || r.Unacked || r.Status != "" || r.Owner != "" || r.Agent != "" || r.For != ""
}

// conditions returns the conditions of all filters.
func (l listing) conditions() conditions {
	c := conditions{slices.Clone(l.found.terms), slices.Clone(l.found.args)}
	q := l.rest
	if q.Open != nil {
		c.terms = append(c.terms, "open = "+strconv.Itoa(int(bit(*q.Open))))
	}
	if q.Unacked {
		c.terms = append(c.terms, "unacked = 1")
	}
	c.match("status", q.Status)
	c.match("owner", q.Owner)
	c.match("agent", q.Agent)
	if q.For != "" {
		c.add("(names is null or instr(names, ?%d) > 0)", nameLine(q.For))
	}
	return c
}

// noEnd as an argument of sql means that every row is examined.
const noEnd = ""

// sql returns the statement of the list up to and including the id end.
func (l listing) sql(end string) query {
	c := l.conditions()
	switch {
	case end == noEnd:
	case l.newest:
		c.add("id >= ?%d", end)
	default:
		c.add("id <= ?%d", end)
	}
	return l.query(columns, c, "")
}

// endSQL returns the statement that selects the id of the nth row that the list reads from
// the index, if there are that many.
func (l listing) endSQL(n int) query {
	return l.query("id", l.found, fmt.Sprintf(" limit 1 offset %d", n-1))
}

func (l listing) query(columns string, c conditions, limit string) query {
	return query{"select " + columns + " from records indexed by " + l.index + c.where(l.newest) + limit, c.args}
}

// conditions contains the terms of a where clause and the arguments for their parameters.
type conditions struct {
	terms []string
	args  []any
}

// add adds a condition with one parameter. The verb %d in term becomes the number of the
// parameter.
func (c *conditions) add(term string, arg any) {
	c.args = append(c.args, arg)
	c.terms = append(c.terms, fmt.Sprintf(term, len(c.args)))
}

// match adds the condition that a column has a value, unless the value is "".
func (c *conditions) match(column, value string) {
	if value != "" {
		c.add(column+" = ?%d", value)
	}
}

// after adds the condition that a row is after q.After, in the order of q.
func (c *conditions) after(q store.Query) {
	switch {
	case q.After == "":
	case q.Newest:
		c.add("id < ?%d", q.After)
	default:
		c.add("id > ?%d", q.After)
	}
}

// where returns the end of a statement: the where clause and the order by id.
func (c *conditions) where(newest bool) string {
	order := " order by id asc"
	if newest {
		order = " order by id desc"
	}
	return " where " + strings.Join(c.terms, " and ") + order
}
