package main

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/internal/copilothook"
	"github.com/askback/askback/internal/hook"
)

type hookCopilot struct {
	Wait time.Duration `default:"23h59m" help:"Wait this long for an answer; then Copilot's own rules and its dialog decide."`
}

// Run answers one hook. After an error before the decision, it prints no decision and exits with 0,
// so that Copilot follows its own rules: it shows its dialog, or refuses the call in copilot -p.
func (c *hookCopilot) Run(ctx context.Context, in streams, all *commands) error {
	_, unwritten, err := answerHook(ctx, in, all, c.Wait, func(raw []byte) (hook.Call, error) {
		ev, err := copilothook.Read(raw)
		if err != nil {
			return hook.Call{}, err
		}
		if call, ok := copilothook.Call(ev); ok {
			return call, nil
		}
		return hook.Call{}, errNotAsked
	})
	if errors.Is(err, hook.ErrForeign) || errors.Is(err, errNotAsked) {
		return nil
	}
	return endHook(in, false, unwritten, err)
}
