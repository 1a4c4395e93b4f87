package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/askback/askback/internal/cursorhook"
	"github.com/askback/askback/internal/hook"
)

type hookCursor struct {
	Gate  bool          `help:"Guard commands and tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"55s" help:"Wait this long for an answer. It must be shorter than the timeout of the hook."`
}

// Run answers one hook. Without a decision it prints nothing and exits with 0, so that Cursor
// follows its own rules. With --gate, it then blocks the call instead.
func (c *hookCursor) Run(ctx context.Context, in streams, all *commands) error {
	guarded := c.Gate
	printed, unwritten, err := answerHook(ctx, in, all, c.Limit, func(raw []byte) (hook.Call, error) {
		ev, err := cursorhook.Read(raw)
		if err != nil {
			return hook.Call{}, err
		}
		if !cursorhook.Guarded(ev, os.Getenv("ASKBACK_URL")) {
			guarded = false
			return hook.Call{}, errNotAsked
		}
		if call, ok := cursorhook.Call(ev); ok {
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
