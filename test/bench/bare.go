package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite"
)

// The question and the answer of the bare cycle. They have about 250 and 70 bytes.
var (
	bareQuestion = []byte(`{"question":"Deploy build 4711 to production?","run":"0123456789abcdef",` +
		`"options":["yes","no","later"],"context":"` + strings.Repeat("x", contextLength) + `"}`)
	bareAnswer = []byte(`{"answer":"yes","by":"ann@example.com","note":"checked the dashboards"}`)
)

const (
	bareSettings = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_pragma=cache_size(-65536)"
	bareTables   = `create table if not exists q(id integer primary key, run text, body blob, answer blob, answered_at integer);
create index if not exists qpend on q(id) where answer is null`
	bareInsert = `insert into q(id,run,body) values(?,?,?)`
	bareUpdate = `update q set answer=?, answered_at=? where id=? and answer is null`

	bareBatch = 512 // the maximum number of writes in one transaction
)

// bare is a minimal durable question and answer on SQLite: two statements, without history, rules or
// identity. It uses database/sql.
type bare struct {
	*group
	db      *bareDatabase
	last    atomic.Int64
	waiting waiters
}

// A bareDatabase is the connection of a bare cycle.
type bareDatabase struct {
	pool                                  *sql.DB
	conn                                  *sql.Conn
	beginning, committing, insert, update *sql.Stmt
}

func openBare(ctx context.Context, path string) (subject, error) {
	pool, err := sql.Open("sqlite", path+bareSettings)
	if err != nil {
		return nil, err
	}
	db := &bareDatabase{pool: pool}
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &bare{group: newGroup(db, bareBatch, false), db: db}, nil
}

func (d *bareDatabase) prepare(ctx context.Context) (err error) {
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return err
	}
	if _, err := d.conn.ExecContext(ctx, bareTables); err != nil {
		return err
	}
	for place, text := range map[**sql.Stmt]string{
		&d.beginning: `begin immediate`, &d.committing: `commit`, &d.insert: bareInsert, &d.update: bareUpdate,
	} {
		if *place, err = d.conn.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (d *bareDatabase) begin() error {
	_, err := d.beginning.Exec()
	return err
}

func (d *bareDatabase) commit() error {
	_, err := d.committing.Exec()
	return err
}

func (d *bareDatabase) rollback() error {
	_, err := d.conn.ExecContext(context.Background(), `rollback`)
	return err
}

func (d *bareDatabase) close() error { return errors.Join(d.conn.Close(), d.pool.Close()) }

// exactly runs a statement that must change exactly one row.
func exactly(s *sql.Stmt, args ...any) error {
	result, err := s.Exec(args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d rows changed, not one: %w", n, err)
	}
	return nil
}

func (b *bare) ask(context.Context) (string, error) {
	n := b.last.Add(1)
	id := strconv.FormatInt(n, 10)
	b.waiting.expect(id)
	return id, b.write(func() error { return exactly(b.db.insert, n, "run", bareQuestion) })
}

func (b *bare) answer(_ context.Context, id string) error {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	err = b.write(func() error { return exactly(b.db.update, bareAnswer, time.Now().UnixMilli(), n) })
	if err == nil {
		b.waiting.settle(id, bareAnswer)
	}
	return err
}

func (b *bare) wait(ctx context.Context, id string) error { return b.waiting.wait(ctx, id) }

// waiters has a channel for each ask, keyed by id. The waiting goroutine receives the answer on the channel.
type waiters struct {
	mu sync.Mutex
	by map[string]chan []byte
}

func (s *waiters) expect(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]chan []byte{}
	}
	s.by[id] = make(chan []byte, 1)
}

func (s *waiters) settle(id string, answer []byte) {
	s.mu.Lock()
	settled := s.by[id]
	s.mu.Unlock()
	settled <- answer
}

func (s *waiters) wait(ctx context.Context, id string) error {
	s.mu.Lock()
	settled := s.by[id]
	s.mu.Unlock()
	select {
	case <-settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, id)
	return nil
}
