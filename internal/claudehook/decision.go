package claudehook

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/compat"
)

// output is what a hook prints. Its names are Claude Code's.
type output struct {
	HookSpecificOutput any `json:"hookSpecificOutput"`
}

type permissionOutput struct {
	Event    string             `json:"hookEventName"`
	Decision permissionDecision `json:"decision"`
}

type permissionDecision struct {
	Behavior     string          `json:"behavior"`
	Message      string          `json:"message,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

type toolOutput struct {
	Event        string          `json:"hookEventName"`
	Decision     string          `json:"permissionDecision"`
	Reason       string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

type elicitationOutput struct {
	Event   string          `json:"hookEventName"`
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content"`
}

// Decision words the outcome of the ask that an event made. It is not ok where
// nothing follows: what nobody answered falls back to Claude Code's dialog.
// An approval must be consumed first; [Run] does.
func Decision(ev Event, ask askback.Ask) (out []byte, ok bool) {
	p, ok := put(ev)
	if !ok || !ask.Settled() {
		return nil, false
	}
	switch {
	case ev.Name == Elicitation:
		return p.elicited(ask)
	case p.request.Confirmation == nil:
		return p.answered(ev, ask)
	case ask.Confirmation == nil || !sameTool(*p.request.Confirmation, *ask.Confirmation):
		return nil, false
	}
	return decided(ev, ask)
}

// sameTool says whether an approval is about this call, to the byte.
func sameTool(a, b askback.Confirmation) bool {
	return a.ToolName == b.ToolName && a.Server == b.Server && bytes.Equal(a.Input, b.Input)
}

func (p pending) elicited(ask askback.Ask) ([]byte, bool) {
	if ask.Outcome.Status != askback.Answered || ask.Outcome.Comment != "" || len(ask.Questions) != len(p.form.fields) {
		return nil, false
	}
	content, ok := p.form.content(ask)
	if !ok {
		return nil, false
	}
	return written(elicitationOutput{Elicitation, "accept", content})
}

// answered puts the answers into the arguments of the tool. An allow without
// them would be taken for empty answers.
func (p pending) answered(ev Event, ask askback.Ask) ([]byte, bool) {
	result, err := p.call.Result(ask)
	if none, ok := errors.AsType[*compat.Unanswered](err); ok && ev.Name == PreToolUse {
		// Nobody sits there whom a dialog could ask instead.
		return written(toolOutput{Event: ev.Name, Decision: "deny", Reason: none.Error()})
	}
	if err != nil {
		return nil, false
	}
	input, ok := Merged(ev.Input, result)
	if !ok {
		return nil, false
	}
	return allowed(ev, "", input)
}

// theirs are the members of the input of [QuestionTool] that only whoever answers
// may write: what a model put there would pass for words of a person.
var theirs = []string{"answers", "annotations", "response", "afkTimeoutMs"}

// Merged is the input of [QuestionTool] with the members of its result put in, if
// these hold any answer.
func Merged(input, result json.RawMessage) (json.RawMessage, bool) {
	var all map[string]json.RawMessage
	var given struct {
		Answers map[string]string `json:"answers"`
	}
	if json.Unmarshal(input, &all) != nil || json.Unmarshal(result, &given) != nil {
		return nil, false
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return slices.ContainsFunc(theirs, func(t string) bool { return strings.EqualFold(t, name) })
	})
	if json.Unmarshal(result, &all) != nil {
		return nil, false
	}
	b, err := plain(all)
	return b, err == nil && len(given.Answers) > 0
}

// decided words a decision about a tool. Silence after PreToolUse would leave
// the call to rules that may allow it, so there a person at the desk is asked.
func decided(ev Event, ask askback.Ask) ([]byte, bool) {
	text, _, _ := asktool.Result(ask)
	switch o := ask.Outcome; {
	case o.Approved() && len(o.Input) > 0 && fixed(ev):
		return refused(ev, "Not approved as it is. Call it again with these arguments, and ask again: "+string(o.Input))
	case o.Approved():
		return allowed(ev, text, o.Input)
	case o.Status == askback.Answered && o.Decision == askback.Deny:
		return refused(ev, text)
	case ev.Name == PreToolUse && ev.Sender == Codex:
		return refused(ev, text) // it knows no "ask", and runs the tool when it gets that
	case ev.Name == PreToolUse:
		return written(toolOutput{Event: ev.Name, Decision: "ask", Reason: text})
	}
	return nil, false
}

// fixed reports whether a decision about an event cannot carry other arguments.
// Codex fails a hook that answers PermissionRequest with some.
func fixed(ev Event) bool { return ev.Sender == Codex && ev.Name == PermissionRequest }

func allowed(ev Event, reason string, input json.RawMessage) ([]byte, bool) {
	if ev.Sender == Codex && ev.Name == PreToolUse && input == nil {
		input = ev.Input // it takes an allow with arguments only
	}
	if ev.Name == PreToolUse {
		return written(toolOutput{ev.Name, "allow", reason, input})
	}
	return written(permissionOutput{ev.Name, permissionDecision{Behavior: "allow", UpdatedInput: input}})
}

func refused(ev Event, reason string) ([]byte, bool) {
	if ev.Name == PreToolUse {
		return written(toolOutput{Event: ev.Name, Decision: "deny", Reason: reason})
	}
	return written(permissionOutput{ev.Name, permissionDecision{Behavior: "deny", Message: reason}})
}

// Defer words that a call is put off until Claude Code is resumed. Only a
// session where nobody sits can be.
func Defer(ev Event) (out []byte, ok bool) {
	if !deferrable(ev) {
		return nil, false
	}
	return written(toolOutput{Event: ev.Name, Decision: "defer"})
}

func deferrable(ev Event) bool {
	return ev.Name == PreToolUse && ev.Headless && ev.ToolUseID != ""
}

func written(specific any) ([]byte, bool) {
	b, err := plain(output{specific})
	return b, err == nil
}

// plain is JSON that leaves <, > and & as people wrote them.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
