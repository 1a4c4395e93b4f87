package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"

	modernc "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

const (
	// A batch ends when it has this many requests or bytes. This is enough to share an fsync, and few enough
	// that the first caller does not wait long for the last request.
	batchLength = 256
	batchBytes  = 4 << 20
)

// errPartlyWritten is returned if a change or age failed after a part of its work may have been written. The
// transaction must then be repeated with savepoints, and without age.
var errPartlyWritten = errors.New("a change failed after a part of it was written")

// A writer owns the connection that writes. While run runs, only its goroutine uses the
// connection.
type writer struct {
	log       *slog.Logger
	damaged   *damages
	path      string
	conn      *sqlite3.Conn
	stmt      writes
	count     counters
	broken    atomic.Pointer[error]
	ended     chan struct{}         // closed when broken is set
	full      atomic.Pointer[error] // set while the disk is full
	restored  atomic.Int64          // how often the index was created again
	lastCheck atomic.Int64          // time of the last check for room, in nanoseconds

	seq   int64            // Seq of the newest event, or unknownSeq
	heads map[string]int64 // StreamSeq of the newest event of some streams
	// newAfter has the name of a stream. A stream whose name sorts after this name has no events, unless
	// heads has the stream. The field is valid if seq is known.
	newAfter string

	boundaries boundaries
	untilAging map[string]int    // the number of new records of a kind until age examines it
	moved      map[string]string // the boundaries that the present transaction has moved

	freed   bool // whether the claims of earlier processes have been freed
	written bool // whether a part of the current request was written
}

// unknownSeq means that the Seq must be read from the database.
const unknownSeq = -1

// maxHeads is the maximum number of entries in writer.heads. So many entries take about 1 MB.
const maxHeads = 8192

func newWriter(path string, log *slog.Logger, damaged *damages) (*writer, error) {
	conn, err := connect(path, false)
	if err != nil {
		return nil, err
	}
	w := &writer{
		log: log, damaged: damaged, path: path, conn: conn, ended: make(chan struct{}), untilAging: map[string]int{},
		moved: map[string]string{},
	}
	w.resetNumbers()
	if err := errors.Join(w.stmt.prepare(conn), w.boundaries.load(conn)); err != nil {
		_ = conn.Close() // the caller returns the first error
		return nil, err
	}
	return w, nil
}

// resetNumbers discards the cached numbers, which may be wrong after a rollback.
func (w *writer) resetNumbers() {
	w.seq = unknownSeq
	w.heads = map[string]int64{}
}

// run writes requests until the queue is closed and empty.
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

