// Package acp asks people about the requests that an agent sends to an editor. It is a proxy between the
// agent and the editor, which speak the Agent Client Protocol over standard input and output. Messages are
// forwarded unchanged. Only a late answer of the editor, and a request whose id is in use, are not forwarded.
// The dialog of the editor and the ask of Askback are open at the same time, and the first answer counts.
package acp

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// Name is the program name in the labels of asks of unknown agents.
const Name = "acp"

// The standard requests of an agent that people are asked about. [extensions] has the others.
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
	refers  bool // the tool call was sent before, and the request only refers to it
	// result returns the answer to the request. It returns false if there is no answer.
	result func(askback.Ask) (any, bool)
}

// An origin is the context of an ask. People see the context.
type origin struct {
	hook.Origin
	Agent string `json:"agent,omitempty"` // the name and the version of the agent
	label string // the label of the ask
}

// The reasons why only the editor can show a request.
var (
	errUnreadable = errors.New("the request has an unknown form")
	errNoSession  = errors.New("the request names no session")
	errLink       = errors.New("only the editor can open a link")
	errForm       = errors.New("the form has a field that people cannot be asked for")
	errOptions    = errors.New("not exactly one option allows the call once")
	errHidden     = errors.New("the request does not show what will run")
	errQuestion   = errors.New("the permission is a question in an unknown format")
)

// readQuestion reads a request of an agent. The error is the reason why only the editor can show the request.
// id is unique in run. call has the members of the tool call that the agent sent before.
func readQuestion(
	method string, params json.RawMessage, id, run string, from origin, call members,
) (question, error) {
	p, err := jcs.Parse(params)
	if err != nil {
		return question{}, errUnreadable
	}
	q := question{session: cmp.Or(jsonrpc2.StringOf(p, "sessionId"), from.Session)}
	switch method {
	case methodPermission:
		err = q.readPermission(p, params, call)
	case methodForm:
		err = q.readForm(p, params)
	default:
		err = extensions[method](&q, p, params)
	}
	if err != nil {
		return question{}, err
	}
	if q.session == "" {
		return question{}, errNoSession
	}
	from.Hook, from.Session, from.Seated = method, q.session, true
	context, err := jcs.Marshal(from)
	if err != nil {
		return question{}, errUnreadable
	}
	r := &q.ask
	r.Agent, r.SessionKey, r.Key, r.Context = from.label, q.session, hook.Key("acp", run, q.session, q.tool,
		id), context
	q.ask, err = r.Normalize()
	return q, err
}

// readPermission reads a request for a permission. call has the members of the tool call that the agent sent
// before. Members in the request replace members in call. readPermission returns an error if the call has no
// id, if it has neither a title nor a raw input, or if [readOptions] returns false. A permission that is
// really a question is asked as the question, because an approval would answer nothing.
func (q *question) readPermission(p jcs.Value, src []byte, call members) error {
	tool, _ := p.Get("toolCall")
	q.tool = jsonrpc2.StringOf(tool, "toolCallId")
	if list, ok := qwenQuestions(tool); ok {
		return q.readQwen(p, list)
	}
	allow, reject, ok := readOptions(p)
	switch {
	case !ok:
		return errOptions
	case q.tool == "":
		return errUnreadable
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
		return errHidden
	}
	switch {
	case isOwnTool(tool, shown):
		return errOwn
	case isQuestion(tool, shown):
		return errQuestion
	}
	q.ask.Confirmation = &askback.Confirmation{
		ToolName: cmp.Or(jsonrpc2.StringAt(shown["name"]), jsonrpc2.StringAt(shown["kind"]), "tool"), Input: input,
		Description: jsonrpc2.StringAt(shown["title"]), NoEdit: true,
	}
	q.refers = true
	q.result = func(ask askback.Ask) (any, bool) { return outcome(ask, allow, reject) }
	return nil
}

// readForm reads a request for the input of a form. It returns an error if the request is not for a form, or
// if people cannot be asked for the input.
func (q *question) readForm(p jcs.Value, src []byte) error {
	schema, _ := p.Get("requestedSchema")
	q.tool = jsonrpc2.StringOf(p, "toolCallId")
	switch mode := jsonrpc2.StringOf(p, "mode"); {
	case mode == "url":
		return errLink
	case mode != "form" && mode != "" || schema.Kind != jcs.Object:
		return errUnreadable
	}
	result, ok := dialog.Form(&q.ask, jsonrpc2.StringOf(p, "message"), schema.Raw(src))
	if !ok {
		return errForm
	}
	q.result = result
	return nil
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

func selected(option string) map[string]any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}
