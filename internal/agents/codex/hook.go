package codex

import (
	"context"
	"slices"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// program is the name of Codex in the reason of a withdrawn ask.
const program = "Codex"

// Handle returns the job for an event: an ask, or the withdrawal of asks that have become obsolete. With
// gate, it also asks about the calls of guarded tools ([Gated]), which must not run without an output. The
// error is [hook.ErrCannotAsk] if people must be asked about an event but cannot be asked.
func Handle(ev Event, gate bool) (hook.Job, error) {
	var job hook.Job
	if gate && Gated(ev) {
		job.Guard = hook.BlockUndecided
	}
	ends := []string{PostToolUse, UserPromptSubmit, Stop, Interrupt, SessionEnd}
	switch {
	case Asks(ev, gate):
		call, ok := Call(ev)
		if !ok {
			return job, hook.ErrCannotAsk
		}
		job.Call = &call
	case slices.Contains(ends, ev.Name):
		job.Withdraw = func(ctx context.Context, client hook.Client) error { return withdrawEnded(ctx, client, ev) }
	}
	return job, nil
}

// A Hook is the command askback hook codex.
type Hook struct {
	Gate  bool          `help:"Block each tool call unless a person approves it. An error also blocks the call."`
	Limit time.Duration `default:"9m" help:"With --gate, block a call after this time. Keep it shorter than the timeout of the hook, after which Codex runs the tool."`
}

// Traits implements [hook.Command]. Codex kills only the shell of a hook, not the hook.
func (c *Hook) Traits() hook.Traits {
	return hook.Traits{
		Guard: hook.GuardOf(c.Gate), Limited: c.Gate, Limit: c.Limit, NeedsServer: true, EndsWithParent: true,
	}
}

// Read implements [hook.Command]. After an error, Codex shows its own dialog, unless the hook is a guard. The
// job is empty if Codex shows a dialog and askback attach codex asks about the same request.
func (c *Hook) Read(raw []byte, env hook.Env) (hook.Job, error) {
	ev, err := Read(raw)
	if err != nil {
		return hook.Job{Guard: hook.GuardOf(c.Gate)}, err
	}
	if Asks(ev, c.Gate) && HasDialog(ev) && env.Followed(ev.SessionID) {
		return hook.Job{}, nil
	}
	return Handle(ev, c.Gate)
}
