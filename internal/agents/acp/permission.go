// Package acp asks people about the requests that an agent sends to an editor. It is a proxy between the
// agent and the editor, which speak the Agent Client Protocol over standard input and output. Messages are
// forwarded unchanged. Only a late answer of the editor, and a request whose id is in use, are not forwarded.
// The dialog of the editor and the ask of Askback are open at the same time, and the first answer counts.
package acp

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// Name is the program name in the labels of asks of unknown agents.
const Name = "acp"

// The requests of an agent that people are asked about.
const (
	methodPermission = "session/request_permission"
	methodForm       = "elicitation/create"
)

// The kinds of options that Askback chooses. It never chooses an option that the agent remembers.
const (
	allowOnce  = "allow_once"
	rejectOnce = "reject_once"
)

// A question is a request of the agent that people are asked about.
type question struct {
	session string
	tool    string // the id of the tool call, if any
	ask     askback.Request
	// result returns the answer to the request. It returns false if there is no answer.
	result func(askback.Ask) (any, bool)
}

// An origin is the context of an ask. People see the context.
type origin struct {
	hook.Origin
	Agent string `json:"agent,omitempty"` // the name and the version of the agent
	label string // the label of the ask
}

// readQuestion reads a request of an agent. It returns false for an unknown method, and for a request that
// only the editor can show. id is unique in run. call has the members of the tool call that the agent sent
// before.
func readQuestion(method string, params json.RawMessage, id, run string, from origin, call members) (question, bool) {
	p, err := jcs.Parse(params)
	if err != nil {
		return question{}, false
	}
	q := question{session: jsonrpc2.StringOf(p, "sessionId")}
	ok := false
	switch method {
	case methodPermission:
		ok = q.readPermission(p, params, call)
	case methodForm:
		ok = q.readForm(p, params)
	}
	if !ok || q.session == "" {
		return question{}, false
	}
	from.Hook, from.Session, from.Seated = method, q.session, true
	context, err := jcs.Marshal(from)
	if err != nil {
		return question{}, false
	}
	r := &q.ask
	r.Agent, r.SessionKey, r.Key, r.Context = from.label, q.session, hook.Key("acp", run, q.session, q.tool,
		id), context
	q.ask, err = r.Normalize()
	return q, err == nil
}

// readPermission reads a request for a permission. call has the members of the tool call that the agent sent
// before. Members in the request replace members in call. readPermission returns false if the call has no id,
// if it has neither a title nor a raw input, or if [readOptions] returns false.
func (q *question) readPermission(p jcs.Value, src []byte, call members) bool {
	tool, _ := p.Get("toolCall")
	q.tool = jsonrpc2.StringOf(tool, "toolCallId")
	allow, reject, ok := readOptions(p)
	if !ok || q.tool == "" {
		return false
	}
	shown := members{}
	for _, name := range shownMembers {
		value := call[name]
		if m, ok := tool.Get(name); ok && m.Kind != jcs.Null {
			value = m.Raw(src)
		}
		if value != nil {
			shown[name] = value
		}
	}
	input, err := jcs.Marshal(shown)
	if err != nil || shown["title"] == nil && shown["rawInput"] == nil {
		return false
	}
	q.ask.Confirmation = &askback.Confirmation{
		ToolName: cmp.Or(jsonrpc2.StringAt(shown["name"]), jsonrpc2.StringAt(shown["kind"]), "tool"), Input: input,
		Description: jsonrpc2.StringAt(shown["title"]), NoEdit: true,
	}
	q.result = func(ask askback.Ask) (any, bool) { return outcome(ask, allow, reject) }
	return true
}

// readForm reads a request for the input of a form. It returns false if the request is not for a form, or if
// people cannot be asked for the input.
func (q *question) readForm(p jcs.Value, src []byte) (ok bool) {
	schema, _ := p.Get("requestedSchema")
	if jsonrpc2.StringOf(p, "mode") != "form" || schema.Kind != jcs.Object {
		return false
	}
	q.result, ok = dialog.Form(&q.ask, jsonrpc2.StringOf(p, "message"), schema.Raw(src))
	return ok
}

// shownMembers are the members of a tool call that describe what will run.
var shownMembers = []string{"name", "kind", "title", "content", "locations", "rawInput"}

// readOptions returns the ids of the options that allow and reject a call once. If no option rejects the
// call, reject is "". readOptions returns false unless exactly one option allows the call and all ids differ,
// because only the id is sent.
func readOptions(p jcs.Value) (allow, reject string, ok bool) {
	options, _ := p.Get("options")
	var ids []string
	once := 0
	for _, o := range options.Elements() {
		id := jsonrpc2.StringOf(o, "optionId")
		if id == "" || slices.Contains(ids, id) {
			return "", "", false
		}
		ids = append(ids, id)
		switch kind := jsonrpc2.StringOf(o, "kind"); {
		case kind == allowOnce:
			once++
			allow = id
		case kind == rejectOnce && reject == "":
			reject = id
		}
	}
	return allow, reject, once == 1
}

// outcome returns the answer to a request for a permission. If no option rejects the call, a denial cancels
// the turn. outcome returns false if there is no decision, or if a person approved other arguments.
func outcome(ask askback.Ask, allow, reject string) (any, bool) {
	switch o := ask.Outcome; {
	case o.Approved() && len(o.Input) == 0:
		return selected(allow), true
	case o.Status == askback.Answered && o.Decision == askback.Deny && reject != "":
		return selected(reject), true
	case o.Status == askback.Answered && o.Decision == askback.Deny:
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, true
	}
	return nil, false
}

func selected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}
