package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleAGUI = `{"type": "RUN_FINISHED", "threadId": "t1", "outcome": {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "input_required", "message": "Which database?"}]}}`

// An aguiInterrupt is an Interrupt of AG-UI: a run requests an answer and cannot continue without the answer.
type aguiInterrupt struct {
	id, reason, message, toolCall, expires string
	schema                                 aguiSchema
	context                                json.RawMessage // the metadata of the interrupt
}

// An aguiResume is a ResumeEntry: the answer to an interrupt. Without an answer, its status is "cancelled",
// which the agent must not take for consent.
type aguiResume struct {
	InterruptID string        `json:"interruptId"`
	Status      string        `json:"status"`
	Payload     any           `json:"payload,omitempty"`
	Metadata    *aguiMetadata `json:"metadata,omitempty"`
}

// An aguiMetadata holds the remarks of people next to the answer.
type aguiMetadata struct {
	Askback aguiRemarks `json:"askback"`
}

type aguiRemarks struct {
	ID      string            `json:"id,omitempty"` // the id of the ask
	By      string            `json:"by,omitempty"`
	Comment string            `json:"comment,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"` // keyed by the id of the question
}

// An aguiCall is a call of a tool, in a message of the assistant.
type aguiCall struct {
	name string
	args json.RawMessage
}

// readAGUI reads the event RUN_FINISHED of an interrupted run, or only its interrupts. The member messages,
// next to the outcome, has the messages of the thread. An interrupt has only the id of a call, but a person
// approves the exact arguments of the call.
func readAGUI(_ Client, raw []byte) (Input, error) {
	r, n, err := parse(raw)
	if err != nil {
		return Input{}, err
	}
	var thread string
	if id, ok := child(n, "threadId"); ok {
		r.Text(&thread)(id)
	}
	calls := r.aguiCalls(n)
	list := n
	if n.Kind == jcs.Object {
		list = r.aguiOutcome(n)
	}
	if err := r.err(); err != nil {
		return Input{}, err
	}
	if e := list.Elements(); r.require(list, jcs.Array, "") && (len(e) == 0 || len(e) > MaxCalls) {
		r.Problem(list.Pointer, fmt.Sprintf("a run waits for 1 to %d interrupts", MaxCalls), "")
	}
	var in Input
	seen := map[string]bool{}
	for i, v := range list.Elements() {
		at := Node{v, jcs.Pointer(list.Pointer, fmt.Sprint(i))}
		interrupt := r.aguiInterrupt(raw, at)
		if seen[interrupt.id] {
			r.Problem(at.Pointer+"/id", "two interrupts have this id", "")
		}
		seen[interrupt.id] = true
		call := r.aguiAsk(at, interrupt, calls)
		if len(r.problems) > 0 {
			break
		}
		if call.Request, err = call.Request.Normalize(); err != nil {
			return Input{}, askback.Invalid{{Pointer: at.Pointer, Detail: err.Error()}}
		}
		in.Calls = append(in.Calls, call)
	}
	in.join = func(all []any) any {
		return struct {
			ThreadID string `json:"threadId,omitempty"`
			Resume   []any  `json:"resume"`
		}{thread, all}
	}
	return in, r.err()
}

// child returns the member of an object with this name. It returns false if the member is missing or null.
func child(n Node, name string) (Node, bool) {
	v, ok := n.Get(name)
	return Node{v, jcs.Pointer(n.Pointer, name)}, ok && v.Kind != jcs.Null
}

// aguiOutcome returns the list of interrupts in an event. It adds a problem if the event has no such list.
func (r *reader) aguiOutcome(n Node) Node {
	if outcome, ok := child(n, "outcome"); ok {
		kind, _ := child(outcome, "type")
		list, ok := child(outcome, "interrupts")
		switch {
		case kind.Text() == "cancelled":
			r.Problem(outcome.Pointer, "this run was cancelled, so it waits for no answer",
				"withdraw its open asks")
		case kind.Text() != "interrupt" || !ok:
			r.Problem(outcome.Pointer, "this run does not wait for a person",
				"send an event whose outcome is an interrupt")
		}
		return list
	}
	list, ok := child(n, "interrupts")
	if !ok {
		r.Problem(n.Pointer, "outcome is missing", "send the event RUN_FINISHED, or its interrupts")
	}
	return list
}

// aguiInterrupt reads an interrupt. It ignores unknown fields, as the protocol requires.
func (r *reader) aguiInterrupt(raw []byte, n Node) (out aguiInterrupt) {
	if !r.require(n, jcs.Object, "") {
		return out
	}
	for name, into := range map[string]*string{
		"id": &out.id, "reason": &out.reason, "message": &out.message, "toolCallId": &out.toolCall,
		"expiresAt": &out.expires,
	} {
		if v, ok := child(n, name); ok {
			r.Text(into)(v)
		}
	}
	for name, value := range map[string]string{"id": out.id, "reason": out.reason} {
		if value == "" {
			r.Problem(jcs.Pointer(n.Pointer, name), name+" is missing", "")
		}
	}
	if v, ok := child(n, "metadata"); ok && r.require(v, jcs.Object, "") && len(v.Members()) > 0 {
		out.context = v.Raw(raw)
	}
	if v, ok := child(n, "responseSchema"); ok {
		out.schema = r.aguiSchema(v)
	}
	return out
}

