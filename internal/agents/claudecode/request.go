package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/compat"
)

// Call returns the call that an event asks about. It returns false if no person is asked. The request of the
// call has questions, a confirmation with the exact arguments of a tool, or the form of another MCP server.
// Equal events have the same key, so that a repeated hook finds its ask.
func Call(ev Event) (hook.Call, bool) {
	p, ok := prepare(ev)
	if !ok {
		return hook.Call{}, false
	}
	call := hook.Call{
		Request: p.request, Unique: ev.ToolUseID != "", Deferred: deferred(ev), Program: program, Decide: p.decide,
	}
	if ev.BlocksDialog() {
		call.Late = "The time for a call of a sub-agent has passed: Claude Code now shows its own dialog"
	}
	return call, true
}

// A preparedRequest is the request for an event, with the data to convert its outcome.
type preparedRequest struct {
	event   Event
	request askback.Request
	call    compat.Call // for questions
	form    form        // for an elicitation
}

func prepare(ev Event) (preparedRequest, bool) {
	var p preparedRequest
	var ok bool
	switch {
	case ev.Name == Elicitation:
		p.form, ok = readForm(ev)
		p.request = p.form.request
	case ev.Name != PermissionRequest && ev.Name != PreToolUse:
	case ev.Tool == QuestionTool:
		p, ok = questions(ev)
	default:
		p.request, ok = confirmation(ev)
	}
	if !ok {
		return preparedRequest{}, false
	}
	p.event = ev
	r := &p.request
	r.Agent, r.SessionKey, r.Key = hook.Label(Name, cmp.Or(ev.Project, ev.CWD)), ev.SessionID, key(ev)
	r.Context = originJSON(ev)
	normal, err := r.Normalize()
	p.request = normal
	return p, err == nil
}

// questions reads a call of AskUserQuestion. In an interactive session it ignores
// PreToolUse, which would suppress the dialog in the terminal. The PermissionRequest that
// follows asks in addition to the dialog.
func questions(ev Event) (preparedRequest, bool) {
	if ev.Name == PreToolUse && !ev.Headless {
		return preparedRequest{}, false
	}
	call, err := Questions(ev.Input)
	return preparedRequest{request: call.Request, call: call}, err == nil
}

// Questions reads input, the arguments of [QuestionTool]. Hooks and permission_prompt over MCP make the same
// request from equal arguments. The text of the error is for the model.
func Questions(input json.RawMessage) (compat.Call, error) {
	call, err := Dialect.Ask(input)
	if err != nil {
		return compat.Call{}, err
	}
	call.Request.Agent = Name
	// Every question of this tool has options. If no options were found, they had an unknown name. The
	// question must not be asked without its options.
	for i, q := range call.Request.Questions {
		if len(q.Options) == 0 {
			return compat.Call{}, askback.Invalid{{
				Pointer: fmt.Sprintf("/questions/%d/options", i), Detail: "this question has no options",
				Fix: "give it two to four, each with a label",
			}}
		}
	}
	return call, nil
}

// Permission returns the request for approval of a tool call. The request has the same digest for hooks and
// for permission_prompt over MCP, so that a standing approval applies to hooks and to permission_prompt (F8).
func Permission(name string, input json.RawMessage) askback.Request {
	return hook.Permission(Name, name, input)
}

// confirmation returns the request for approval of a tool call. It returns false for Askback's tools, and for
// a call that cannot be shown without changes.
func confirmation(ev Event) (askback.Request, bool) {
	if isOwn(ev) || !hook.IsShowable(ev.Tool, ev.Input) {
		return askback.Request{}, false
	}
	return Permission(ev.Tool, ev.Input), true
}

// key returns the idempotency key of an event. An event with the id of a call, such as PreToolUse, identifies
// the call. The key of another event depends on its content, so repeated calls have the same key.
func key(ev Event) string {
	parts := []string{ev.Name, ev.SessionID, ev.ToolUseID}
	if ev.ToolUseID == "" {
		parts = append(parts, ev.PromptID, ev.CWD, ev.PermissionMode, ev.Subagent, ev.Tool, hook.Canonical(ev.Input),
			ev.Server, ev.ElicitationID, ev.Message, hook.Canonical(ev.Schema), ev.SubagentID)
	}
	return hook.Key(Name, parts...)
}
