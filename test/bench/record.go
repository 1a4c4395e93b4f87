package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"zombiezen.com/go/sqlite"

	"github.com/askback/askback/internal/ids"
)

// The statements of the SQLite store for an ask and an answer, and the size of its
// transactions. Tests compare them with the source of the store.
const (
	recordColumns = `kind, id, version, stream, key, open, owner, agent, status, names, created, updated, due, state, fixed, unacked, recent, sum, fixed_sum`
	recordInsert  = `insert into records (` + recordColumns + `)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)`
	recordUpdate = `update records indexed by records_id set version = ?3, open = ?6, due = ?13, unacked = ?16, recent = ?17, ` +
		`agent = ?8, status = ?9, names = ?10, created = ?11, updated = ?12, state = ?14,
		fixed = coalesce(?15, fixed), sum = ?18, fixed_sum = coalesce(?19, fixed_sum)
		where kind = ?1 and id = ?2 and version = ?3 - 1 and stream = ?4 and key is ?5 and owner = ?7`
	historyColumns = `seq, stream, n, subject, type, at, data, sum`
	historyInsert  = `insert into history (` + historyColumns + `) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`

	recordBatch = 256
)

// recordSettings are the pragmas of the connection that writes in the SQLite store. A test
// compares them with the source of the store.
var recordSettings = []string{
	"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)",
	"wal_autocheckpoint(1000)", "foreign_keys(1)", "trusted_schema(0)", "cache_size(-16384)",
}

// The positions of the columns that differ between asks, or between the row in the database
// and the parameters of the update.
const (
	recordID, recordStream, recordKey         = 1, 3, 4
	recordFixed, recordFixedSum               = 14, 18
	historySeq, historyStream, historySubject = 0, 1, 3
)

// ulid is the length of an id without its prefix.
const ulid = 26

// A record writes as many bytes as Askback with the same statements, but without state machine, JSON and
// engine. The difference from Askback is the cost of these parts.
type record struct {
	*group
	db              *recordDatabase
	asked, answered sample
	last            atomic.Int64
	seq             int64 // used only by the writing goroutine
	waiting         waiters
}

// A sample contains the parameters with which Askback wrote a row and its event in one step. Each parameter
// is a string, an int64, a []byte or nil.
type sample struct{ row, event []any }

// A recordDatabase is the connection of a record. It uses the same driver as the SQLite store.
type recordDatabase struct {
	conn                                                   *sqlite.Conn
	beginning, committing, undoing, insert, update, append *sqlite.Stmt
}

// recordOf returns a function that opens a record. The function creates a database with Askback as open opens
// it, copies one ask and its answer, and prepares the statements.
func recordOf(open func(context.Context, string) (subject, error)) func(context.Context, string) (subject, error) {
	return func(ctx context.Context, path string) (subject, error) {
		r := &record{}
		if err := r.copyFrom(ctx, path, open); err != nil {
			return nil, fmt.Errorf("read a sample: %w", err)
		}
		db, err := openRecordDatabase(path)
		if err != nil {
			return nil, err
		}
		r.db, r.group = db, newGroup(db, recordBatch, true)
		return r, nil
	}
}

// copyFrom makes one ask and one answer in the database at path, copies their rows to the record, and deletes
// them from the database.
func (r *record) copyFrom(
	ctx context.Context, path string, open func(context.Context, string) (subject, error),
) (err error) {
	p, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	conn, err := connectRecord(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	id, err := p.ask(ctx)
	if err != nil {
		return err
	}
	if r.asked, err = sampleOf(conn, id); err != nil {
		return err
	}
	if err := p.answer(ctx, id); err != nil {
		return err
	}
	if r.answered, err = sampleOf(conn, id); err != nil {
		return err
	}
	r.answered.row[recordFixed], r.answered.row[recordFixedSum] = nil, nil // an update does not change these columns
	return errors.Join(runStatement(conn, `delete from records where kind = 'ask'`),
		runStatement(conn, `delete from history`))
}

// sampleOf returns the row of an ask and its latest event.
func sampleOf(conn *sqlite.Conn, id string) (s sample, err error) {
	if s.row, err = readRow(conn, `select `+recordColumns+` from records where id = ?`, id); err != nil {
		return s, err
	}
	s.event, err = readRow(conn, `select `+historyColumns+` from history where subject = ? order by seq desc limit 1`,
		id)
	return s, err
}

// readRow returns the values of the first row of a query.
func readRow(conn *sqlite.Conn, query, id string) (values []any, err error) {
	s, _, err := conn.PrepareTransient(query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Finalize()) }()
	s.BindText(1, id)
	if row, err := s.Step(); err != nil || !row {
		return nil, errors.Join(err, fmt.Errorf("no row of %s: %s", id, query))
	}
	for col := range s.ColumnCount() {
		switch s.ColumnType(col) {
		case sqlite.TypeText:
			values = append(values, s.ColumnText(col))
		case sqlite.TypeInteger:
			values = append(values, s.ColumnInt64(col))
		case sqlite.TypeBlob:
			b := make([]byte, s.ColumnLen(col))
			s.ColumnBytes(col, b)
			values = append(values, b)
		default:
			values = append(values, nil)
		}
	}
	return values, nil
}

