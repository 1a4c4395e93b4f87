package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

// ErrCannotAsk is the error for a request that cannot be shown to a person without changes.
// For example, it is too large, or the arguments of its tool are unknown.
var ErrCannotAsk = errors.New("this request cannot be shown to a person without changes")

// A preparedRequest is the request for an event, with the data to convert its outcome.
type preparedRequest struct {
	event   string // its name
	request askback.Request
	call    compat.Call // for questions
}

// Call returns the call that an event asks about. The error wraps [ErrCannotAsk].
func Call(ev Event) (hook.Call, error) {
	p, err := prepare(ev)
	if err != nil {
		return hook.Call{}, err
	}
	decide := func(ask askback.Ask) ([]byte, bool) {
		reply, ok := p.decide(ask)
		if !ok {
			return nil, false
		}
		out, err := jcs.Marshal(reply)
		return out, err == nil
	}
	return hook.Call{Request: p.request, Unique: ev.Name != ToolCall, Program: "OpenCode", Decide: decide}, nil
}

// prepare returns the request for an event. The error wraps [ErrCannotAsk].
func prepare(ev Event) (p preparedRequest, err error) {
	p.event = ev.Name
	if ev.Name == QuestionAsked {
		if p.call, err = questions(ev.Questions); err == nil {
			p.request = p.call.Request
		}
	} else {
		p.request, err = confirmation(ev)
	}
	if err != nil {
		return preparedRequest{}, fmt.Errorf("%w: %w", ErrCannotAsk, err)
	}
	r := &p.request
	r.Agent, r.SessionKey, r.Key, r.Context = hook.Label(Name, ev.Folder), ev.SessionID, key(ev), ev.origin()
	if p.request, err = r.Normalize(); err != nil {
		return preparedRequest{}, fmt.Errorf("%w: %w", ErrCannotAsk, err)
	}
	return p, nil
}

// questions reads the questions of OpenCode's tool question. Each question has options. If no options were
// found, the options had an unknown name. The question must not be asked without its options.
func questions(raw json.RawMessage) (compat.Call, error) {
	input, err := jcs.Marshal(map[string]json.RawMessage{"questions": raw})
	if err != nil {
		return compat.Call{}, err
	}
	call, err := Dialect.Ask(input)
	if err != nil {
		return compat.Call{}, err
	}
	if slices.ContainsFunc(call.Request.Questions, func(q askback.Question) bool { return len(q.Options) == 0 }) {
		return compat.Call{}, errors.New("a question has no options")
	}
	return call, nil
}

// ownPrefix is the prefix of Askback's tools in OpenCode.
const ownPrefix = "askback_"

// OwnTools are the names of Askback's tools in OpenCode. They need no approval.
func OwnTools() []string {
	names := make([]string, len(hook.OwnTools))
	for i, tool := range hook.OwnTools {
		names[i] = ownPrefix + tool
	}
	return names
}

// confirmation returns the request for a permission or for a call of the gate. A permission
// cannot be given with other arguments.
func confirmation(ev Event) (askback.Request, error) {
	if ev.Permission == "" || slices.Contains(OwnTools(), ev.Permission) {
		return askback.Request{}, errors.New("this tool needs no approval")
	}
	input, err := ev.Args, error(nil)
	if ev.Name == PermissionAsked {
		input, err = permissionInput(ev)
	}
	if err != nil {
		return askback.Request{}, err
	}
	if v, err := jcs.Parse(input); err != nil || v.Kind != jcs.Object {
		return askback.Request{}, errors.New("the arguments are not an object")
	}
	if _, err := jcs.Canonical(input); err != nil {
		return askback.Request{}, err
	}
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: ev.Permission, Input: input, Description: hook.Description(ev.Args),
		NoEdit: ev.Name == PermissionAsked,
	}}, nil
}

// permissionInput returns the information that a person needs about a permission: its details and its
// patterns. The permission of a tool of an MCP server has no details, so the arguments of the call are used.
func permissionInput(ev Event) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(ev.Metadata, &all); len(ev.Metadata) > 0 && err != nil {
		return nil, err
	}
	if len(all) == 0 {
		if len(ev.Args) == 0 {
			return nil, errors.New("the arguments of the tool are unknown")
		}
		return ev.Args, nil
	}
	if _, ok := all["patterns"]; !ok && len(ev.Patterns) > 0 && !slices.Equal(ev.Patterns, []string{"*"}) {
		all["patterns"], _ = json.Marshal(ev.Patterns) // strings can always be encoded
	}
	return jcs.Marshal(all)
}

// key returns the idempotency key of an event. The ids of requests are unique. The ids of tool calls are not
// unique, because the model makes these ids.
func key(ev Event) string {
	parts := []string{ev.Name, ev.SessionID, ev.ID}
	if ev.Name == ToolCall {
		parts = append(parts, ev.Folder, ev.Permission, string(ev.Args))
	}
	return hook.Key(Name, parts...)
}
