package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	codes "modernc.org/sqlite/lib"
	sqlite3 "zombiezen.com/go/sqlite"

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
	// countOld counts the records in the index by owner, countRecent the recent records.
	countOld = `select count(*) from (select 1 from records indexed by records_owner
		where kind = ?1 and open = 1 and recent = 0 and owner = ?2 and id <= ?3 limit ?4)`
	countRecent = `select count(*) from (select 1 from records indexed by records_open
		where kind = ?1 and open = 1 and owner = ?2 and id > ?3 limit ?4)`
	countOpen    = `select count(*) from records indexed by records_open where kind = ?1 and open = 1`
	countWaiting = `select (select count(*) from effects indexed by effects_due where node is null and dead = 0 and held is null and due >= 0)
		+ (select count(*) from effects indexed by effects_held where held > '')`
	countClaimed  = `select count(*) from effects indexed by effects_node where node > ''`
	countDead     = `select count(*) from effects indexed by effects_dead where dead = 1 and id > ''`
	selectHeadAll = `select coalesce(max(seq), 0), 0 from history`
)

// Read returns a record, or store.ErrNotFound. If its row does not match its checksum or
// cannot be read, the error is a store.DamagedError.
func (s *Store) Read(ctx context.Context, kind, id string) (store.Record, error) {
	r, err := s.find(ctx, selectID, kind, id)
	if errors.Is(err, errPage) {
		err = store.DamagedError{Kind: kind, ID: id}
	}
	return r, err
}

// ReadKey returns the record of a kind that has this key, or store.ErrNotFound. If its row
// is damaged, the error is a store.DamagedError.
func (s *Store) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	return s.find(ctx, selectKey, kind, key)
}

// find returns the record that a statement with a kind and an id or key selects.
func (s *Store) find(ctx context.Context, text, kind, name string) (r store.Record, err error) {
	found := false
	err = s.eachRow(ctx, text, func(row *sqlite3.Stmt) (bool, error) {
		found = true
		r, err = scanRecord(row)
		return false, err
	}, kind, name)
	if damaged := (store.DamagedError{}); errors.As(err, &damaged) && damaged != errPage {
		s.damaged.add(damaged)
	}
	if err == nil && !found {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Record{}, err
	}
	return r, nil
}

// readError returns the error for a failed read. If err is nil, it returns nil. If ctx has ended, it returns
// the error of ctx, because the driver returns a different error. If SQLite cannot read a page, it returns
// [errPage]. Any other error gets a prefix.
func readError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if primaryCode(err) == codes.SQLITE_CORRUPT {
		return errPage
	}
	return fmt.Errorf("read the database: %v", err)
}

// errPage is the error for a page of the file that SQLite cannot read. The ids of the records on the page are
// unknown.
var errPage = store.DamagedError{Kind: "page", ID: "of the database file"}

// CountOpen returns the number of open records of a kind and an owner, at most limit. It also counts damaged
// records.
func (s *Store) CountOpen(ctx context.Context, kind, owner string, limit int) (n int, err error) {
	boundary := s.writer.boundaries.of(kind)
	for _, text := range []string{countOld, countRecent} {
		err := s.eachRow(ctx, text, func(row *sqlite3.Stmt) (bool, error) {
			n += int(row.ColumnInt64(0))
			return false, nil
		}, kind, owner, boundary, max(limit-n, 0))
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Totals counts the open records of a kind, and all effects. It reads only indices, so it also counts damaged
// records and effects.
func (s *Store) Totals(ctx context.Context, kind string) (t store.Totals, err error) {
	for _, count := range []struct {
		n    *int
		text string
		args []any
	}{
		{&t.Open, countOpen, []any{kind}},
		{&t.Waiting, countWaiting, nil},
		{&t.Claimed, countClaimed, nil},
		{&t.Dead, countDead, nil},
	} {
		err := s.eachRow(ctx, count.text, func(row *sqlite3.Stmt) (bool, error) {
			*count.n = int(row.ColumnInt64(0))
			return false, nil
		}, count.args...)
		if err != nil {
			return store.Totals{}, err
		}
	}
	return t, nil
}

// Due returns at most n records whose Due is set and not later than before, in order of
// Due, then ID, then Kind. It omits damaged records.
func (s *Store) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	n = store.AtMost(n)
	for limit := n; ; limit += n { // SQLite sorts records that are due at the same time, but only up to the limit
		found, err := collect(ctx, s, n, scanRecord, selectDue, before.UnixMilli(), limit)
		if errors.Is(err, errPage) {
			return s.salvageDue(ctx, before, n)
		}
		if err != nil || len(found.list) == n || len(found.list)+len(found.damaged) < limit {
			return found.list, err
		}
	}
}

// History returns at most limit events of one stream or, if stream is "", of all, oldest
// first. They begin with the first Seq greater than after. It omits damaged events.
func (s *Store) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	text, args := selectStream, []any{stream}
	if stream == "" {
		text, args = selectHistory, nil
	}
	return s.events(ctx, store.AtMost(limit), skipper{at: after, step: 1}, text, args...)
}

