package hook

import (
	"encoding/json"
	"maps"
)

// A Canary is a question or a permission that askback doctor asks through a hook, and answers itself.
type Canary struct {
	What       string            // the name for people
	Permission bool              // whether it is a permission and not a question
	Want       string            // a text that each output with an answer contains
	Env        map[string]string // the variables that the agent adds to the environment of the hook
	// Event returns the event of the agent. text is the question, or a part of the arguments of the
	// call. token identifies the event.
	Event func(text, token string) map[string]any
}

// CanaryFolder is the folder of the events. Its name is a part of the labels of their asks.
const CanaryFolder = "/askback doctor"

// canaryTool is a tool that no agent has, so that no standing approval applies to it.
const canaryTool = "AskbackDoctor"

// CanaryOptions returns the options of the questions. The answer is another text.
func CanaryOptions() []any {
	return []any{
		map[string]any{"label": "yes", "description": "not chosen by askback doctor"},
		map[string]any{"label": "no", "description": "not chosen by askback doctor"},
	}
}

// Payload returns the event of the canary as JSON. It is the input of the hook.
func (c Canary) Payload(text, token string) []byte {
	raw, _ := json.Marshal(c.Event(text, token)) // strings, lists and objects can always be encoded
	return raw
}

// ToolEvent returns an event about a tool call in the format of most agents. more contains the other members
// of the event.
func ToolEvent(event, tool, token string, input any, more map[string]any) map[string]any {
	all := map[string]any{
		"hook_event_name": event, "session_id": token, "cwd": CanaryFolder, "tool_name": tool, "tool_input": input,
	}
	maps.Copy(all, more)
	return all
}

// CanaryCall returns the arguments of the call that a [Canary] asks about, and its tool.
func CanaryCall(text string) (tool string, input map[string]any) {
	return canaryTool, map[string]any{"command": text}
}

// CanaryQuestion returns the arguments of a tool with one question. more contains the other members of the
// question.
func CanaryQuestion(text string, more map[string]any) map[string]any {
	q := map[string]any{"question": text, "header": "doctor", "options": CanaryOptions()}
	maps.Copy(q, more)
	return map[string]any{"questions": []any{q}}
}
