package opencode

import (
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// Canaries returns the events that askback doctor sends in place of the plugin.
func Canaries(config.Hook) []hook.Canary {
	return []hook.Canary{{
		What: "a question", Want: `"answers":`,
		Event: func(text, token string) map[string]any {
			properties := hook.CanaryQuestion(text, nil)
			properties["id"], properties["sessionID"] = "que_"+token, token
			return map[string]any{"type": QuestionAsked, "directory": hook.CanaryFolder, "properties": properties}
		},
	}}
}
