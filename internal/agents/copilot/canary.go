package copilot

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
			What: "a question", Want: `"permissionDecision":"deny"`,
			Event: func(text, token string) map[string]any {
				field := map[string]any{"type": "string", "title": text, "enum": []any{"yes", "no"}}
				input := map[string]any{
					"message": text,
					"requestedSchema": map[string]any{
						"properties": map[string]any{"answer": field}, "required": []any{"answer"},
					},
				}
				return hook.ToolEvent(PreToolUse, QuestionTool, token, input,
					map[string]any{"timestamp": "2026-11-22T07:21:28.344Z"})
			},
		}}
	case PermissionRequest:
		return []hook.Canary{{
			What: "a permission", Permission: true, Want: `"behavior":"deny"`,
			Event: func(text, token string) map[string]any {
				tool, input := hook.CanaryCall(text)
				return map[string]any{
					"hookName": PermissionRequest, "sessionId": token, "timestamp": int64(1795492516884),
					"cwd": hook.CanaryFolder, "toolName": tool, "toolInput": input, "permissionSuggestions": []any{},
				}
			},
		}}
	}
	return nil
}
