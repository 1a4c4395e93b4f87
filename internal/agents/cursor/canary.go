package cursor

import (
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// Canaries returns the questions that askback doctor asks through the hook h, or nil if the hook asks
// nothing.
func Canaries(h config.Hook) []hook.Canary {
	if h.Event != BeforeShellExecution {
		return nil
	}
	return []hook.Canary{{
		What: "a command", Permission: true, Want: `"permission":"deny"`,
		Event: func(text, token string) map[string]any {
			return map[string]any{
				"conversation_id": token, "generation_id": token, "hook_event_name": BeforeShellExecution,
				"cursor_version": "2.0.77", "workspace_roots": []any{hook.CanaryFolder}, "command": text,
				"sandbox": false, "cwd": hook.CanaryFolder,
			}
		},
	}}
}
