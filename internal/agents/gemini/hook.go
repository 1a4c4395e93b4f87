package gemini

import (
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// A Hook is the command askback hook gemini.
type Hook struct {
	Gate  bool          `help:"Block each tool call unless a person approves it. An error also blocks the call."`
	Limit time.Duration `default:"55s" help:"End after this time. Keep it shorter than the timeout of the hook, after which Gemini CLI runs the tool."`
}

// Traits implements [hook.Command].
func (c *Hook) Traits() hook.Traits {
	return hook.Traits{
		Guard: hook.GuardOf(c.Gate), Limited: true, Limit: c.Limit, NeedsServer: true, EndsWithParent: true,
	}
}

// Read implements [hook.Command]. A question without an answer is left to the dialog of Gemini CLI.
func (c *Hook) Read(raw []byte, env hook.Env) (job hook.Job, err error) {
	job.Guard = hook.GuardOf(c.Gate)
	ev, err := Read(raw)
	if err != nil {
		return job, err
	}
	job.Guard = hook.GuardOf(c.Gate && Guarded(ev, env.Server()))
	call, ok := Call(ev, job.Guard == hook.BlockUndecided)
	if ok {
		job.Call = &call
		return job, nil
	}
	return job, hook.ErrNotAsked
}
