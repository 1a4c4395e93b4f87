package main

import (
	"context"
	"time"

	"github.com/askback/askback/internal/agents/cursor"
	"github.com/askback/askback/internal/agents/hook"
)

type hookCursor struct {
	Gate  bool          `help:"Guard commands and tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"55s" help:"End at the latest after this time. It must be shorter than the timeout of the hook."`
}

// Run answers one hook. Without a decision it prints nothing and exits with 0, so that Cursor
// follows its own rules. With --gate, it then blocks the call instead.
func (c *hookCursor) Run(ctx context.Context, in streams, all *commands) error {
	return answerHook(ctx, in, all, c.Limit, c.Gate, func(raw []byte) (call hook.Call, guarded bool, err error) {
		ev, err := cursor.Read(raw)
		if err != nil {
			return call, true, err
		}
		if !cursor.Guarded(ev, ownServer()) {
			return call, false, errNotAsked
		}
		call, ok := cursor.Call(ev)
		if !ok {
			err = errNotAsked
		}
		return call, true, err
	})
}