// aguiAsk returns the call for an interrupt: a confirmation if the interrupt concerns a call of a tool or is
// a yes-or-no question, and otherwise questions. Its request is not normalized.
func (r *reader) aguiAsk(at Node, i aguiInterrupt, calls map[string]aguiCall) (c Call) {
	bound := i.toolCall != "" || i.reason == "tool_call"
	switch {
	case bound:
		call, known := calls[i.toolCall]
		if !known {
			r.Problem(jcs.Pointer(at.Pointer, "toolCallId"), "the arguments of this call are not known",
				"send messages, with this call, next to outcome")
		}
		c.Request.Confirmation = &askback.Confirmation{ToolName: call.name, Description: i.message, Input: call.args}
	case i.message == "":
		r.Problem(jcs.Pointer(at.Pointer, "message"), "message is missing", "write what a person must know")
	case i.schema.isApproval(i.reason):
		c = aguiAction(i.message)
	default:
		c = r.aguiForm(at, i)
	}
	if c.Request.Confirmation != nil {
		r.checkApproval(at, i.schema)
		c.Request.Confirmation.NoEdit = !bound || !i.schema.edits
		c.reply = func(_ []ClientAnswer, ask askback.Ask) (any, error) { return i.decision(bound, ask) }
	}
	if i.expires != "" {
		at := jcs.Pointer(at.Pointer, "expiresAt")
		deadline, err := time.Parse(time.RFC3339, i.expires)
		if err != nil {
			r.Problem(at, "this is not a time", "write it as 2026-11-24T09:00:00Z")
		}
		c.Request.Deadline = deadline
	}
	if c.Request.Context == nil {
		c.Request.Context = i.context
	}
	return c
}

// aguiAction returns the confirmation of an action in words.
func aguiAction(text string) (c Call) {
	input, _ := jcs.Marshal(map[string]string{"action": text}) // a text can always be encoded
	if canonical, err := jcs.Canonical(input); err == nil {
		input = canonical
	}
	c.Request.Confirmation = &askback.Confirmation{ToolName: confirmAction, Description: text, Input: input}
	return c
}

// decision returns the entry for the outcome of a confirmation. Only an approval is true. Without a decision,
// the entry is cancelled. If a person approved other arguments that the interrupt does not accept, the error
// is an *[Unanswered].
func (i aguiInterrupt) decision(bound bool, ask askback.Ask) (any, error) {
	o := ask.Outcome
	if o.Status != askback.Answered {
		return i.entry(ask, nil), nil
	}
	approved := o.Approved()
	if approved && len(o.Input) > 0 && !(bound && i.schema.edits) {
		return nil, otherArguments(ask)
	}
	if i.schema.kind == "boolean" || i.schema.kind == "" && !bound {
		return i.entry(ask, approved), nil
	}
	payload := map[string]any{"approved": approved}
	if approved && len(o.Input) > 0 {
		payload["editedArgs"] = o.Input
	}
	if o.Reason != "" && i.schema.takesReason() {
		payload["reason"] = o.Reason
	}
	return i.entry(ask, payload), nil
}

// entry returns the entry with a payload, or a cancelled entry without a payload.
func (i aguiInterrupt) entry(ask askback.Ask, payload any) aguiResume {
	o := ask.Outcome
	more := &aguiMetadata{aguiRemarks{ID: ask.ID, Comment: o.Comment, Reason: o.Reason, Notes: map[string]string{}}}
	if o.Actor.Kind == askback.ActorPerson {
		more.Askback.By = o.Actor.Name
	}
	for _, a := range o.Answers {
		if a.Notes != "" {
			more.Askback.Notes[a.ID] = a.Notes
		}
	}
	if payload == nil {
		return aguiResume{InterruptID: i.id, Status: "cancelled", Metadata: more}
	}
	return aguiResume{InterruptID: i.id, Status: "resolved", Payload: payload, Metadata: more}
}

// aguiCalls returns the calls in the messages next to an outcome, keyed by id. It returns no call for an id
// if two calls with the id differ, or a call with the id cannot be read. The agent may read the other call.
func (r *reader) aguiCalls(n Node) map[string]aguiCall {
	calls := map[string]aguiCall{}
	messages, ok := child(n, "messages")
	if !ok || !r.require(messages, jcs.Array, "") {
		return calls
	}
	seen, unclear := map[string]aguiCall{}, map[string]bool{}
	for i, m := range messages.Elements() {
		list, ok := child(Node{m, jcs.Pointer(messages.Pointer, fmt.Sprint(i))}, "toolCalls")
		if !ok {
			continue
		}
		for _, v := range list.Elements() {
			id, call, ok := aguiToolCall(Node{Value: v})
			before, known := seen[id]
			if !ok || known && (before.name != call.name || !bytes.Equal(before.args, call.args)) {
				unclear[id] = true
			}
			seen[id] = call
			if calls[id] = call; unclear[id] {
				delete(calls, id)
			}
		}
	}
	return calls
}

// aguiToolCall reads a call. Its arguments are a string with a JSON object. ok is false if the call cannot be
// read.
func aguiToolCall(n Node) (id string, call aguiCall, ok bool) {
	name, _ := child(n, "id")
	function, _ := child(n, "function")
	tool, _ := child(function, "name")
	args, _ := child(function, "arguments")
	if args.Kind != jcs.String || tool.Text() == "" || name.Text() == "" {
		return name.Text(), aguiCall{}, false
	}
	v, err := jcs.Parse([]byte(args.Text()))
	if err != nil || v.Kind != jcs.Object {
		return name.Text(), aguiCall{}, false
	}
	if _, err := v.Canonical(); err != nil {
		return name.Text(), aguiCall{}, false
	}
	return name.Text(), aguiCall{tool.Text(), v.Raw([]byte(args.Text()))}, true
}
