package main

import (
	"errors"
	"runtime"
	"sync"
)

// groupQueue is the maximum number of writes in the queue of a group.
const groupQueue = 4096

// A database is one connection to SQLite with prepared statements.
type database interface {
	begin() error
	commit() error
	rollback() error
	close() error
}

// A group is a goroutine that commits all waiting writes together, on its own
// connection.
type group struct {
	db      database
	limit   int  // the maximum number of writes in one transaction
	yields  bool // the goroutine yields once before it commits, so that more writes can join
	queue   chan write
	writing sync.WaitGroup
}

// A write is a function in the queue. do is called within a transaction. done receives nil
// after the commit, or the error of the transaction.
type write struct {
	do   func() error
	done chan error
}

// newGroup returns a group for db, and starts its goroutine.
func newGroup(db database, limit int, yields bool) *group {
	g := &group{db: db, limit: limit, yields: yields, queue: make(chan write, groupQueue)}
	g.writing.Go(g.run)
	return g
}

// write runs do in a transaction and returns when the transaction is durable.
func (g *group) write(do func() error) error {
	w := write{do, make(chan error, 1)}
	g.queue <- w
	return <-w.done
}

func (g *group) run() {
	batch := make([]write, 0, g.limit)
	for first := range g.queue {
		batch = g.gather(append(batch[:0], first))
		err := g.commitBatch(batch)
		for _, w := range batch {
			w.done <- err
		}
	}
}

// gather returns the batch with the waiting writes added.
func (g *group) gather(batch []write) []write {
	for yielded := !g.yields; len(batch) < g.limit; {
		switch {
		case len(g.queue) > 0:
			batch = append(batch, <-g.queue)
		case yielded:
			return batch
		default:
			yielded = true
			runtime.Gosched()
		}
	}
	return batch
}

// commitBatch commits a batch in one transaction. If a write fails, no write is committed.
func (g *group) commitBatch(batch []write) error {
	if err := g.db.begin(); err != nil {
		return err
	}
	for _, w := range batch {
		if err := w.do(); err != nil {
			return errors.Join(err, g.db.rollback())
		}
	}
	return g.db.commit()
}

// close commits the queued writes and closes the database. No write may follow.
func (g *group) close() error {
	close(g.queue)
	g.writing.Wait()
	return g.db.close()
}
