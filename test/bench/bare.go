package main

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite"
)

// The question and the answer of the bare cycle, of about 250 and 70 bytes.
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
)

// bare is a minimal durable question and answer on SQLite: two statements,
// without history, rules or identity.
type bare struct {
	*group
	insert, update *sql.Stmt
	last           atomic.Int64
	waiting        waiters
}

func openBare(ctx context.Context, path string) (subject, error) {
	b := &bare{}
	var err error
	b.group, err = newGroup(ctx, path+bareSettings, func(c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, bareTables); err != nil {
			return err
		}
		return prepareAll(ctx, c, map[**sql.Stmt]string{&b.insert: bareInsert, &b.update: bareUpdate})
	})
	return b, err
}

func (b *bare) ask(context.Context) (string, error) {
	n := b.last.Add(1)
	id := strconv.FormatInt(n, 10)
	b.waiting.expect(id)
	return id, b.write(func(ctx context.Context) error {
		return exactly(ctx, b.insert, n, "run", bareQuestion)
	})
}

func (b *bare) answer(_ context.Context, id string) error {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	err = b.write(func(ctx context.Context) error {
		return exactly(ctx, b.update, bareAnswer, time.Now().UnixMilli(), n)
	})
	if err == nil {
		b.waiting.settle(id, bareAnswer)
	}
	return err
}

func (b *bare) wait(ctx context.Context, id string) error { return b.waiting.wait(ctx, id) }

// waiters has a channel for each ask, by its id, on which the goroutine that waits gets
// the answer.
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
