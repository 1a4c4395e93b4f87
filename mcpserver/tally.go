package mcpserver

import "sync"

// A tally counts what is under way, so that whoever ends it can wait for that. Its
// zero value is open and empty.
type tally struct {
	mu     sync.Mutex
	n      int
	closed chan struct{} // nil: it is open; it ends once nothing is under way
}

// begin counts one more. It is false once the tally is closed: then nobody waits
// for it, and it must not be done.
func (t *tally) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return false
	}
	t.n++
	return true
}

// end counts one less.
func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.closed != nil && t.n == 0 {
		close(t.closed)
	}
}

// close lets nothing begin any more. What it returns ends with the last that is
// under way.
func (t *tally) close() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil {
		t.closed = make(chan struct{})
		if t.n == 0 {
			close(t.closed)
		}
	}
	return t.closed
}
