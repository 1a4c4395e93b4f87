package mcpserver

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// writeTime is how long a client may take to read a piece of a reply. Who reads
	// slower is cut off.
	writeTime = 10 * time.Second
	// writePiece is that piece, in bytes.
	writePiece = 64 << 10
)

// bounded is a reply that may be long in coming, and then has to be read. The time
// between two writes is as long as it is: a person thinks.
type bounded struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
	writing func()      // called before each write
	broken  atomic.Bool // something did not go out
}

// bound lifts the bound that a server has for a whole reply, and sets one for each
// write. Where there is no connection, as in a test, there are none. The function is
// called before each write.
func (s *Server) bound(w http.ResponseWriter, writing func()) *bounded {
	b := &bounded{ResponseWriter: w, control: http.NewResponseController(w), limit: s.writeTime, writing: writing}
	b.lift()
	return b
}

func (b *bounded) begin() { _ = b.control.SetWriteDeadline(time.Now().Add(b.limit)) }
func (b *bounded) lift()  { _ = b.control.SetWriteDeadline(time.Time{}) }

// Write implements [http.ResponseWriter].
func (b *bounded) Write(p []byte) (n int, err error) {
	b.writing()
	defer b.lift()
	for err == nil && n < len(p) {
		b.begin()
		var took int
		took, err = b.ResponseWriter.Write(p[n:min(len(p), n+writePiece)])
		n += took
	}
	if err != nil {
		b.broken.Store(true)
	}
	return n, err
}

// FlushError is for an [http.ResponseController].
func (b *bounded) FlushError() error {
	b.begin()
	defer b.lift()
	err := b.control.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return err // so it keeps nothing back
	}
	if err != nil {
		b.broken.Store(true)
	}
	return err
}

// Flush implements [http.Flusher].
func (b *bounded) Flush() { _ = b.FlushError() }

// Unwrap is for an [http.ResponseController].
func (b *bounded) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// arrived sends what is left, and says whether all of it went out, as far as can be
// seen.
func (b *bounded) arrived() bool {
	_ = b.FlushError()
	return !b.broken.Load()
}

// endTime bounds what the server writes after the handler: the last bytes of a reply
// all of which went out already. The connection keeps this bound until another
// reply sets its own, so it is longer than a connection may be idle.
const endTime = 5 * time.Minute

func (b *bounded) end() { _ = b.control.SetWriteDeadline(time.Now().Add(endTime)) }
