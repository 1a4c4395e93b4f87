package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/askback/askback/store"
)

const (
	// A batch ends at so many changes or bytes: enough to share one fsync
	// well, few enough that its first caller does not wait for its last.
	batchLength = 256
	batchBytes  = 4 << 20
)

// errSpoiled says that something of a change was written before it failed,
// so the transaction cannot go on without a savepoint.
var errSpoiled = errors.New("a change of the batch failed half-way")

// A writer owns the one connection that writes. Nothing but run uses it.
type writer struct {
	log    *slog.Logger
	path   string
	db     *sql.DB
	conn   *sql.Conn
	stmt   writes
	count  counters
	broken atomic.Pointer[error]
	ended  chan struct{}         // closed when broken is set
	full   atomic.Pointer[error] // changes find no room
	looked atomic.Int64          // when that was looked at last, in nanoseconds

	seq   int64            // of the newest event, or unknown
	heads map[string]int64 // StreamSeq of the newest event of some streams
}

const unknown = -1

// headsKept bounds the memory for streams: about 1 MB.
const headsKept = 8192

func newWriter(path string, db *sql.DB, log *slog.Logger) (*writer, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	w := &writer{log: log, path: path, db: db, conn: conn, ended: make(chan struct{})}
	w.forget()
	if err := w.stmt.prepare(conn); err != nil {
		_ = conn.Close() // the first error is the one to tell
		return nil, err
	}
	return w, nil
}

// forget drops the numbers that a rollback may have made wrong.
func (w *writer) forget() {
	w.seq = unknown
	w.heads = map[string]int64{}
}

// run writes what comes until the queue is closed and empty.
func (w *writer) run(queue <-chan *request) {
	for r := range queue {
		batch := gather(r, queue)
		if len(batch) > 0 {
			w.count.batches.Add(1)
			w.write(batch)
		}
		for _, r := range batch {
			close(r.done)
		}
	}
}

// gather takes all that wait, as far as a batch may go. Before it goes without more
// it steps aside once: on a busy machine callers whose change is nearly ready then go
// with this batch. A transaction costs far more than what is in it.
func gather(r *request, queue <-chan *request) (batch []*request) {
	waited := false
	for size := 0; ; {
		if r.take() {
			batch = append(batch, r)
			size += r.size
		}
		if len(batch) == batchLength || size >= batchBytes {
			return batch
		}
		if len(queue) == 0 && !waited {
			waited = true
			runtime.Gosched()
		}
		var open bool
		select {
		case r, open = <-queue:
			if !open {
				return batch
			}
		default:
			return batch
		}
	}
}

// write keeps a batch in one transaction. A change that conflicts with its
// first statement has written nothing and is simply left out. One that fails
// later spoils the transaction, which is then begun again with a savepoint
// around each change, so that only the one that fails is lost.
func (w *writer) write(batch []*request) {
	err := w.failure()
	if err == nil {
		err = w.transaction(batch, w.plainly)
	}
	if errors.Is(err, errSpoiled) {
		w.count.reruns.Add(1)
		err = w.transaction(batch, w.apart)
	}
	if errors.Is(err, store.ErrDiskFull) && len(batch) > 1 {
		w.each(batch)
		return
	}
	if err != nil {
		for _, r := range batch {
			r.first, r.err = 0, err
		}
	}
}

// each writes the changes of a batch for which there is no room, each as a batch of its
// own: a small one may still find room where a large one does not. After a failed disk the
// rest is refused.
func (w *writer) each(batch []*request) {
	for _, r := range batch {
		w.write([]*request{r})
	}
}

