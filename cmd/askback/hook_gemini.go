package main

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/internal/geminihook"
	"github.com/askback/askback/internal/hook"
)

type hookGemini struct {
	Gate  bool          `help:"Guard tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"55s" help:"Wait this long for an answer. It must be shorter than the timeout of the hook, after which Gemini CLI runs the tool."`
}

// Run answers one hook. A question without an answer is left to the dialog of Gemini CLI. With
// --gate, any other call without a decision is blocked: Gemini CLI would run the tool.
func (c *hookGemini) Run(ctx context.Context, in streams, all *commands) error {
	guarded := c.Gate
	printed, unwritten, err := answerHook(ctx, in, all, c.Limit, func(raw []byte) (hook.Call, error) {
		ev, err := geminihook.Read(raw)
		if err != nil {
			return hook.Call{}, err
		}
		guarded = c.Gate && geminihook.Guarded(ev)
		if call, ok := geminihook.Call(ev, c.Gate); ok {
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
