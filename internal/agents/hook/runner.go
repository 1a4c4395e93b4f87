package hook

import (
	"context"
	"slices"
	"sync"
)

// A Runner runs the hooks of one process. Equal calls of one principal that wait at the same time share one
// ask. The ask is withdrawn only when no call waits for it any more. If a hook of another process withdraws
// the ask, the hooks of this process get no decision. The zero value is ready to use.
type Runner struct {
	mu    sync.Mutex
	calls map[string]*sharedCall
}

// A sharedCall counts the hooks that wait for equal calls.
type sharedCall struct {
	waiting   int           // 0 while the last hook withdraws the asks
	abandoned []string      // ids of the asks to withdraw
	deferred  bool          // the call was deferred, so its ask stays open
	done      chan struct{} // closed when no hook waits and all asks are withdrawn
}

// A leaveReason is the reason why a hook stops waiting.
type leaveReason int

const (
	settled   leaveReason = iota // the ask is settled, or the hook made no ask
	abandoned                    // this hook can no longer deliver the answer
	deferred                     // the resumed session will deliver the answer
)

// join adds a hook to the waiting hooks of a call. If the ask of the call is being withdrawn, join blocks
// until the ask is withdrawn, so that the hook makes a new ask. The error is the error of ctx.
func (r *Runner) join(ctx context.Context, key string) error {
	for {
		r.mu.Lock()
		c := r.calls[key]
		if c == nil {
			c = &sharedCall{done: make(chan struct{}), waiting: 1}
			if r.calls == nil {
				r.calls = map[string]*sharedCall{}
			}
			r.calls[key] = c
			r.mu.Unlock()
			return nil
		}
		if c.waiting > 0 {
			c.waiting++
			r.mu.Unlock()
			return nil
		}
		r.mu.Unlock()
		select {
		case <-c.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave removes a hook that waited for an ask. When the last hook leaves, it withdraws the abandoned asks,
// unless the call was deferred.
func (r *Runner) leave(key, id string, why leaveReason, withdraw func(ids []string) error) (err error) {
	r.mu.Lock()
	c := r.calls[key]
	c.waiting--
	c.deferred = c.deferred || why == deferred
	c.abandoned = slices.DeleteFunc(c.abandoned, func(a string) bool { return a == id })
	if why == abandoned {
		c.abandoned = append(c.abandoned, id)
	}
	last := c.waiting == 0
	r.mu.Unlock()
	if !last {
		return nil
	}
	if len(c.abandoned) > 0 && !c.deferred {
		err = withdraw(c.abandoned)
	}
	r.mu.Lock()
	delete(r.calls, key)
	r.mu.Unlock()
	close(c.done)
	return err
}
