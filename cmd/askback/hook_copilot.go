package main

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/internal/copilothook"
	"github.com/askback/askback/internal/hook"
)

type hookCopilot struct {
	Gate bool          `help:"Guard permissions: block each call unless a person approves it. After an error, block it too."`
	Wait time.Duration `default:"23h59m" help:"Wait this long for an answer; then Copilot's own rules and its dialog decide, or with --gate the call is blocked. It must be shorter than timeoutSec of the hook."`
}

// Run answers one hook. Without a decision it prints nothing and exits with 0, so that Copilot
// follows its own rules: it shows its dialog, or refuses the call in copilot -p. With --gate, a call
// without a decision is blocked instead.
func (c *hookCopilot) Run(ctx context.Context, in streams, all *commands) error {
	guarded := c.Gate
	printed, unwritten, err := answerHook(ctx, in, all, c.Wait, func(raw []byte) (hook.Call, error) {
		ev, err := copilothook.Read(raw)
		if err != nil {
			return hook.Call{}, err
		}
		guarded = c.Gate && copilothook.Guarded(ev, true)
		if call, ok := copilothook.Call(ev, c.Gate); ok {
			return call, nil
		}
		return hook.Call{}, errNotAsked
	})
	switch {
	case guarded && err == nil && unwritten == nil && !printed:
		err = errors.New("there was no decision in time")
	case !guarded && (errors.Is(err, hook.ErrForeign) || errors.Is(err, errNotAsked)):
		return nil
	}
	return endHook(in, guarded, unwritten, err)
}