// transaction keeps all of a batch that each can keep, and leaves in a request
// what became of it. An error is the end of every change in the batch.
func (w *writer) transaction(batch []*request, each func(*request) error) (err error) {
	if err := run(w.stmt.begin); err != nil {
		return w.fail("begin", err)
	}
	kept := int64(0)
	for _, r := range batch {
		r.first, r.err = 0, nil
		if err := each(r); err != nil {
			w.rollback()
			return err
		}
		if r.err == nil {
			kept++
		}
	}
	if err := run(w.stmt.commit); err != nil {
		w.rollback()
		if isFull(err) { // SQLite writes the mark of the commit last, so it is not there
			return w.fail("commit", err)
		}
		return fmt.Errorf("%w: %w", store.ErrUnknown, w.fail("commit", err))
	}
	if kept > 0 {
		w.lookForRoom() // a small change may find room where others do not
		w.count.commits.Add(1)
		w.count.changes.Add(kept)
	}
	return nil
}

// plainly writes a change without a savepoint.
func (w *writer) plainly(r *request) error {
	written, err := w.apply(r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrConflict) && !written:
		r.err = err
		return nil
	case isDisk(err), isFull(err):
		return w.fail("write", err)
	}
	return errSpoiled
}

// apart writes a change inside a savepoint.
func (w *writer) apart(r *request) error {
	if err := run(w.stmt.savepoint); err != nil {
		return w.fail("write", err)
	}
	_, err := w.apply(r)
	if err == nil {
		return w.mark(run(w.stmt.release))
	}
	if isDisk(err) || isFull(err) {
		return w.fail("write", err)
	}
	if !errors.Is(err, store.ErrConflict) {
		w.log.Error("a change could not be written", "err", err)
		err = fmt.Errorf("write a change: %v", err)
	}
	r.first, r.err = 0, err
	w.forget()
	return w.mark(errors.Join(run(w.stmt.undo), run(w.stmt.release)))
}

func (w *writer) mark(err error) error {
	if err != nil {
		return w.fail("savepoint", err)
	}
	return nil
}

func (w *writer) rollback() {
	w.forget()
	// SQLite has already rolled back by itself after the worst errors, and
	// then there is nothing left to do here.
	_ = run(w.stmt.rollback)
}

// fail returns an error for all callers of a batch. After a failed disk the
// store takes nothing more, not even reads: the kernel may forget a page whose
// fsync failed, and what is in the file then differs from what a restart
// finds. A full disk or a lock held by another process is no such failure: then
// the whole transaction was taken back.
func (w *writer) fail(doing string, err error) error {
	switch {
	case isFull(err):
		err = fmt.Errorf("%w: %s: %v", store.ErrDiskFull, doing, err)
		if w.full.Swap(&err) == nil {
			w.log.Error("the disk is full: nothing is kept until there is room", "err", err)
		}
		return err
	case !isDisk(err):
		return fmt.Errorf("%s: %v", doing, err)
	}
	err = fmt.Errorf("%w: %s: %v", store.ErrFailed, doing, err)
	if w.broken.Swap(&err) == nil {
		close(w.ended)
	}
	w.log.Error("the database failed", "err", err)
	return err
}

// errNoRoom is the reason when a database is opened on a full disk.
var errNoRoom = errors.New("there was hardly any room left when the database was opened")

// isFull reports whether there was no room for a change.
func isFull(err error) bool {
	e := (*driver.Error)(nil)
	return errors.As(err, &e) && e.Code()&0xff == codes.SQLITE_FULL || errors.Is(err, errNoRoom)
}

// isDisk says whether what is in the file can no longer be relied on.
func isDisk(err error) bool {
	e := (*driver.Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the rest says more about the same
	case codes.SQLITE_IOERR, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return true
	}
	return false
}

// close moves what is in the write-ahead log into the database and closes it.
// A broken one is left as it is, for the recovery at the next start.
func (w *writer) close() error {
	var err error
	if w.failure() == nil {
		_, err = w.conn.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
	}
	if isFull(err) {
		err = fmt.Errorf("%w; nothing is lost: what did not find room in the database is kept in the -wal file beside it", store.ErrDiskFull)
	}
	return errors.Join(err, w.stmt.close(), w.conn.Close(), w.db.Close())
}

// failure is why the store takes nothing more, or nil.
func (w *writer) failure() error {
	if err := w.broken.Load(); err != nil {
		return *err
	}
	return nil
}