// Recent returns at most limit events of a stream with a Seq less than before, newest
// first. If before is 0, it begins with the newest event. It omits damaged events.
func (s *Store) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return s.events(ctx, store.AtMost(limit), skipper{at: before, step: -1}, selectRecent, stream)
}

// Head returns the Seq and the StreamSeq of the newest event of a stream. If stream is "",
// it returns the newest Seq of all streams, and streamSeq is 0. Without events, both are 0.
func (s *Store) Head(ctx context.Context, stream string) (seq, streamSeq int64, err error) {
	if stream == "" {
		err = s.eachRow(ctx, selectHeadAll, func(row *sqlite3.Stmt) (bool, error) {
			seq = row.ColumnInt64(0)
			return false, nil
		})
		return seq, 0, err
	}
	var h head
	err = s.eachRow(ctx, selectHead, func(row *sqlite3.Stmt) (bool, error) { return h.add(row), nil }, stream)
	return h.seq, h.streamSeq, err
}

// A head computes the numbers of the newest event of a stream. Without events, both numbers are 0. If the
// newest event is damaged, its StreamSeq is computed from the newest undamaged event. If all events are
// damaged, the numbers are read from the row.
type head struct{ seq, streamSeq, rows int64 }

// add adds the next row of selectHead. It reports whether it needs another row.
func (h *head) add(row *sqlite3.Stmt) (more bool) {
	e, err := scanEvent(row)
	switch {
	case err == nil:
		h.seq, h.streamSeq = max(h.seq, e.Seq), e.StreamSeq+h.rows
		return false
	case h.rows == 0:
		h.seq, h.streamSeq = e.Seq, e.StreamSeq // these numbers are used if every event is damaged
	}
	h.rows++
	return true
}

// A result contains the undamaged rows of a query, and the errors for the damaged rows.
type result[T any] struct {
	list    []T // the undamaged rows; nil if there are no rows
	damaged []store.DamagedError
}

// collect reads up to n undamaged rows of a query. It adds the damaged rows to s.damaged. After an error, it
// returns the previous rows.
func collect[T any](
	ctx context.Context, s *Store, n int, scan func(*sqlite3.Stmt) (T, error), text string, args ...any,
) (out result[T], err error) {
	err = s.eachRow(ctx, text, func(row *sqlite3.Stmt) (bool, error) {
		v, err := scan(row)
		var damaged store.DamagedError
		switch {
		case errors.As(err, &damaged):
			s.damaged.add(damaged)
			out.damaged = append(out.damaged, damaged)
		case err != nil:
			return false, err
		default:
			out.list = append(out.list, v)
		}
		return len(out.list) < n, nil
	}, args...)
	return out, err
}

// eachRow runs a statement and calls use with each row, until use returns false or an error. It returns the
// error of use unchanged.
func (s *Store) eachRow(
	ctx context.Context, text string, use func(*sqlite3.Stmt) (more bool, err error), args ...any,
) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := s.read.get(ctx)
	if err != nil {
		return readError(ctx, err)
	}
	defer s.read.put(conn)
	if text != selectID && text != selectKey { // only statements other than the reads of one record may take long
		conn.SetInterrupt(ctx.Done())
		defer conn.SetInterrupt(nil)
	}
	stmt, err := conn.Prepare(text) // the connection keeps the statement
	if err != nil {
		return s.readFailure(ctx, text, err)
	}
	defer stmt.Reset()
	bind(stmt, args...)
	for more := true; more; {
		row, err := stmt.Step()
		if !row || err != nil {
			return s.readFailure(ctx, text, err)
		}
		if more, err = use(stmt); err != nil {
			return err
		}
	}
	return nil
}

// readFailure returns the error for a statement that failed. If err is nil, it returns nil. An errPage is
// added to s.damaged. For a statement that reads the index, the error matches errIndexDamaged if the index
// may be damaged.
func (s *Store) readFailure(ctx context.Context, text string, err error) error {
	if text == selectIndexed || text == selectDocuments {
		if damage := indexError(err); errors.Is(damage, errIndexDamaged) && ctx.Err() == nil {
			return damage
		}
	}
	err = readError(ctx, err)
	if errors.Is(err, errPage) {
		s.damaged.add(errPage)
	}
	return err
}
