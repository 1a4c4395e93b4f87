package codex_test

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/codex"
)

// requestOf returns the request of the call that an event asks about.
func requestOf(ev codex.Event) (askback.Request, bool) {
	call, ok := codex.Call(ev)
	return call.Request, ok
}

// decisionOf returns the output of the hook for an event and its settled ask.
func decisionOf(ev codex.Event, ask askback.Ask) ([]byte, bool) {
	call, ok := codex.Call(ev)
	if !ok {
		return nil, false
	}
	return call.Decide(ask)
}
