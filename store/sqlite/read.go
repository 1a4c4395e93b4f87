package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/askback/askback/store"
)

const (
	selectID  = `select ` + columns + ` from records indexed by records_id where kind = ?1 and id = ?2`
	selectKey = `select ` + columns + ` from records indexed by records_key where kind = ?1 and key = ?2`
	selectDue = `select ` + columns + ` from records indexed by records_due
		where due is not null and due <= ?1 order by due, id, kind limit ?2`
	selectHistory = `select seq, stream, n, subject, type, at, data from history where seq > ?1 order by seq limit ?2`
	selectStream  = `select seq, stream, n, subject, type, at, data from history indexed by history_stream
		where stream = ?3 and seq > ?1 order by seq limit ?2`
	selectRecent = `select seq, stream, n, subject, type, at, data from history indexed by history_stream
		where stream = ?3 and seq < ?1 order by seq desc limit ?2`
	selectHeadAll    = `select coalesce(max(seq), 0), 0 from history`
	selectHeadStream = `select seq, n from history indexed by history_stream where stream = ?1 order by seq desc limit 1`
)

// statements are those of the readers, prepared once.
type statements struct{ id, key, due, history, stream, recent, headAll, head *sql.Stmt }

func (s *statements) prepare(db *sql.DB) (err error) {
	for stmt, text := range map[**sql.Stmt]string{
		&s.id: selectID, &s.key: selectKey, &s.due: selectDue, &s.history: selectHistory, &s.stream: selectStream,
		&s.recent:  selectRecent,
		&s.headAll: selectHeadAll, &s.head: selectHeadStream,
	} {
		if *stmt, err = db.Prepare(text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	return nil
}

// Read returns a record, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, kind, id string) (store.Record, error) {
	return s.find(ctx, s.stmt.id, kind, id)
}

// ReadKey returns the record of a kind that holds key, or store.ErrNotFound.
func (s *Store) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	return s.find(ctx, s.stmt.key, kind, key)
}

func (s *Store) find(ctx context.Context, stmt *sql.Stmt, kind, name string) (store.Record, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return store.Record{}, err
	}
	defer leave()
	r, err := scanRecord(stmt.QueryRowContext(ctx, kind, name))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Record{}, store.ErrNotFound
	}
	return r, readError(ctx, err)
}

// readError prefers the caller's own reason to the driver's word for it.
func readError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("read the database: %v", err)
	}
	return nil
}

// List returns the records that q selects.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	text, args := listSQL(q)
	return collect(ctx, s, scanRecord, func() (*sql.Rows, error) { return s.read.QueryContext(ctx, text, args...) })
}

// Due returns at most n records whose Due is set and not after before, in
// order of Due, then ID, then Kind.
func (s *Store) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	return collect(ctx, s, scanRecord, func() (*sql.Rows, error) {
		return s.stmt.due.QueryContext(ctx, before.UnixMilli(), atMost(n))
	})
}

// History returns events with a Seq greater than after, in order of Seq; of
// one stream, or of all when stream is "".
func (s *Store) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	return collect(ctx, s, scanEvent, func() (*sql.Rows, error) {
		if stream == "" {
			return s.stmt.history.QueryContext(ctx, after, atMost(limit))
		}
		return s.stmt.stream.QueryContext(ctx, after, atMost(limit), stream)
	})
}

// Recent returns the newest events of a stream with a Seq less than before, or
// the newest of all of them when before is 0; the newest comes first.
func (s *Store) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return collect(ctx, s, scanEvent, func() (*sql.Rows, error) {
		return s.stmt.recent.QueryContext(ctx, before, atMost(limit), stream)
	})
}

// Head returns the numbers of the newest event of a stream, or of all.
func (s *Store) Head(ctx context.Context, stream string) (seq, n int64, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	stmt, args := s.stmt.headAll, []any{}
	if stream != "" {
		stmt, args = s.stmt.head, []any{stream}
	}
	if err = stmt.QueryRowContext(ctx, args...).Scan(&seq, &n); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return seq, n, readError(ctx, err)
}

// collect reads all rows of a query; none is nil.
func collect[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query func() (*sql.Rows, error)) ([]T, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := query()
	if err != nil {
		return nil, readError(ctx, err)
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, readError(ctx, err)
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		return nil, readError(ctx, err)
	}
	return list, nil
}

// listSQL is one statement for each set of filters, over the index that holds
// least. It names the index: without statistics SQLite would guess.
func listSQL(q store.Query) (text string, args []any) {
	var where []string
	is := func(term string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(term, len(args)))
	}
	index := "records_id"
	open := q.Open != nil && *q.Open
	switch {
	case q.Stream != "":
		index = "records_stream"
		where = append(where, "stream <> ''")
	case open && q.Owner != "":
		index = "records_owner"
	case open:
		index = "records_open"
	case q.Untold && q.Owner != "":
		index = "records_untold"
	}
	is("kind = ?%d", q.Kind)
	if open {
		where = append(where, "open = 1")
	} else if q.Open != nil {
		where = append(where, "open = 0")
	}
	if q.Untold {
		where = append(where, "untold = 1")
	}
	for _, f := range []struct{ column, want string }{
		{"status", q.Status}, {"stream", q.Stream}, {"owner", q.Owner}, {"agent", q.Agent},
	} {
		if f.want != "" {
			is(f.column+" = ?%d", f.want)
		}
	}
	if q.For != "" {
		is("(names is null or instr(names, ?%d) > 0)", nameLine(q.For))
	}
	after, order := "id > ?%d", "asc"
	if q.Newest {
		after, order = "id < ?%d", "desc"
	}
	if q.After != "" {
		is(after, q.After)
	}
	return fmt.Sprintf("select %s from records indexed by %s where %s order by id %s limit %d",
		columns, index, strings.Join(where, " and "), order, atMost(q.Limit)), args
}

func atMost(n int) int {
	if n <= 0 || n > store.MaxList {
		return store.MaxList
	}
	return n
}
