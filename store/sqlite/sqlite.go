// Package sqlite keeps records in one SQLite file.
//
// One goroutine writes: it commits the changes of all waiting callers together
// and answers them when they are on the disk. Readers stand beside it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/askback/askback/store"
)

const (
	// queueLength is how many changes may wait for the writer: four batches,
	// some tens of milliseconds. Who comes later is told so at once.
	queueLength = 1024
	// readers is how many connections read at the same time. More than the
	// cores gain nothing.
	readers = 4
)

// Options are what may be said about a store beside where it is. The zero
// value is good.
type Options struct {
	Log *slog.Logger // nil logs nothing
}

// A Store is one database file. One process has it open at a time; who sees to
// that is not the store (internal/local does).
type Store struct {
	log    *slog.Logger
	writer *writer
	ended  chan struct{} // the writer has returned
	read   *sql.DB
	stmt   statements

	damaged damages

	mu     sync.RWMutex // held by whoever needs the store open
	closed bool
	queue  chan *request

	once     sync.Once
	closeErr error
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Queue = (*Store)(nil)
)

// Open opens the database at path, makes it if there is none, and brings its
// schema up to date. It refuses other programs' databases and those that a
// newer version of Askback has written. The work does not grow with the data. A
// database can also be opened where the disk is full, and then be read.
func Open(path string, opts *Options) (*Store, error) {
	log := slog.New(slog.DiscardHandler)
	if opts != nil && opts.Log != nil {
		log = opts.Log
	}
	s, err := open(path, log)
	full := isNoRoom(err)
	if full && useReserve(path) {
		s, err = open(path, log)
	}
	switch {
	case err != nil && full:
		return nil, fmt.Errorf("open database %s: %w: %v", path, store.ErrDiskFull, err)
	case err != nil:
		return nil, fmt.Errorf("open database %s: %w", path, err)
	case full || !hasRoom(path):
		_ = s.writer.fail("open", errNoRoom) // Health returns it from now on
	default:
		makeReserve(path)
	}
	go func() {
		defer close(s.ended)
		s.writer.run(s.queue)
	}()
	return s, nil
}

func open(path string, log *slog.Logger) (_ *Store, err error) {
	if err := claim(path); err != nil {
		return nil, err
	}
	write, err := connect(path, false)
	if err != nil {
		return nil, err
	}
	defer closeOn(&err, write)
	if err := migrate(context.Background(), write, log); err != nil {
		return nil, err
	}
	w, err := newWriter(path, write, log)
	if err != nil {
		return nil, err
	}
	read, err := connect(path, true)
	if err != nil {
		return nil, err
	}
	defer closeOn(&err, read)
	s := &Store{log: log, damaged: damages{log: log}, writer: w, read: read, queue: make(chan *request, queueLength), ended: make(chan struct{})}
	return s, s.stmt.prepare(read)
}

func closeOn(err *error, db *sql.DB) {
	if *err != nil {
		_ = db.Close() // the first error is the one to tell
	}
}

// enter lets a caller in who needs the store open; leave is called at the end.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return nil, store.ErrClosed
	}
	if err := s.writer.failure(); err != nil {
		s.mu.RUnlock()
		return nil, err
	}
	return s.mu.RUnlock, nil
}

// Close writes the changes that wait, refuses those that come later with
// store.ErrClosed, lets reads end, moves everything into the one file and
// closes it.
func (s *Store) Close() error {
	s.once.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	s.mu.Lock()
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.ended
	err := errors.Join(s.read.Close(), s.writer.close())
	if err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

// Stats are what a store has done since it was opened.
type Stats struct {
	Batches int64 // taken from the queue
	Commits int64 // transactions made durable
	Changes int64 // changes kept by them
	Reruns  int64 // transactions that were begun again because of one change
}

// Stats returns what the store has done since it was opened.
func (s *Store) Stats() Stats {
	c := &s.writer.count
	return Stats{Batches: c.batches.Load(), Commits: c.commits.Load(), Changes: c.changes.Load(), Reruns: c.reruns.Load()}
}

type counters struct{ batches, commits, changes, reruns atomic.Int64 }
