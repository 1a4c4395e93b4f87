package cursor

import (
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// A Hook is the command askback hook cursor.
type Hook struct {
	Gate  bool          `help:"Guard commands and tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"55s" help:"End at the latest after this time. It must be shorter than the timeout of the hook."`
}

// Traits implements [hook.Command].
func (c *Hook) Traits() hook.Traits {
	return hook.Traits{Guard: hook.GuardOf(c.Gate), Limited: true, Limit: c.Limit, NeedsServer: true, EndsWithParent: true}
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
