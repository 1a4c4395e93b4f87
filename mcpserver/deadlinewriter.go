package mcpserver

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// writeTime is how long a client may take to read writePiece bytes. A slower client is
	// disconnected.
	writeTime = 10 * time.Second
	// writePiece is the maximum number of bytes that are written under one deadline.
	writePiece = 64 << 10
)

// A deadlineWriter writes a reply that may take long to begin. Each piece of a write has a deadline (see
// writePiece), but the time between two writes is not limited.
type deadlineWriter struct {
	http.ResponseWriter
	control     *http.ResponseController
	limit       time.Duration
	beforeWrite func()      // called before each write
	failed      atomic.Bool // a write has failed
}

// newDeadlineWriter replaces the HTTP server's deadline for the whole reply by a deadline for each piece. A
// response that does not support deadlines, as in some tests, has no deadlines.
func (s *Server) newDeadlineWriter(w http.ResponseWriter, beforeWrite func()) *deadlineWriter {
	d := &deadlineWriter{
		ResponseWriter: w, control: http.NewResponseController(w), limit: s.writeTime, beforeWrite: beforeWrite,
	}
	d.clearDeadline()
	return d
}

func (d *deadlineWriter) setDeadline()   { _ = d.control.SetWriteDeadline(time.Now().Add(d.limit)) }
func (d *deadlineWriter) clearDeadline() { _ = d.control.SetWriteDeadline(time.Time{}) }

// Write implements [http.ResponseWriter].
func (d *deadlineWriter) Write(p []byte) (n int, err error) {
	d.beforeWrite()
	defer d.clearDeadline()
	for err == nil && n < len(p) {
		d.setDeadline()
		var took int
		took, err = d.ResponseWriter.Write(p[n:min(len(p), n+writePiece)])
		n += took
	}
	if err != nil {
		d.failed.Store(true)
	}
	return n, err
}

// FlushError implements the interface of [http.ResponseController].
func (d *deadlineWriter) FlushError() error {
	d.setDeadline()
	defer d.clearDeadline()
	err := d.control.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return err // nothing is buffered
	}
	if err != nil {
		d.failed.Store(true)
	}
	return err
}

// Flush implements [http.Flusher].
func (d *deadlineWriter) Flush() { _ = d.FlushError() }

// Unwrap implements the interface of [http.ResponseController].
func (d *deadlineWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// flushed sends the buffered bytes and reports whether all writes have succeeded.
func (d *deadlineWriter) flushed() bool {
	_ = d.FlushError()
	return !d.failed.Load()
}

// endTime is how long the HTTP server may take, after the handler has returned, to write the
// last bytes of a flushed reply. It is longer than a connection may be idle, because it
// applies until the next reply sets its own deadline.
const endTime = 5 * time.Minute

func (d *deadlineWriter) finish() { _ = d.control.SetWriteDeadline(time.Now().Add(endTime)) }
