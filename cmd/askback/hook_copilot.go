package main

import (
	"context"
	"time"

	"github.com/askback/askback/internal/agents/copilot"
	"github.com/askback/askback/internal/agents/hook"
)

type hookCopilot struct {
	Gate bool          `help:"Guard permissions: block each call unless a person approves it. After an error, block it too."`
	Wait time.Duration `default:"23h59m" help:"End at the latest after this time. Without an answer, Copilot's own rules and its dialog decide, or with --gate the call is blocked. It must be shorter than timeoutSec of the hook."`
}

// Run answers one hook. Without a decision it prints nothing and exits with 0. Copilot then follows
// its own rules: it shows its dialog, or refuses the call in copilot -p. With --gate, a call
// without a decision is blocked instead.
func (c *hookCopilot) Run(ctx context.Context, in streams, all *commands) error {
	return answerHook(ctx, in, all, c.Wait, c.Gate, func(raw []byte) (call hook.Call, guarded bool, err error) {
		ev, err := copilot.Read(raw)
		if err != nil {
			return call, true, err
		}
		call, ok := copilot.Call(ev, c.Gate)
		if !ok {
			err = errNotAsked
		}
		return call, copilot.Guarded(ev, c.Gate), err
	})
}