func connectRecord(path string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	for _, setting := range recordSettings {
		if err := runStatement(conn, `pragma `+setting); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

func openRecordDatabase(path string) (*recordDatabase, error) {
	conn, err := connectRecord(path)
	if err != nil {
		return nil, err
	}
	d := &recordDatabase{conn: conn}
	for place, text := range map[**sqlite.Stmt]string{
		&d.beginning: `begin immediate`, &d.committing: `commit`, &d.undoing: `rollback`,
		&d.insert: recordInsert, &d.update: recordUpdate, &d.append: historyInsert,
	} {
		if *place, err = conn.Prepare(text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return d, nil
}

func (d *recordDatabase) begin() error    { return finish(d.beginning) }
func (d *recordDatabase) commit() error   { return finish(d.committing) }
func (d *recordDatabase) rollback() error { return finish(d.undoing) }
func (d *recordDatabase) close() error    { return d.conn.Close() } // this also closes the statements

// one runs a statement that must change exactly one row.
func (d *recordDatabase) one(s *sqlite.Stmt) error {
	err := finish(s)
	if n := d.conn.Changes(); err == nil && n != 1 {
		err = fmt.Errorf("%d rows changed, not one", n)
	}
	return err
}

// runStatement prepares a statement and runs it to its end.
func runStatement(conn *sqlite.Conn, text string) error {
	s, _, err := conn.PrepareTransient(text)
	if err != nil {
		return err
	}
	err = finish(s)
	if closeErr := s.Finalize(); err == nil {
		err = closeErr // after an error of finish, Finalize returns the same error
	}
	return err
}

// finish runs a statement to its end, and clears its parameters, as the store does.
func finish(s *sqlite.Stmt) error {
	row, err := s.Step()
	for row && err == nil {
		row, err = s.Step()
	}
	if err != nil {
		_ = s.ClearBindings() // Step has reset the statement
		return err
	}
	return errors.Join(s.Reset(), s.ClearBindings())
}

// bind sets the parameters of a statement to values.
func bind(s *sqlite.Stmt, values []any) {
	for i, value := range values {
		switch v := value.(type) {
		case string:
			s.BindText(i+1, v)
		case int64:
			s.BindInt64(i+1, v)
		case []byte:
			s.BindBytes(i+1, v)
		default:
			s.BindNull(i + 1)
		}
	}
}

func (r *record) ask(context.Context) (string, error) {
	id := fmt.Sprintf("%s%0*d", ids.Ask, ulid, r.last.Add(1))
	r.waiting.expect(id)
	return id, r.step(r.db.insert, r.asked, id)
}

func (r *record) answer(_ context.Context, id string) error {
	err := r.step(r.db.update, r.answered, id)
	if err == nil {
		r.waiting.settle(id, nil)
	}
	return err
}

// step writes a row and its event for the ask with the given id in one
// transaction. A key of the sample ends with the digits of the id.
func (r *record) step(s *sqlite.Stmt, as sample, id string) error {
	stream, key := ids.Swap(id, ids.Session), ""
	if sampled, ok := as.row[recordKey].(string); ok {
		key = sampled[:len(sampled)-ulid] + id[len(id)-ulid:]
	}
	return r.write(func() error {
		bind(s, as.row)
		s.BindText(recordID+1, id)
		s.BindText(recordStream+1, stream)
		if key != "" {
			s.BindText(recordKey+1, key)
		}
		if err := r.db.one(s); err != nil {
			return err
		}
		r.seq++
		bind(r.db.append, as.event)
		r.db.append.BindInt64(historySeq+1, r.seq)
		r.db.append.BindText(historyStream+1, stream)
		r.db.append.BindText(historySubject+1, id)
		return r.db.one(r.db.append)
	})
}

func (r *record) wait(ctx context.Context, id string) error { return r.waiting.wait(ctx, id) }
