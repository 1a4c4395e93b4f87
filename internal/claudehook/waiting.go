package claudehook

import (
	"context"
	"slices"
	"sync"
)

// Waiting is the hooks of one process that wait. The same call made twice is one
// ask, and whoever leaves it first must not take it from the other: the last one
// does. Of other processes it knows nothing: a hook of another process that
// waits for the same ask finds it withdrawn, and then has no decision. The zero
// value is good.
type Waiting struct {
	mu    sync.Mutex
	calls map[string]*waiters
}

// waiters are those who wait for one call.
type waiters struct {
	n    int           // 0: the last one left, and is withdrawing
	left []string      // the asks that were abandoned
	keep bool          // the call was put off, so its ask stays
	gone chan struct{} // closed when nobody is here, and all is withdrawn
}

// A fate is why somebody leaves.
type fate int

const (
	over      fate = iota // the ask is settled, or there is none
	abandoned             // nobody hears its answer here
	deferred              // the resumed session will hear it
)

// enter joins those who wait for a call. Who comes while its ask is withdrawn asks
// after that: then it is another one.
func (w *Waiting) enter(ctx context.Context, call string) error {
	for {
		w.mu.Lock()
		c := w.calls[call]
		if c == nil {
			c = &waiters{gone: make(chan struct{}), n: 1}
			if w.calls == nil {
				w.calls = map[string]*waiters{}
			}
			w.calls[call] = c
			w.mu.Unlock()
			return nil
		}
		if c.n > 0 {
			c.n++
			w.mu.Unlock()
			return nil
		}
		w.mu.Unlock()
		select {
		case <-c.gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave says what became of an ask. The last one withdraws what was abandoned.
func (w *Waiting) leave(call, id string, why fate, withdraw func(ids []string) error) (err error) {
	w.mu.Lock()
	c := w.calls[call]
	c.n--
	c.keep = c.keep || why == deferred
	c.left = slices.DeleteFunc(c.left, func(l string) bool { return l == id })
	if why == abandoned {
		c.left = append(c.left, id)
	}
	last := c.n == 0
	w.mu.Unlock()
	if !last {
		return nil
	}
	if len(c.left) > 0 && !c.keep {
		err = withdraw(c.left)
	}
	w.mu.Lock()
	delete(w.calls, call)
	w.mu.Unlock()
	close(c.gone)
	return err
}
