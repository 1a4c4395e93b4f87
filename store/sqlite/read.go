package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/askback/askback/store"
)

const (
	selectID  = `select ` + columns + ` from records indexed by records_id where kind = ?1 and id = ?2`
	selectKey = `select ` + columns + ` from records indexed by records_key where kind = ?1 and key = ?2`
	selectDue = `select ` + columns + ` from records indexed by records_due
		where due is not null and due <= ?1 order by due, id, kind limit ?2`
	selectHistory = `select ` + eventColumns + ` from history where seq > ?1 order by seq`
	selectStream  = `select ` + eventColumns + ` from history indexed by history_stream
		where stream = ?1 and seq > ?2 order by seq`
	selectRecent = `select ` + eventColumns + ` from history indexed by history_stream
		where stream = ?1 and seq < ?2 order by seq desc`
	selectHeadAll = `select coalesce(max(seq), 0), 0 from history`
)

// statements are the prepared statements of the readers.
type statements struct{ id, key, due, history, stream, recent, headAll, head *sql.Stmt }

func (s *statements) prepare(db *sql.DB) (err error) {
	_, err = prepare(db.PrepareContext, map[**sql.Stmt]string{
		&s.id: selectID, &s.key: selectKey, &s.due: selectDue, &s.history: selectHistory, &s.stream: selectStream,
		&s.recent: selectRecent, &s.headAll: selectHeadAll, &s.head: selectHead,
	})
	return err
}

// Read returns a record, or store.ErrNotFound. If its row does not match its checksum or
// cannot be read, the error is a store.DamagedError.
func (s *Store) Read(ctx context.Context, kind, id string) (store.Record, error) {
	r, err := s.find(ctx, s.stmt.id, kind, id)
	if errors.Is(err, errPage) {
		err = store.DamagedError{Kind: kind, ID: id}
	}
	return r, err
}

// ReadKey returns the record of a kind that has this key, or store.ErrNotFound. If its row
// is damaged, the error is a store.DamagedError.
func (s *Store) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	return s.find(ctx, s.stmt.key, kind, key)
}

func (s *Store) find(ctx context.Context, stmt *sql.Stmt, kind, name string) (store.Record, error) {
	found, err := collect(ctx, s, 1, scanRecord, func() (*sql.Rows, error) { return stmt.QueryContext(ctx, kind, name) })
	switch {
	case err != nil:
		return store.Record{}, err
	case len(found.damaged) > 0:
		return store.Record{}, found.damaged[0]
	case len(found.list) == 0:
		return store.Record{}, store.ErrNotFound
	}
	return found.list[0], nil
}

// readError returns the error for a failed read, or nil if err is nil. If ctx has ended,
// that is the error of ctx, because the driver returns a different one. If SQLite cannot
// read a page, it is [errPage]. Any other error gets a prefix.
func readError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if primaryCode(err) == codes.SQLITE_CORRUPT {
		return errPage
	}
	if err != nil {
		return fmt.Errorf("read the database: %v", err)
	}
	return nil
}

// errPage is the error for a page of the file that SQLite cannot read. The ids of the
// records on that page are unknown.
var errPage = store.DamagedError{Kind: "page", ID: "of the database file"}

// List returns the records that q selects, in order of ID. It omits damaged records.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	text, args := listSQL(q)
	found, err := collect(ctx, s, store.AtMost(q.Limit), scanRecord, func() (*sql.Rows, error) { return s.read.QueryContext(ctx, text, args...) })
	return found.list, err
}

// Due returns at most n records whose Due is set and not later than before, in order of
// Due, then ID, then Kind. It omits damaged records.
func (s *Store) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	n = store.AtMost(n)
	for limit := n; ; limit += n { // SQLite sorts records that are due at the same time, but only up to the limit
		found, err := collect(ctx, s, n, scanRecord, func() (*sql.Rows, error) {
			return s.stmt.due.QueryContext(ctx, before.UnixMilli(), limit)
		})
		if err != nil || len(found.list) == n || len(found.list)+len(found.damaged) < limit {
			return found.list, err
		}
	}
}

// History returns events of one stream or, if stream is "", of all, oldest first. They
// begin with the first Seq greater than after. It omits damaged events.
func (s *Store) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	found, err := collect(ctx, s, store.AtMost(limit), scanEvent, func() (*sql.Rows, error) {
		if stream == "" {
			return s.stmt.history.QueryContext(ctx, after)
		}
		return s.stmt.stream.QueryContext(ctx, stream, after)
	})
	return found.list, err
}

