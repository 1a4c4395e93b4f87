package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/askback/askback/internal/ids"
)

// The statements of the SQLite store for an ask and an answer. A test compares
// the resulting tables with those of the store.
const (
	recordSettings = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=wal_autocheckpoint(1000)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&_pragma=cache_size(-65536)"
	recordColumns = `kind, id, version, stream, key, open, owner, agent, status, names, created, updated, due, state, fixed, unacked, sum, fixed_sum`
	recordInsert  = `insert into records (` + recordColumns + `)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)`
	recordUpdate = `update records indexed by records_id set version = ?3 + 1, open = ?6, due = ?13, unacked = ?16,
		agent = ?8, status = ?9, names = ?10, created = ?11, updated = ?12, state = ?14, fixed = coalesce(?15, fixed), sum = ?17, fixed_sum = coalesce(?18, fixed_sum)
		where kind = ?1 and id = ?2 and version = ?3 and stream = ?4 and key is ?5 and owner = ?7`
	historyColumns = `seq, stream, n, subject, type, at, data, sum`
	historyInsert  = `insert into history (` + historyColumns + `) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
)

// The positions of the columns that are changed in a sample before it is
// written.
const (
	recordID, recordVersion, recordStream, recordFixed = 1, 2, 3, 14
	recordFixedSum                                     = 17
	historySeq, historyStream, historySubject          = 0, 1, 3
)

// record writes as many bytes as Askback with the same statements, but without
// state machine, JSON and engine. The difference from Askback is the cost of
// these.
type record struct {
	*group
	insert, update, event *sql.Stmt
	asked, answered       sample
	last                  atomic.Int64
	seq                   int64 // of the writing goroutine
	waiting               waiters
}

// A sample contains the row and the event that Askback wrote for one step.
type sample struct{ row, line []any }

// openRecord creates a database with Askback, copies one ask and its answer,
// and prepares the statements.
func openRecord(ctx context.Context, path string) (subject, error) {
	r := &record{}
	if err := r.copyFrom(ctx, path); err != nil {
		return nil, fmt.Errorf("read a sample: %w", err)
	}
	var err error
	r.group, err = newGroup(ctx, path+recordSettings, func(c *sql.Conn) error {
		return prepareAll(ctx, c, map[**sql.Stmt]string{
			&r.insert: recordInsert, &r.update: recordUpdate, &r.event: historyInsert,
		})
	})
	return r, err
}

// copyFrom makes one ask and one answer in the database at path, copies their rows to r,
// and deletes them from the database.
func (r *record) copyFrom(ctx context.Context, path string) (err error) {
	p, err := openEngine(ctx, path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	db, err := sql.Open("sqlite", path+recordSettings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	id, err := p.ask(ctx)
	if err != nil {
		return err
	}
	if r.asked, err = sampleOf(ctx, db, id); err != nil {
		return err
	}
	if err := p.answer(ctx, id); err != nil {
		return err
	}
	if r.answered, err = sampleOf(ctx, db, id); err != nil {
		return err
	}
	r.answered.row[recordVersion] = int64(1) // the update is from this version
	r.answered.row[recordFixed] = nil        // fixed columns are not updated
	r.answered.row[recordFixedSum] = nil
	_, err = db.ExecContext(ctx, `delete from records; delete from history`)
	return err
}

// sampleOf reads the row of an ask and its latest event.
func sampleOf(ctx context.Context, db *sql.DB, id string) (s sample, err error) {
	s.row, err = scanRow(db.QueryRowContext(ctx, `select `+recordColumns+` from records where id = ?`, id), 18)
	if err != nil {
		return s, err
	}
	s.line, err = scanRow(db.QueryRowContext(ctx,
		`select `+historyColumns+` from history where subject = ? order by seq desc limit 1`, id), 8)
	return s, err
}

func scanRow(row *sql.Row, columns int) ([]any, error) {
	values, places := make([]any, columns), make([]any, columns)
	for i := range values {
		places[i] = &values[i]
	}
	return values, row.Scan(places...)
}

func (r *record) ask(context.Context) (string, error) {
	id := fmt.Sprintf("%s%026d", ids.Ask, r.last.Add(1))
	r.waiting.expect(id)
	return id, r.step(r.insert, r.asked, id)
}

func (r *record) answer(_ context.Context, id string) error {
	err := r.step(r.update, r.answered, id)
	if err == nil {
		r.waiting.settle(id, nil)
	}
	return err
}

// step writes a row and its event for the ask with the given id in one
// transaction.
func (r *record) step(s *sql.Stmt, as sample, id string) error {
	row, line := slices.Clone(as.row), slices.Clone(as.line)
	stream := ids.Swap(id, ids.Session)
	row[recordID], row[recordStream] = id, stream
	line[historySubject], line[historyStream] = id, stream
	return r.write(func(ctx context.Context) error {
		if err := exactly(ctx, s, row...); err != nil {
			return err
		}
		r.seq++
		line[historySeq] = r.seq
		return exactly(ctx, r.event, line...)
	})
}

func (r *record) wait(ctx context.Context, id string) error { return r.waiting.wait(ctx, id) }
