package codex

import (
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// Canaries returns the questions that askback doctor asks through a hook. For PreToolUse, only a guard asks
// about tools.
func Canaries(h config.Hook) []hook.Canary {
	switch h.Event {
	case PreToolUse:
		question := hook.Canary{
			What: "a question", Want: `"permissionDecision":"deny"`,
			Event: func(text, token string) map[string]any {
				return canaryEvent(PreToolUse, QuestionTool, token,
					hook.CanaryQuestion(text, map[string]any{"id": "doctor"}))
			},
		}
		if !h.Gate() {
			return []hook.Canary{question}
		}
		return []hook.Canary{question, canaryCall("a call of a tool", PreToolUse, `"permissionDecision":"deny"`)}
	case PermissionRequest:
		return []hook.Canary{canaryCall("a permission", PermissionRequest, `"behavior":"deny"`)}
	}
	return nil
}

func canaryCall(what, event, want string) hook.Canary {
	return hook.Canary{What: what, Permission: true, Want: want, Event: func(text, token string) map[string]any {
		tool, input := hook.CanaryCall(text)
		return canaryEvent(event, tool, token, input)
	}}
}

func canaryEvent(event, tool, token string, input any) map[string]any {
	more := map[string]any{
		"turn_id": token, "transcript_path": "/dev/null", "model": "askback-doctor", "permission_mode": "default",
	}
	if event == PreToolUse {
		more["tool_use_id"] = "call_" + token
	}
	return hook.ToolEvent(event, tool, token, input, more)
}
