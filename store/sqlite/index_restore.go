package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	codes "modernc.org/sqlite/lib"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// errIndexDamaged means that the search index cannot be read or written. The writer then creates an empty
// index, which can be filled again. Nothing else is affected.
var errIndexDamaged = errors.New("the index for searches is damaged")

// indexError returns the error for a statement that reads or writes only the index. An error that a damaged
// table can cause gets errIndexDamaged. Conflicts, a full disk and other errors are returned unchanged.
func indexError(err error) error {
	if err == nil || errors.Is(err, store.ErrConflict) {
		return err
	}
	switch primaryCode(err) {
	case codes.SQLITE_OK, // an error without a result code, such as the error for a missing table
		codes.SQLITE_CORRUPT, codes.SQLITE_CONSTRAINT, codes.SQLITE_MISMATCH:
		return fmt.Errorf("%w: %w", errIndexDamaged, err)
	}
	return err
}

// isIndexDamage reports whether err can only come from a damaged index. SQLite has an error code for damaged
// data of virtual tables, and the index is the only virtual table.
func isIndexDamage(err error) bool { return codeOf(err) == codes.SQLITE_CORRUPT_VTAB }

// readIndex calls read. If read returns errIndexDamaged, readIndex lets the writer create the index again,
// unless another call has already done so. Then readIndex calls read a second time.
func (s *Store) readIndex(ctx context.Context, read func() error) error {
	before := s.writer.restored.Load()
	err := read()
	if !errors.Is(err, errIndexDamaged) {
		return err
	}
	if _, err := s.do(ctx, &request{restore: &restoration{before, err}, done: make(chan struct{})}); err != nil {
		return err
	}
	return read()
}

// A restoration is a request to create the index again because of the error err. The field before is the
// value of writer.restored when the caller read the index. If that counter has changed, the index was already
// created again, and the request is not needed.
type restoration struct {
	before int64
	err    error
}

// restore returns an error if the index is still damaged. The writer then creates the index again.
func (w *writer) restore(r *restoration) error {
	if w.restored.Load() != r.before {
		return nil // the index was created again after the caller read it
	}
	if isIndexDamage(r.err) {
		return r.err
	}
	// a new connection is needed, because w.conn may have the settings of the index in memory
	conn, err := connect(w.path, true)
	if err != nil {
		return err
	}
	return errors.Join(checkIndex(conn), conn.Close())
}

// restoreIndex replaces the damaged index by an empty index, and logs the error because as the reason. No
// transaction may be open.
func (w *writer) restoreIndex(because error) error {
	if err := createIndex(w.conn); err != nil {
		return w.fail("create the index for searches again", err)
	}
	w.restored.Add(1)
	w.log.Warn("the index for searches was damaged; it is filled again, and nothing else is affected", "err", because)
	return nil
}

// restoreIndex creates an empty index if the index is damaged or has lost one of its tables.
func restoreIndex(path string, log *slog.Logger) (err error) {
	conn, err := connect(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	damage := checkIndex(conn)
	if !errors.Is(damage, errIndexDamaged) {
		return damage
	}
	if err := createIndex(conn); err != nil {
		return err
	}
	log.Warn("the index for searches was missing or damaged; it is filled again, and nothing else is affected", "err",
		damage)
	return nil
}

// firstIndex is the first version of the schema with an index. lastIndex is the last version that changed the
// contents of documents. An index of a version from firstIndex until before lastIndex is created again.
const firstIndex, lastIndex = 8, 10

// emptyIndex creates an empty index, even if the index is not damaged.
func emptyIndex(path string) (err error) {
	conn, err := connect(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return createIndex(conn)
}

// The tables of the index. FTS5 makes the tables in the second line.
const (
	countTables = `select count(*) from sqlite_schema where type = 'table' and name in ('search', 'search_ids', 'search_position',
		'search_config', 'search_data', 'search_docsize', 'search_idx')`
	indexTables   = 7
	countPosition = `select count(*) from search_position`
	// No document contains this word. To find no document, FTS5 reads its settings and the description of its
	// structure.
	countNothing = `select count(*) from search where search match '"-"'`
)

// checkIndex returns an error that matches errIndexDamaged if the index is damaged in one of two ways. A
// table of the index is missing, or data that each search reads first is damaged. The time of the check does
// not depend on the size of the index.
func checkIndex(conn *sqlite3.Conn) error {
	for _, check := range []struct {
		query string
		want  int64
	}{{countTables, indexTables}, {countPosition, 1}, {countNothing, 0}} {
		n, err := count(conn, check.query)
		if err != nil {
			return indexError(err)
		}
		if n != check.want {
			return fmt.Errorf("%w: %s: got %d, want %d", errIndexDamaged, check.query, n, check.want)
		}
	}
	return nil
}

func count(conn *sqlite3.Conn, query string) (n int64, err error) {
	row, _, err := conn.PrepareTransient(query)
	if err != nil {
		return 0, err
	}
	_, err = row.Step()
	n = row.ColumnInt64(0)
	closeErr := row.Finalize()
	if err == nil {
		err = closeErr
	}
	return n, err
}

// dropIndex deletes the tables of the index. SQLite deletes a virtual table only if its own
// tables and its version can be read.
var dropIndex = []string{
	`create table if not exists search_config (k primary key, v) without rowid`,
	`create table if not exists search_data (id integer primary key, block blob)`,
	`create table if not exists search_docsize (id integer primary key, sz blob, origin integer)`,
	`create table if not exists search_idx (segid, term, pgno, primary key (segid, term)) without rowid`,
	`delete from search_config`,
	`insert into search_config (k, v) values ('version', 4)`,
	`drop table if exists search`,
	`drop table if exists search_config`,
	`drop table if exists search_data`,
	`drop table if exists search_docsize`,
	`drop table if exists search_idx`,
	`drop table if exists search_ids`,
	`drop table if exists search_position`,
}

// createIndex deletes the index and creates an empty index, in one transaction.
func createIndex(conn *sqlite3.Conn) error {
	text, err := migrations.ReadFile("migrations/00008_search.sql")
	if err != nil {
		return err
	}
	script := append([]string{"begin immediate"}, dropIndex...)
	for _, statement := range strings.SplitAfter(string(text), ";\n") {
		if strings.Contains(statement, ";") {
			script = append(script, statement)
		}
	}
	for _, statement := range append(script, "commit") {
		if err := execute(conn, statement); err != nil {
			_ = execute(conn, "rollback") // the caller returns the first error
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
