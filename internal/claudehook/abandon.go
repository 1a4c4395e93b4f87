package claudehook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
)

// grace is how long the ask of a hook stays open while no call waits for it: a
// hook at the other end of a broken connection, or of a server that starts
// again, comes back within seconds.
const grace = 30 * time.Second

// gone is the reason of an ask that was withdrawn since its hook seemed gone.
const gone = "The hook that asked this has ended: its answer would reach no one"

// A Sweeper withdraws the asks of hooks that have ended without a word, as a
// killed process or a broken connection does.
type Sweeper struct {
	// List lists the asks of everyone.
	List func(ctx context.Context, q askback.Query) (askback.Page, error)
	// Client is that of the agent with a name.
	Client func(name string) Client
	// Awaited reports whether a call waits for an ask, or a process that will
	// make one is known to be alive.
	Awaited func(id string) bool

	unawaited map[string]time.Time // when an ask was first seen without a call
	next      time.Time            // when it is time to look again
}

// sweepShare is how much longer a sweep rests than it takes: an agent can leave many
// large asks open, and to read them all again and again would keep the server busy.
const sweepShare = 30

// Sweep withdraws what no call has waited for since [grace]. It is to be called
// again and again, by one goroutine. After one that took long it does nothing for a while.
func (s *Sweeper) Sweep(ctx context.Context, now time.Time) error {
	if now.Before(s.next) {
		return nil
	}
	begun := time.Now()
	defer func() { s.next = now.Add(sweepShare * time.Since(begun)) }()
	seen := map[string]time.Time{}
	var failed []error
	for _, label := range []string{ClaudeCode, Codex} {
		err := eachPending(ctx, s.List, label, func(ask askback.Ask) {
			if !NeedsHook(ask) || s.Awaited(ask.ID) {
				return
			}
			since, known := s.unawaited[ask.ID]
			if !known {
				since = now
			}
			if now.Sub(since) < grace {
				seen[ask.ID] = since
				return
			}
			failed = append(failed, s.Withdraw(ctx, ask))
		})
		failed = append(failed, err)
	}
	s.unawaited = seen
	return errors.Join(failed...)
}

// Withdraw withdraws an ask whose hook has ended, if it still is one.
func (s *Sweeper) Withdraw(ctx context.Context, ask askback.Ask) error {
	if ask.Settled() || !NeedsHook(ask) {
		return nil
	}
	_, err := s.Client(ask.Owner).Cancel(ctx, ask.ID, gone)
	if errors.Is(err, askback.ErrSettled) || errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}

// NeedsHook reports whether the answer to an ask reaches only the hook that asks
// it. A call that can be deferred is made again, by a session that is resumed.
func NeedsHook(ask askback.Ask) bool {
	c, ok := originOf(ask.Context)
	return ok && slices.Contains([]string{ClaudeCode, Codex}, ask.Agent) &&
		(c.Hook == PermissionRequest || c.Hook == Elicitation || c.Hook == PreToolUse && c.Seated)
}

// takenForGone reports whether an ask was withdrawn while its hook still waits,
// as one does on a laptop that was closed for a while.
func takenForGone(ask askback.Ask) bool {
	return ask.Settled() && ask.Withdrawn() && ask.Outcome.Reason == gone
}
