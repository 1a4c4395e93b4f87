package codex

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/compat"
)

// Call returns the call that an event asks about. It returns false if no person is asked. The request of the
// call has the questions, or a confirmation with the exact arguments of a tool.
func Call(ev Event) (hook.Call, bool) {
	p, ok := prepare(ev)
	if !ok {
		return hook.Call{}, false
	}
	return hook.Call{Request: p.request, Program: program, Decide: p.decide}, true
}

// A preparedRequest is the request for an event, with the data to convert its outcome.
type preparedRequest struct {
	event   Event
	request askback.Request
	call    compat.Call // for questions
}

func prepare(ev Event) (preparedRequest, bool) {
	var p preparedRequest
	switch {
	case ev.Name == PreToolUse && ev.Tool == QuestionTool:
		call, err := Dialect.Ask(ev.Input) // the tool rejects a question for a secret, because answers are stored
		if err != nil {
			return preparedRequest{}, false
		}
		p.request, p.call = call.Request, call
	case ev.Name != PermissionRequest && ev.Name != PreToolUse || !Asks(ev, true) ||
		!hook.IsShowable(ev.Tool, ev.Input):
		return preparedRequest{}, false
	default:
		p.request = hook.Permission(Name, ev.Tool, ev.Input)
		p.request.Confirmation.NoEdit = ev.Name == PermissionRequest // Codex rejects changed arguments
	}
	p.event = ev
	r := &p.request
	r.Agent, r.SessionKey, r.Key, r.Context = hook.Label(Name, ev.CWD), ev.SessionID, key(ev), originJSON(ev)
	normal, err := r.Normalize()
	p.request = normal
	return p, err == nil
}

// key returns the idempotency key of an event. Equal keys do not identify one call: the model makes the id of
// a call and may repeat it, and [PermissionRequest] has no id.
func key(ev Event) string {
	return hook.Key(Name, ev.Name, ev.SessionID, ev.TurnID, ev.ToolUseID, ev.SubagentID, ev.CWD, ev.PermissionMode,
		ev.Subagent, ev.Tool, hook.Canonical(ev.Input))
}
