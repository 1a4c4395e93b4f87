package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// The maximum numbers of writes in the queue of a group and in one transaction.
const (
	groupQueue = 4096
	groupBatch = 512
)

// A group is a goroutine that commits all waiting writes together, on its own
// connection.
type group struct {
	db      *sql.DB
	conn    *sql.Conn
	begin   *sql.Stmt
	commit  *sql.Stmt
	queue   chan write
	writing sync.WaitGroup
}

// A write is a function in the queue. do is called within a transaction. done receives nil
// after the commit, or the error of the transaction.
type write struct {
	do   func(context.Context) error
	done chan error
}

// newGroup opens a database by its DSN and starts the goroutine. setup prepares
// statements on the writing connection.
func newGroup(ctx context.Context, dsn string, setup func(*sql.Conn) error) (*group, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	g := &group{db: db, queue: make(chan write, groupQueue)}
	if err := g.prepare(ctx, setup); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	g.writing.Go(func() { g.run(ctx) })
	return g, nil
}

func (g *group) prepare(ctx context.Context, setup func(*sql.Conn) error) (err error) {
	if g.conn, err = g.db.Conn(ctx); err != nil {
		return err
	}
	if g.begin, err = g.conn.PrepareContext(ctx, `begin immediate`); err != nil {
		return err
	}
	if g.commit, err = g.conn.PrepareContext(ctx, `commit`); err != nil {
		return err
	}
	return setup(g.conn)
}

// write runs do in a transaction and returns when it is durable.
func (g *group) write(do func(context.Context) error) error {
	w := write{do, make(chan error, 1)}
	g.queue <- w
	return <-w.done
}

func (g *group) run(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	batch := make([]write, 0, groupBatch)
	for first := range g.queue {
		batch = append(batch[:0], first)
		for len(batch) < groupBatch && len(g.queue) > 0 {
			batch = append(batch, <-g.queue)
		}
		err := g.commitBatch(ctx, batch)
		for _, w := range batch {
			w.done <- err
		}
	}
}

// commitBatch commits a batch in one transaction. If one of the writes fails,
// none is committed.
func (g *group) commitBatch(ctx context.Context, batch []write) error {
	if _, err := g.begin.ExecContext(ctx); err != nil {
		return err
	}
	for _, w := range batch {
		if err := w.do(ctx); err != nil {
			_, undo := g.conn.ExecContext(ctx, `rollback`)
			return errors.Join(err, undo)
		}
	}
	_, err := g.commit.ExecContext(ctx)
	return err
}

// close commits the queued writes and closes the database. There must be no
// writes afterwards.
func (g *group) close() error {
	close(g.queue)
	g.writing.Wait()
	return errors.Join(g.conn.Close(), g.db.Close())
}

// exactly runs a statement that must change exactly one row.
func exactly(ctx context.Context, s *sql.Stmt, args ...any) error {
	result, err := s.ExecContext(ctx, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d rows changed, not one: %w", n, err)
	}
	return nil
}

// prepareAll prepares all statements on c, and stores each in its variable.
func prepareAll(ctx context.Context, c *sql.Conn, statements map[**sql.Stmt]string) (err error) {
	for place, text := range statements {
		if *place, err = c.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
