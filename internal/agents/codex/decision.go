package codex

import (
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

type permissionOutput struct {
	Event    string             `json:"hookEventName"`
	Decision permissionDecision `json:"decision"`
}

type permissionDecision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

type toolOutput struct {
	Event        string          `json:"hookEventName"`
	Decision     string          `json:"permissionDecision"`
	Reason       string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

// decide returns the output of a hook for the outcome of its ask. It returns false if there is no decision.
// The caller must consume an approval first, as [hook.Runner.Run] does.
func (p preparedRequest) decide(ask askback.Ask) (out []byte, ok bool) {
	switch {
	case !ask.Settled():
		return nil, false
	case p.request.Confirmation == nil:
		return p.answer(ask)
	case !hook.IsAbout(*p.request.Confirmation, ask):
		return nil, false
	case p.event.Name == PermissionRequest:
		return permission(*p.request.Confirmation, ask)
	}
	return approval(p.event, ask)
}

// answer returns the output for questions. The only way to give the model an answer is the reason of a
// denial, which Codex presents as a blocked call. The text must therefore state that this is no failure. If a
// person declined to answer, the text states that. If there is no answer, answer returns false, and Codex
// shows its own picker.
func (p preparedRequest) answer(ask askback.Ask) ([]byte, bool) {
	result, err := p.call.Result(ask)
	if none, ok := errors.AsType[*compat.Unanswered](err); ok && none.Status == askback.Declined {
		return encode(toolOutput{Event: PreToolUse, Decision: "deny", Reason: "The tool did not fail: the user was " +
			"asked in Askback, but gave no answer. Do not ask the same question again. " + none.Error()})
	}
	if err != nil {
		return nil, false
	}
	state := "the user was asked in Askback and has answered."
	if ask.Outcome.Defaulted {
		state = "the user was asked in Askback, and a timer applied the defaults; no person chose them."
	}
	return encode(toolOutput{Event: PreToolUse, Decision: "deny", Reason: "The tool did not fail: " + state +
		" Continue with this result, and do not ask the same question again: " + string(result)})
}

// permission returns the decision about a PermissionRequest. It returns false if no person decided.
func permission(own askback.Confirmation, ask askback.Ask) ([]byte, bool) {
	switch verdict, text := hook.VerdictOf(own, ask); verdict {
	case hook.Allowed:
		return encode(permissionOutput{PermissionRequest, permissionDecision{Behavior: "allow"}})
	case hook.Denied:
		return encode(permissionOutput{PermissionRequest, permissionDecision{"deny", text}})
	}
	return nil, false
}

// approval returns the decision about a call of a guarded tool. Without an approval, the decision is a
// denial, because the tool would run without a decision. Codex requires the arguments with an approval.
func approval(ev Event, ask askback.Ask) ([]byte, bool) {
	text, _, _ := asktool.Result(ask)
	if !ask.Outcome.Approved() {
		return encode(toolOutput{Event: PreToolUse, Decision: "deny", Reason: text})
	}
	input := ask.Outcome.Input
	if len(input) == 0 {
		input = ev.Input
	}
	return encode(toolOutput{Event: PreToolUse, Decision: "allow", Reason: text, UpdatedInput: input})
}

// encode returns the JSON that a hook prints.
func encode(specific any) ([]byte, bool) {
	b, err := jcs.Marshal(map[string]any{"hookSpecificOutput": specific})
	return b, err == nil
}
