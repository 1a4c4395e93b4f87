package cursor

import (
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// A Hook is the command askback hook cursor.
type Hook struct {
	Gate  bool          `help:"Block each command and tool call unless a person approves it. An error also blocks the call."`
	Limit time.Duration `default:"55s" help:"End after this time. Keep it shorter than the timeout of the hook."`
}

// Traits implements [hook.Command].
func (c *Hook) Traits() hook.Traits {
	return hook.Traits{
		Guard: hook.GuardOf(c.Gate), Limited: true, Limit: c.Limit, NeedsServer: true, EndsWithParent: true,
	}
}

// Read implements [hook.Command].
func (c *Hook) Read(raw []byte, env hook.Env) (job hook.Job, err error) {
	job.Guard = hook.GuardOf(c.Gate)
	ev, err := Read(raw)
	if err != nil {
		return job, err
	}
	if !Guarded(ev, env.Server()) {
		return hook.Job{}, nil
	}
	call, ok := Call(ev)
	if ok {
		job.Call = &call
		return job, nil
	}
	return job, hook.ErrNotAsked
}
