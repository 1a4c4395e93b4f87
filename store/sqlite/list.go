package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// List returns the records that q selects, in order of ID, or newest first if q.Newest is set. It omits
// damaged records. If it stops because it has examined q.Scan records, it returns the records that it has
// found and a store.MoreError. In a list for one owner, recent records do not count as examined.
func (s *Store) List(ctx context.Context, q store.Query) (list []store.Record, err error) {
	full := store.AtMost(q.Limit)
	for _, l := range newListings(q, s.writer.boundaries.of(q.Kind)) {
		var found []store.Record
		if q.Scan <= 0 || l.recent || !l.filters() {
			found, err = s.list(ctx, full-len(list), l, noEnd)
		} else {
			found, err = s.scan(ctx, l, full-len(list), q.Scan)
		}
		list = append(list, found...)
		if more := (*store.MoreError)(nil); err != nil && !errors.As(err, &more) {
			return nil, err
		}
		if err != nil || len(list) == full {
			return list, err
		}
	}
	return list, nil
}

// firstWindow is the number of records in the first window of a list, which is enough for most lists. Each
// window is windowGrowth times as long as the previous window.
const (
	firstWindow  = 64
	windowGrowth = 8
)

// scan reads a listing in windows. It ends when it has found full records, has read all records, or has
// examined left records. In the last case the error is a store.MoreError. It reads the end of a window first,
// because records may be deleted between two statements.
func (s *Store) scan(ctx context.Context, l listing, full, left int) (list []store.Record, err error) {
	for window := firstWindow; left > 0; window *= windowGrowth {
		window = min(window, left)
		left -= window
		end, err := s.windowEnd(ctx, l.endSQL(window))
		if err != nil {
			return nil, err
		}
		var found []store.Record
		if skip, err := s.allOpen(ctx, l, end); err != nil {
			return nil, err
		} else if !skip {
			if found, err = s.list(ctx, full-len(list), l, end); err != nil {
				return nil, err
			}
		}
		if list = append(list, found...); len(list) == full || end == noEnd {
			return list, nil
		}
		l.after(end)
	}
	return list, &store.MoreError{After: l.cursor().id}
}

// list returns the undamaged records of a listing up to the id end, at most limit. If a page cannot be read,
// it returns the records on the other pages.
func (s *Store) list(ctx context.Context, limit int, l listing, end string) ([]store.Record, error) {
	q, limit := l.sql(end), store.AtMost(limit)
	found, err := collect(ctx, s, limit, scanRecord, q.text, q.args...)
	if errors.Is(err, errPage) {
		return s.salvageList(ctx, l, limit, end)
	}
	return found.list, err
}

// windowEnd returns the id that a statement of endSQL selects. If the statement selects no id or a page
// cannot be read, it returns noEnd.
func (s *Store) windowEnd(ctx context.Context, q query) (id string, err error) {
	err = s.eachRow(ctx, q.text, func(row *sqlite3.Stmt) (bool, error) {
		id = row.ColumnText(0)
		return false, nil
	}, q.args...)
	if errors.Is(err, errPage) {
		return noEnd, nil
	}
	return id, err
}

// allOpen reports whether a listing of closed records can skip a window because all its records are open.
// Retention uses it to skip many open records.
func (s *Store) allOpen(ctx context.Context, l listing, end string) (all bool, err error) {
	if l.index != "records_id" || l.rest.Open == nil || end == noEnd {
		return false, nil
	}
	q := l.allOpenSQL(end)
	err = s.eachRow(ctx, q.text, func(row *sqlite3.Stmt) (bool, error) {
		all = row.ColumnBool(0)
		return false, nil
	}, q.args...)
	if errors.Is(err, errPage) {
		return false, nil
	}
	return all, err
}

// A query is a statement with its arguments.
type query struct {
	text string
	args []any
}

// A listing is a list of records, or a part of a list, that is read from one index. newListing chooses the
// index that probably has the fewest rows, because SQLite has no statistics for the choice.
type listing struct {
	index  string
	found  conditions  // the conditions of the rows that are read from the index
	rest   store.Query // the filters for the rows that were read from the index
	newest bool
	recent bool // whether the listing has only recent records

	lower, upper bound
}

// A bound limits the ids of a listing. The zero value is no limit.
type bound struct{ op, id string }

