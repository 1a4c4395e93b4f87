// Package sqlite implements package store in one SQLite file.
//
// One goroutine writes. It commits the changes of up to 256 waiting callers in one
// transaction, and a Commit returns nil once its change is on the disk. Reads use other
// connections and do not wait for the writer.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/askback/askback/store"
)

const (
	// queueLength is the maximum number of changes that wait for the writer. These are four batches, which
	// take some tens of milliseconds. Further changes fail with store.ErrFull.
	queueLength = 1024
	// readers is the number of connections that read concurrently. More connections than cores would not be
	// faster.
	readers = 4
)

// Options are the options of a store. A nil pointer selects the zero value, which is valid.
type Options struct {
	Log *slog.Logger // nil logs nothing
}

// A Store keeps its data in one database file. Only one process may have the file open at a time. The store
// does not enforce this. Package internal/local/instance does.
type Store struct {
	log    *slog.Logger
	writer *writer
	ended  chan struct{} // closed when the writer has returned
	read   *pool

	damaged *damages

	nodes      sync.Mutex // guards heartbeats
	heartbeats heartbeats

	mu     sync.RWMutex // locked for reading by calls that need an open store
	leave  func()       // mu.RUnlock, made once because each method value is allocated
	closed bool
	queue  chan *request

	once     sync.Once
	closeErr error
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Queue = (*Store)(nil)
	_ store.Index = (*Store)(nil)
)

// Open opens the database at path, creates it if it does not exist, and migrates its schema. It rejects the
// databases of other programs and of newer versions of Askback. Without a migration, the time does not depend
// on the amount of data. A database on a full disk can usually be opened and read. Otherwise the error
// matches store.ErrDiskFull.
func Open(path string, opts *Options) (*Store, error) {
	log := slog.New(slog.DiscardHandler)
	if opts != nil && opts.Log != nil {
		log = opts.Log
	}
	s, err := open(path, log)
	full := isNoRoom(err)
	if full && deleteReserve(path) {
		s, err = open(path, log)
	}
	switch {
	case err != nil && full:
		return nil, fmt.Errorf("open database %s: %w: %v", path, store.ErrDiskFull, err)
	case err != nil:
		return nil, fmt.Errorf("open database %s: %w", path, err)
	case full || !hasRoom(path):
		_ = s.writer.fail("open", errNoRoom) // from now on, Health returns this error
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
	if err := claimFile(path); err != nil {
		return nil, err
	}
	db, err := connectSQL(path)
	if err != nil {
		return nil, err
	}
	// Close the pool after the writer is open. Otherwise the pool would be the last connection to the file,
	// and SQLite would copy the whole write-ahead log.
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrate(context.Background(), path, db, log); err != nil {
		return nil, err
	}
	damaged := &damages{log: log}
	if err := restoreIndex(path, log); err != nil {
		return nil, err
	}
	w, err := newWriter(path, log, damaged)
	if err != nil {
		return nil, err
	}
	read, err := newPool(path)
	if err != nil {
		_ = w.conn.Close() // the caller returns the first error
		return nil, err
	}
	s := &Store{
		log: log, damaged: damaged, writer: w, read: read, heartbeats: heartbeats{},
		queue: make(chan *request, queueLength), ended: make(chan struct{}),
	}
	s.leave = s.mu.RUnlock
	return s, nil
}

// enter returns an error if ctx has ended, or if the store is closed or has failed.
// Otherwise the store stays open until the caller calls leave.
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
	return s.leave, nil
}

// Close commits the changes in the queue and waits for reads. Then it moves the write-ahead log into the
// database file and closes the file. If the store has failed, Close only closes the file. Later reads and
// changes return store.ErrClosed. Further calls of Close return the result of the first call.
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
	err := errors.Join(s.read.close(), s.writer.close())
	if err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

// Stats contains the counts of a store since it was opened.
type Stats struct {
	Batches int64 // batches taken from the queue
	Commits int64 // committed transactions that increased Changes
	Changes int64 // changes committed, and calls of Claim that claimed an effect
	Reruns  int64 // transactions repeated because a change or the move of a boundary failed
}

// Stats returns the counts since the store was opened.
func (s *Store) Stats() Stats {
	c := &s.writer.count
	return Stats{
		Batches: c.batches.Load(), Commits: c.commits.Load(), Changes: c.changes.Load(), Reruns: c.reruns.Load(),
	}
}

type counters struct{ batches, commits, changes, reruns atomic.Int64 }
