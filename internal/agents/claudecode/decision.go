package claudecode

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

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

// decide returns the output of a hook for the outcome of its ask. It returns false if there is no decision:
// Claude Code then shows its own dialog. The caller must consume an approval first, as [hook.Runner.Run]
// does.
func (p preparedRequest) decide(ask askback.Ask) (out []byte, ok bool) {
	switch {
	case !ask.Settled():
		return nil, false
	case p.event.Name == Elicitation:
		return p.elicitationResult(ask)
	case p.request.Confirmation == nil:
		return p.answerOutput(ask)
	case !hook.IsAbout(*p.request.Confirmation, ask):
		return nil, false
	}
	return decisionOutput(p.event, ask)
}

func (p preparedRequest) elicitationResult(ask askback.Ask) ([]byte, bool) {
	content, ok := p.form.Accepted(ask)
	if !ok {
		return nil, false
	}
	return encodeOutput(elicitationOutput{Elicitation, "accept", content})
}

// answerOutput returns the output that allows [QuestionTool], with the answers in its arguments. Without an
// answer, it returns the output that denies the call if the event is PreToolUse. For other events it returns
// false.
func (p preparedRequest) answerOutput(ask askback.Ask) ([]byte, bool) {
	result, err := p.call.Result(ask)
	if none, ok := errors.AsType[*compat.Unanswered](err); ok && p.event.Name == PreToolUse {
		// The session is not interactive, so Claude Code cannot show a dialog.
		return encodeOutput(toolOutput{Event: p.event.Name, Decision: "deny", Reason: none.Error()})
	}
	if err != nil {
		return nil, false
	}
	input, ok := MergeAnswers(p.event.Input, result)
	if !ok {
		return nil, false
	}
	return allowed(p.event, "", input)
}

// answerFields are the members of the input of [QuestionTool] that only a person may set. If a model set such
// a member, it would look like the answer of a person.
var answerFields = []string{"answers", "annotations", "response", "afkTimeoutMs"}

// MergeAnswers returns input, the arguments of [QuestionTool], without answerFields and with the members of
// result. It returns false if input or result is not a JSON object, or if result contains no answers.
func MergeAnswers(input, result json.RawMessage) (json.RawMessage, bool) {
	var all map[string]json.RawMessage
	var given struct {
		Answers map[string]string `json:"answers"`
	}
	if json.Unmarshal(input, &all) != nil || json.Unmarshal(result, &given) != nil {
		return nil, false
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return slices.ContainsFunc(answerFields, func(t string) bool { return strings.EqualFold(t, name) })
	})
	if json.Unmarshal(result, &all) != nil {
		return nil, false
	}
	b, err := jcs.Marshal(all)
	return b, err == nil && len(given.Answers) > 0
}

// decisionOutput returns the decision about a tool call. For PreToolUse there is always a decision, because
// the rules of the user could otherwise allow the call. Without an answer, that decision makes Claude Code
// show its own dialog.
func decisionOutput(ev Event, ask askback.Ask) ([]byte, bool) {
	text, _, _ := asktool.Result(ask)
	switch o := ask.Outcome; {
	case o.Approved():
		input := o.Input
		if len(input) == 0 && requiresInput(ev) {
			input = ev.Input
		}
		return allowed(ev, text, input)
	case o.Status == askback.Answered && o.Decision == askback.Deny:
		return denied(ev, text)
	case ev.Name == PreToolUse:
		return encodeOutput(toolOutput{Event: ev.Name, Decision: "ask", Reason: text})
	}
	return nil, false
}

func allowed(ev Event, reason string, input json.RawMessage) ([]byte, bool) {
	if ev.Name == PreToolUse {
		return encodeOutput(toolOutput{Event: ev.Name, Decision: "allow", Reason: reason, UpdatedInput: input})
	}
	return encodeOutput(permissionOutput{ev.Name, permissionDecision{Behavior: "allow", UpdatedInput: input}})
}

func denied(ev Event, reason string) ([]byte, bool) {
	if ev.Name == PreToolUse {
		return encodeOutput(toolOutput{Event: ev.Name, Decision: "deny", Reason: reason})
	}
	return encodeOutput(permissionOutput{ev.Name, permissionDecision{Behavior: "deny", Message: reason}})
}

// deferred returns the output that defers a call until Claude Code is resumed. It returns nil for a call that
// cannot be deferred, such as a call in an interactive session.
func deferred(ev Event) []byte {
	if !deferrable(ev) {
		return nil
	}
	out, _ := encodeOutput(toolOutput{Event: ev.Name, Decision: "defer"})
	return out
}

func deferrable(ev Event) bool {
	return ev.Name == PreToolUse && ev.Headless && ev.ToolUseID != ""
}

// encodeOutput returns the JSON that a hook prints, in the format of Claude Code.
func encodeOutput(specific any) ([]byte, bool) {
	b, err := jcs.Marshal(map[string]any{"hookSpecificOutput": specific})
	return b, err == nil
}