// newListings returns the listings that together form a list, in the order of the list. A list for one owner
// has a listing of the records up to the boundary, and a listing of the recent records.
func newListings(q store.Query, boundary string) []listing {
	l := newListing(q)
	if l.index != "records_owner" && l.index != "records_owner_unacked" {
		l.after(q.After)
		return []listing{l}
	}
	of := q.Owner
	q.Owner = ""
	old, recent := l, newListing(q)
	recent.recent, recent.rest.Owner = true, of
	old.upper, recent.lower = bound{"<=", boundary}, bound{">", boundary}
	old.after(q.After)
	recent.after(q.After)
	if q.Newest {
		return []listing{recent, old}
	}
	return []listing{old, recent}
}

// newListing returns the listing of a query. It ignores the After of the query.
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
		l.found.add("open = 1 and recent = 0 and owner = ?%d", q.Owner)
	case open:
		l.index, l.rest.Open = "records_open", nil
		l.found.terms = append(l.found.terms, "open = 1")
	case q.Unacked && q.Owner != "":
		l.index, l.rest.Unacked, l.rest.Owner = "records_owner_unacked", false, ""
		l.found.add("unacked = 1 and recent = 0 and owner = ?%d", q.Owner)
	case q.Unacked:
		l.index, l.rest.Unacked = "records_unacked", false
		l.found.terms = append(l.found.terms, "unacked = 1")
	}
	return l
}

// after limits a listing to the ids after id, in the order of the listing. The id "" limits nothing.
func (l *listing) after(id string) {
	switch {
	case id == "":
	case l.newest && (l.upper.op == "" || id <= l.upper.id):
		l.upper = bound{"<", id}
	case !l.newest && id >= l.lower.id:
		l.lower = bound{">", id}
	}
}

// cursor returns the bound at which a listing begins.
func (l *listing) cursor() bound {
	if l.newest {
		return l.upper
	}
	return l.lower
}

// filters reports whether the listing may omit rows that are read from the index.
func (l listing) filters() bool {
	r := l.rest
	return r.Open != nil || r.Unacked || r.Status != "" || r.Owner != "" || r.Agent != "" || r.For != ""
}

// conditions returns the conditions of all filters.
func (l listing) conditions() conditions {
	c := conditions{slices.Clone(l.found.terms), slices.Clone(l.found.args)}
	c.filter(l.rest)
	return c
}

// filter adds the conditions for the Open, Unacked, Status, Owner, Agent and For of q.
func (c *conditions) filter(q store.Query) {
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
}

// noEnd is the argument of [listing.upTo] that does not limit the listing.
const noEnd = ""

// upTo limits a listing to the ids up to and including end.
func (l *listing) upTo(end string) {
	switch {
	case end == noEnd:
	case l.newest:
		l.lower = bound{">=", end}
	default:
		l.upper = bound{"<=", end}
	}
}

// sql returns the statement of the list up to and including the id end.
func (l listing) sql(end string) query {
	l.upTo(end)
	return l.query(columns, l.conditions(), "")
}

// allOpenSQL returns the statement that compares two numbers: the number of all records, and the number of
// open records. It counts the records up to and including the id end. It reads only the indices.
func (l listing) allOpenSQL(end string) query {
	l.upTo(end)
	c := conditions{slices.Clone(l.found.terms), slices.Clone(l.found.args)}
	l.addBounds(&c)
	ids := strings.Join(c.terms, " and ")
	return query{"select (select count(*) from records indexed by records_id where " + ids + ") = " +
		"(select count(*) from records indexed by records_open where open = 1 and " + ids + ")", c.args}
}

// endSQL returns the statement that selects the id of the nth row that the listing reads from the index. With
// fewer rows, the statement selects no row.
func (l listing) endSQL(n int) query {
	c := conditions{slices.Clone(l.found.terms), slices.Clone(l.found.args)}
	return l.query("id", c, fmt.Sprintf(" limit 1 offset %d", n-1))
}

// addBounds adds the bounds of a listing to its conditions.
func (l listing) addBounds(c *conditions) {
	for _, b := range []bound{l.lower, l.upper} {
		if b.op != "" {
			c.add("id "+b.op+" ?%d", b.id)
		}
	}
}

func (l listing) query(columns string, c conditions, limit string) query {
	l.addBounds(&c)
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
