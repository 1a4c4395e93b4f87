package compat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleA2A = `{"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": [{"text": "Which database?"}]}}}`

// An a2aTask is a task of A2A that waits for input.
type a2aTask struct {
	id, context string
	old         bool // in the form of A2A 0.3, which marks each object with its kind
}

// An a2aCall is a call for which an agent made with the Agent Development Kit wants a confirmation. It is in
// the data of a part.
type a2aCall struct {
	id, name, hint string
	args           json.RawMessage
}

// adkConfirmation is the name of the call that wraps the call to confirm.
const adkConfirmation = "adk_request_confirmation"

// readA2A reads a task, its status update, or a response that contains either.
func readA2A(_ Client, raw []byte) (Call, error) {
	r, n, err := parse(raw)
	if err != nil {
		return Call{}, err
	}
	for _, wrapper := range []string{"result", "task", "statusUpdate"} {
		if inner, ok := child(n, wrapper); ok {
			n = inner
		}
	}
	var task a2aTask
	for _, from := range []struct {
		name string
		into *string
	}{{"id", &task.id}, {"taskId", &task.id}, {"contextId", &task.context}} {
		if v, ok := child(n, from.name); ok {
			r.Text(from.into)(v)
		}
	}
	if task.id == "" {
		r.Problem(jcs.Pointer(n.Pointer, "id"), "the id of the task is missing", "send the task, or its status update")
	}
	status, _ := child(n, "status")
	state, _ := child(status, "state")
	switch state.Text() {
	case "TASK_STATE_INPUT_REQUIRED":
	case "input-required":
		task.old = true
	default:
		r.Problem(jcs.Pointer(jcs.Pointer(n.Pointer, "status"), "state"), "this task does not wait for input",
			"send a task in the state TASK_STATE_INPUT_REQUIRED")
	}
	message, _ := child(status, "message")
	text, calls := r.a2aParts(raw, message)
	if err := r.err(); err != nil {
		return Call{}, err
	}
	call := task.question(text)
	if len(calls) > 0 {
		call = task.confirmation(calls[0], text)
	}
	call.Request, err = call.Request.Normalize()
	return call, err
}

// a2aParts returns the texts and the calls in the parts of a message. It adds a problem for other data,
// because a person could not see it.
func (r *reader) a2aParts(raw []byte, message Node) (text string, calls []a2aCall) {
	parts, ok := child(message, "parts")
	if !ok || !r.require(parts, jcs.Array, "") {
		r.Problem(jcs.Pointer(message.Pointer, "parts"), "the task has no message to a person",
			"send its status with the message")
		return "", nil
	}
	var texts []string
	for i, v := range parts.Elements() {
		at := Node{v, jcs.Pointer(parts.Pointer, fmt.Sprint(i))}
		if t, ok := child(at, "text"); ok {
			var s string
			r.Text(&s)(t)
			texts = append(texts, s)
			continue
		}
		data, ok := child(at, "data")
		call, known := r.a2aConfirmation(raw, data)
		if !ok || !known {
			r.Problem(at.Pointer, "a person cannot answer this part", "send text, or a call of "+adkConfirmation)
			continue
		}
		calls = append(calls, call)
	}
	text = strings.TrimSpace(strings.Join(texts, "\n\n"))
	switch {
	case len(calls) > 1:
		r.Problem(parts.Pointer, "a person decides about one call at a time",
			"let the agent confirm one call after the other")
	case len(calls) == 0 && text == "" && len(r.problems) == 0:
		r.Problem(parts.Pointer, "the message has no text", "")
	}
	return text, calls
}

// a2aConfirmation reads the call to confirm from the data of a part. known is false for any other data.
func (r *reader) a2aConfirmation(raw []byte, data Node) (c a2aCall, known bool) {
	name, _ := child(data, "name")
	id, _ := child(data, "id")
	args, _ := child(data, "args")
	original, ok := child(args, "originalFunctionCall")
	tool, _ := child(original, "name")
	if name.Text() != adkConfirmation || id.Text() == "" || !ok || tool.Text() == "" {
		return c, false
	}
	c = a2aCall{id: id.Text(), name: tool.Text(), args: json.RawMessage("{}")}
	if input, ok := child(original, "args"); ok {
		c.args = (&Reader{reader: r}).arguments(raw, input)
	}
	if confirmation, ok := child(args, "toolConfirmation"); ok {
		hint, _ := child(confirmation, "hint")
		c.hint = hint.Text()
	}
	return c, true
}

// question returns a call that asks a question with a text. The result of the call is a message with the
// answer.
func (t a2aTask) question(text string) Call {
	q := askback.Question{Text: text}
	return Call{
		Request: askback.Request{Questions: []askback.Question{q}}, questions: []ClientQuestion{{Question: q}},
		reply: func(all []ClientAnswer, ask askback.Ask) (any, error) {
			if err := AnsweredOnly(ask); err != nil {
				return nil, err
			}
			return t.message(ask, map[string]any{"text": all[0].Line()}), nil
		},
	}
}

// confirmation returns the confirmation of a call. Its arguments cannot be changed, because the agent runs
// the call with its own arguments. An approval of other arguments is an *[Unanswered] error.
func (t a2aTask) confirmation(call a2aCall, text string) Call {
	about := strings.TrimSpace(strings.Join([]string{text, call.hint}, "\n\n"))
	return Call{
		Request: askback.Request{Confirmation: &askback.Confirmation{
			ToolName: call.name, Description: about, Input: call.args, NoEdit: true,
		}},
		reply: func(_ []ClientAnswer, ask askback.Ask) (any, error) {
			o := ask.Outcome
			switch {
			case o.Status != askback.Answered:
				return nil, unanswered(ask)
			case o.Approved() && len(o.Input) > 0:
				return nil, otherArguments(ask)
			}
			metadata := map[string]any{"adk_type": "function_response"}
			if o.Reason != "" || o.Comment != "" {
				metadata["askback"] = aguiRemarks{Reason: o.Reason, Comment: o.Comment}
			}
			return t.message(ask, map[string]any{
				"data": map[string]any{
					"id": call.id, "name": adkConfirmation, "response": map[string]any{"confirmed": o.Approved()},
				},
				"metadata": metadata,
			}), nil
		},
	}
}

// message returns the parameters of SendMessage with one part. The id of the message is the id of the ask, so
// a repeated message has the same id.
func (t a2aTask) message(ask askback.Ask, part map[string]any) any {
	out := map[string]any{"messageId": ask.ID, "taskId": t.id, "role": "ROLE_USER"}
	if t.context != "" {
		out["contextId"] = t.context
	}
	if t.old {
		out["kind"], out["role"], part["kind"] = "message", "user", "text"
		if _, ok := part["data"]; ok {
			part["kind"] = "data"
		}
	}
	out["parts"] = []any{part}
	return map[string]any{"message": out}
}
