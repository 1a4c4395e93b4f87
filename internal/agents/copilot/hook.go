package copilot

import (
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// A Hook is the command askback hook copilot.
type Hook struct {
	Gate bool          `help:"Block each call unless a person approves it. An error also blocks the call."`
	Wait time.Duration `default:"23h59m" help:"End after this time. Without an answer, Copilot's own rules decide, or --gate blocks the call. Keep it shorter than the hook's timeoutSec."`
}

// Traits implements [hook.Command].
func (c *Hook) Traits() hook.Traits {
	return hook.Traits{
		Guard: hook.GuardOf(c.Gate), Limited: true, Limit: c.Wait, NeedsServer: true, EndsWithParent: true,
	}
}

// Read implements [hook.Command]. Without a decision, Copilot follows its own rules: it shows its
// dialog, or refuses the call in copilot -p.
func (c *Hook) Read(raw []byte, _ hook.Env) (job hook.Job, err error) {
	job.Guard = hook.GuardOf(c.Gate)
	ev, err := Read(raw)
	if err != nil {
		return job, err
	}
	job.Guard = hook.GuardOf(c.Gate && Guarded(ev, c.Gate))
	call, ok := Call(ev, c.Gate)
	if ok {
		job.Call = &call
		return job, nil
	}
	return job, hook.ErrNotAsked
}