// Recent returns events of a stream with a Seq less than before, newest first. If before
// is 0, it begins with the newest event. It omits damaged events.
func (s *Store) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	found, err := collect(ctx, s, store.AtMost(limit), scanEvent, func() (*sql.Rows, error) {
		return s.stmt.recent.QueryContext(ctx, stream, before)
	})
	return found.list, err
}

// Head returns the Seq and the StreamSeq of the newest event of a stream. If stream is "",
// it returns the newest Seq of all streams, and streamSeq is 0.
func (s *Store) Head(ctx context.Context, stream string) (seq, streamSeq int64, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	if stream == "" {
		err = s.stmt.headAll.QueryRowContext(ctx).Scan(&seq, &streamSeq)
		return seq, streamSeq, readError(ctx, err)
	}
	rows, err := s.stmt.head.QueryContext(ctx, stream)
	if err == nil {
		seq, streamSeq, err = head(rows)
	}
	return seq, streamSeq, readError(ctx, err)
}

// head returns the numbers of the newest event of a stream, or 0 if there are no events.
// The rows are the events of the stream, newest first. If the first is damaged, head
// computes its StreamSeq from the first row that is not.
func head(rows *sql.Rows) (seq, streamSeq int64, err error) {
	defer rows.Close()
	for behind := int64(0); rows.Next(); behind++ {
		e, err := scanEvent(rows)
		if err == nil {
			return max(seq, e.Seq), e.StreamSeq + behind, nil
		}
		if behind == 0 {
			seq, streamSeq = e.Seq, e.StreamSeq // used if every event is damaged
		}
	}
	return seq, streamSeq, rows.Err()
}

// A result contains the rows of a query that are not damaged, and errors for the others.
type result[T any] struct {
	list    []T // nil if there are no rows
	damaged []store.DamagedError
}

// collect reads up to n rows of a query that are not damaged. It adds the damaged ones to
// s.damaged.
func collect[T any](ctx context.Context, s *Store, n int, scan func(*sql.Rows) (T, error), query func() (*sql.Rows, error)) (out result[T], err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	defer func() {
		if errors.Is(err, errPage) {
			s.damaged.add(errPage)
		}
	}()
	rows, err := query()
	if err != nil {
		return out, readError(ctx, err)
	}
	defer rows.Close()
	for len(out.list) < n && rows.Next() {
		v, err := scan(rows)
		var damaged store.DamagedError
		switch {
		case errors.As(err, &damaged) && ctx.Err() == nil:
			s.damaged.add(damaged)
			out.damaged = append(out.damaged, damaged)
		case err != nil:
			return result[T]{}, readError(ctx, err)
		default:
			out.list = append(out.list, v)
		}
	}
	if err := rows.Err(); err != nil {
		return result[T]{}, readError(ctx, err)
	}
	return out, nil
}

// listSQL returns the statement for the filters of a query, and its arguments. It names the
// index that probably has the fewest rows, because SQLite has no statistics to choose one.
func listSQL(q store.Query) (text string, args []any) {
	var c conditions
	index := "records_id"
	open := q.Open != nil && *q.Open
	switch {
	case q.Stream != "":
		index = "records_stream"
		c.terms = append(c.terms, "stream <> ''")
	case open && q.Owner != "":
		index = "records_owner"
	case open:
		index = "records_open"
	case q.Unacked && q.Owner != "":
		index = "records_unacked"
	}
	c.add("kind = ?%d", q.Kind)
	if open {
		c.terms = append(c.terms, "open = 1")
	} else if q.Open != nil {
		c.terms = append(c.terms, "open = 0")
	}
	if q.Unacked {
		c.terms = append(c.terms, "unacked = 1")
	}
	c.match("status", q.Status)
	c.match("stream", q.Stream)
	c.match("owner", q.Owner)
	c.match("agent", q.Agent)
	if q.For != "" {
		c.add("(names is null or instr(names, ?%d) > 0)", nameLine(q.For))
	}
	return "select " + columns + " from records indexed by " + index + c.page(q), c.args
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

// page returns the end of the statement: the where clause and the order of q.
func (c *conditions) page(q store.Query) string {
	after, order := "id > ?%d", "asc"
	if q.Newest {
		after, order = "id < ?%d", "desc"
	}
	if q.After != "" {
		c.add(after, q.After)
	}
	return " where " + strings.Join(c.terms, " and ") + " order by id " + order
}