// gather takes requests from the queue, beginning with r, until the batch or the queue ends. It omits
// requests that their callers have given up. When the queue is empty, gather yields once (runtime.Gosched).
// Callers that are about to submit a request then join this batch. A transaction costs far more than the
// changes in it.
func gather(r *request, queue <-chan *request) (batch []*request) {
	yielded := false
	for size := 0; ; {
		if r.take() {
			batch = append(batch, r)
			size += r.size
		}
		if len(batch) == batchLength || size >= batchBytes {
			return batch
		}
		if len(queue) == 0 && !yielded {
			yielded = true
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

// write commits a batch in one transaction. A change whose first statement conflicts has written nothing and
// is skipped. If a change fails otherwise, but not by an error of the disk, the transaction is repeated with
// a savepoint around each change. Then only the failed change is lost. If age fails, the transaction is
// repeated without age. If the disk has no room for the batch, write tries each change alone. If the index
// for searches is damaged, write creates the index again and repeats the transaction.
func (w *writer) write(batch []*request) {
	err := w.failure()
	if err == nil {
		err = w.attempt(batch)
	}
	if errors.Is(err, errIndexDamaged) {
		if err = w.restoreIndex(err); err == nil {
			err = w.attempt(batch)
		}
	}
	if errors.Is(err, store.ErrDiskFull) && len(batch) > 1 {
		for i := range batch { // a small change may fit although the batch did not fit
			w.write(batch[i : i+1])
		}
		return
	}
	if err != nil {
		for _, r := range batch {
			r.first, r.err = 0, err
		}
	}
}

// attempt writes a batch in one transaction. If a part of the batch fails, it repeats the transaction with
// savepoints.
func (w *writer) attempt(batch []*request) error {
	err := w.transaction(batch, w.applyPlain, w.age)
	if errors.Is(err, errPartlyWritten) {
		w.count.reruns.Add(1)
		err = w.transaction(batch, w.applyInSavepoint, nil)
	}
	return err
}

// transaction writes each request of a batch with apply, calls age unless age is nil, commits, and sets the
// results in the requests. If transaction returns an error, the results are not valid.
func (w *writer) transaction(batch []*request, apply func(*request) error, age func() error) (err error) {
	if err := run(w.stmt.begin); err != nil {
		return w.fail("begin", err)
	}
	if err := w.freeOldClaims(); err != nil {
		w.rollback()
		return w.fail("free the claims of an earlier process", err)
	}
	committed := int64(0)
	for _, r := range batch {
		r.first, r.err = 0, nil
		if err := apply(r); err != nil {
			w.rollback()
			return err
		}
		if r.err == nil && r.index == nil && r.restore == nil && (r.claim == nil || len(r.claim.effects) > 0) {
			committed++
		}
	}
	if age != nil {
		if err := age(); err != nil {
			w.rollback()
			if failed := w.fail("extend the indices by owner", err); isDisk(err) {
				return failed
			}
			return errPartlyWritten // without age, the batch may fit on a full disk
		}
	}
	if err := run(w.stmt.commit); err != nil {
		w.rollback()
		// SQLite writes the commit frame last and the index before the frame, so nothing was committed
		if isFull(err) || isIndexDamage(err) {
			return w.fail("commit", err)
		}
		return fmt.Errorf("%w: %w", store.ErrUnknown, w.fail("commit", err))
	}
	w.freed = true
	w.keepBoundaries()
	if committed > 0 {
		w.checkRoom() // a small change may fit although the disk is still full
		w.count.commits.Add(1)
		w.count.changes.Add(committed)
	}
	return nil
}

// applyPlain writes a request without a savepoint. If the request conflicts and has written nothing,
// applyPlain sets the error of the request and returns nil. After an error of applyPlain the transaction must
// be rolled back.
func (w *writer) applyPlain(r *request) error {
	err := w.apply(r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrConflict) && !w.written:
		r.err = err
		return nil
	case errors.Is(err, errIndexDamaged):
		return err
	case isDisk(err), isFull(err):
		return w.fail("write", err)
	}
	return errPartlyWritten
}

// applyInSavepoint writes a request in a savepoint. If the request fails, applyInSavepoint
// undoes it and sets its error. It returns an error if the transaction must be rolled back.
func (w *writer) applyInSavepoint(r *request) error {
	if err := run(w.stmt.savepoint); err != nil {
		return w.fail("write", err)
	}
	err := w.apply(r)
	if err == nil {
		return w.fail("savepoint", run(w.stmt.release))
	}
	if errors.Is(err, errIndexDamaged) {
		return err
	}
	if isDisk(err) || isFull(err) {
		return w.fail("write", err)
	}
	if !errors.Is(err, store.ErrConflict) {
		w.log.Error("a change could not be written; the others of its batch are kept", "err", err)
		err = fmt.Errorf("write a change: %v", err)
	}
	r.first, r.err = 0, err
	w.resetNumbers()
	return w.fail("savepoint", errors.Join(run(w.stmt.undo), run(w.stmt.release)))
}

func (w *writer) rollback() {
	w.resetNumbers()
	clear(w.moved)
	_ = run(w.stmt.rollback) // this fails if SQLite has already rolled back, as after some errors
}

// fail returns the error for all callers of a batch. If err is nil, it returns nil. After a disk error the
// store fails for good, for reads as well. The kernel may discard a page whose fsync failed, and then reads
// and a restart return different data. A full disk, a damaged index and a lock of another process do not make
// the store fail, because the whole transaction is rolled back.
func (w *writer) fail(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		err = fmt.Errorf("%w: %s: %v", store.ErrDiskFull, doing, err)
		if w.full.Swap(&err) == nil {
			w.log.Error("the disk is full; no change is kept until there is room", "err", err)
		}
		return err
	case isIndexDamage(err):
		return fmt.Errorf("%w: %s: %w", errIndexDamaged, doing, err)
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

// codeOf returns the result code of SQLite in err, or SQLITE_OK if there is no code.
func codeOf(err error) int {
	if err == nil {
		return codes.SQLITE_OK
	}
	if e := (*modernc.Error)(nil); errors.As(err, &e) { // an error from database/sql
		return e.Code()
	}
	if code := sqlite3.ErrCode(err); code != sqlite3.ResultError { // ResultError also means that there is no code
		return int(code)
	}
	return codes.SQLITE_OK
}

// primaryCode returns the low byte of codeOf, which is the primary result code.
func primaryCode(err error) int { return codeOf(err) & 0xff }

// errNoRoom means that the disk had too little room when the database was opened.
var errNoRoom = errors.New("there was too little room when the database was opened")

// isFull reports whether err means that the disk has no room for a change.
func isFull(err error) bool {
	return primaryCode(err) == codes.SQLITE_FULL || errors.Is(err, errNoRoom)
}

// isDisk reports whether err means that the file cannot be read or written correctly.
func isDisk(err error) bool {
	switch primaryCode(err) {
	case codes.SQLITE_IOERR, codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return true
	}
	return false
}

// close moves the write-ahead log into the database and closes the database. If the store has failed, close
// only closes it. The next start then recovers from the rest of the log.
func (w *writer) close() error {
	var err error
	if w.failure() == nil {
		err = execute(w.conn, "pragma wal_checkpoint(truncate)")
	}
	if isFull(err) {
		err = fmt.Errorf("%w; no change is lost: changes that do not fit into the database are in its -wal file",
			store.ErrDiskFull)
	}
	return errors.Join(err, w.conn.Close()) // closing the connection also closes the statements
}

// failure returns the error with which the store has failed, or nil.
func (w *writer) failure() error {
	if err := w.broken.Load(); err != nil {
		return *err
	}
	return nil
}
