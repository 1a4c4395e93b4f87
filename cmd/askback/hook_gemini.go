package main

import (
	"context"
	"time"

	"github.com/askback/askback/internal/agents/gemini"
	"github.com/askback/askback/internal/agents/hook"
)

type hookGemini struct {
	Gate  bool          `help:"Guard tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"55s" help:"End at the latest after this time. It must be shorter than the timeout of the hook, after which Gemini CLI runs the tool."`
}

// Run answers one hook. A question without an answer is left to the dialog of Gemini CLI. With
// --gate, any other call without a decision is blocked: Gemini CLI would run the tool.
func (c *hookGemini) Run(ctx context.Context, in streams, all *commands) error {
	return answerHook(ctx, in, all, c.Limit, c.Gate, func(raw []byte) (call hook.Call, guarded bool, err error) {
		ev, err := gemini.Read(raw)
		if err != nil {
			return call, true, err
		}
		guarded = gemini.Guarded(ev, ownServer())
		call, ok := gemini.Call(ev, c.Gate && guarded)
		if !ok {
			err = errNotAsked
		}
		return call, guarded, err
	})
}
