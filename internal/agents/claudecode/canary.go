package claudecode

import (
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// Canaries returns the questions that askback doctor asks through the hook h, or nil if the hook asks
// nothing.
func Canaries(h config.Hook) []hook.Canary {
	switch h.Event {
	case PreToolUse:
		return []hook.Canary{{
			What: "a question", Want: `"permissionDecision":"allow"`,
			Env: map[string]string{EntrypointVariable: "sdk-cli"},
			Event: func(text, token string) map[string]any {
				input := hook.CanaryQuestion(text, map[string]any{"multiSelect": false})
				return canaryEvent(PreToolUse, QuestionTool, token, input, "toolu_"+token)
			},
		}}
	case PermissionRequest:
		return []hook.Canary{{
			What: "a permission", Permission: true, Want: `"behavior":"deny"`,
			Env: map[string]string{EntrypointVariable: "cli"},
			Event: func(text, token string) map[string]any {
				tool, input := hook.CanaryCall(text)
				return canaryEvent(PermissionRequest, tool, token, input, "")
			},
		}}
	}
	return nil
}

func canaryEvent(event, tool, token string, input any, call string) map[string]any {
	more := map[string]any{"transcript_path": "/dev/null", "permission_mode": "default", "prompt_id": token}
	if call != "" {
		more["tool_use_id"] = call
	}
	return hook.ToolEvent(event, tool, token, input, more)
}
