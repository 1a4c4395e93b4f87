package main

import (
	"context"
	"database/sql"
	"errors"

	_ "modernc.org/sqlite"
)

// The settings of the database sync each commit, as Askback does.
const (
	settings = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	tables   = `create table checkpoints(id text primary key, state blob); create table answers(id text primary key, answer blob)`
	load     = `select state from checkpoints where id = ?`
	save     = `insert into checkpoints values(?, ?) on conflict(id) do update set state = excluded.state`
	settle   = `insert or ignore into answers values(?, ?)`
)

// The maximum numbers of statements in the queue of a store and in one
// transaction.
const (
	storeQueue = 1024
	storeBatch = 512
)

// A store keeps checkpoints and answers in SQLite. One goroutine commits all
// waiting statements together.
type store struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	queue      chan *statement
}

// A statement is a statement in the queue of a store. After its commit, it has the number of changed rows, or
// the row that was read.
type statement struct {
	query   string
	args    []any
	changed int64
	state   []byte
	done    chan error
}

func openStore(ctx context.Context, path string) (*store, error) {
	db, err := sql.Open("sqlite", path+settings)
	if err != nil {
		return nil, err
	}
	s := &store{statements: map[string]*sql.Stmt{}, queue: make(chan *statement, storeQueue)}
	if s.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if _, err := s.conn.ExecContext(ctx, tables); err != nil {
		return nil, err
	}
	for _, query := range []string{load, save, settle} {
		if s.statements[query], err = s.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	go s.run(ctx)
	return s, nil
}

func (s *store) run(ctx context.Context) {
	for first := range s.queue {
		batch := []*statement{first}
		for len(batch) < storeBatch && len(s.queue) > 0 {
			batch = append(batch, <-s.queue)
		}
		err := s.commit(ctx, batch)
		for _, b := range batch {
			b.done <- err
		}
	}
}

// commit runs a batch in one transaction. The peer exits after an error, so there is no rollback.
func (s *store) commit(ctx context.Context, batch []*statement) error {
	if _, err := s.conn.ExecContext(ctx, `begin immediate`); err != nil {
		return err
	}
	for _, b := range batch {
		if err := s.do(ctx, b); err != nil {
			return err
		}
	}
	_, err := s.conn.ExecContext(ctx, `commit`)
	return err
}

func (s *store) do(ctx context.Context, b *statement) error {
	prepared := s.statements[b.query]
	if b.query == load {
		err := prepared.QueryRowContext(ctx, b.args...).Scan(&b.state)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	}
	result, err := prepared.ExecContext(ctx, b.args...)
	if err != nil {
		return err
	}
	b.changed, err = result.RowsAffected()
	return err
}

// wait queues a statement and returns it after its commit.
func (s *store) wait(query string, args ...any) (*statement, error) {
	b := &statement{query: query, args: args, done: make(chan error, 1)}
	s.queue <- b
	return b, <-b.done
}

// Get returns a checkpoint and whether the checkpoint exists. Eino calls Get.
func (s *store) Get(_ context.Context, id string) ([]byte, bool, error) {
	b, err := s.wait(load, id)
	return b.state, b.state != nil, err
}

// Set stores a checkpoint. Eino calls Set.
func (s *store) Set(_ context.Context, id string, state []byte) error {
	_, err := s.wait(save, id, state)
	return err
}

// settle stores the first answer to a question. It reports whether the question had no answer before.
func (s *store) settle(id string, answer []byte) (bool, error) {
	b, err := s.wait(settle, id, answer)
	return b.changed == 1, err
}
