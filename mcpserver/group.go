package mcpserver

import (
	"sync"

	"github.com/askback/askback"
)

// A group counts calls in progress, so that close can wait for them. The zero value is
// open, empty and without a limit.
type group struct {
	limit int // maximum number of concurrent calls; 0 means no limit

	mu   sync.Mutex
	n    int
	idle chan struct{} // nil until close is called; closed when no call is in progress
}

// begin adds a call. The error is [askback.ErrStopping] after close, and [askback.ErrBusy]
// at the limit: the call must then not be made.
func (g *group) begin() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.idle != nil:
		return askback.ErrStopping
	case g.limit > 0 && g.n == g.limit:
		return askback.ErrBusy
	}
	g.n++
	return nil
}

// end removes a call.
func (g *group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.idle != nil && g.n == 0 {
		close(g.idle)
	}
}

// close makes begin fail from now on. The returned channel is closed when the last call has
// ended.
func (g *group) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle == nil {
		g.idle = make(chan struct{})
		if g.n == 0 {
			close(g.idle)
		}
	}
	return g.idle
}
