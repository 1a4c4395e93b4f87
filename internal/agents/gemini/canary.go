package gemini

import (
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// Canaries returns the questions that askback doctor asks through a hook. Of the two hooks for one event, the
// guard asks for permissions, and the other hook asks questions.
func Canaries(h config.Hook) []hook.Canary {
	if h.Event != BeforeTool {
		return nil
	}
	c := hook.Canary{What: "a question", Want: `"decision":"deny"`, Permission: h.Gate()}
	if c.Permission {
		c.What = "a call of a tool"
	}
	c.Event = func(text, token string) map[string]any {
		var input any = hook.CanaryQuestion(text, map[string]any{"type": "choice"})
		tool := QuestionTool
		if c.Permission {
			tool, input = hook.CanaryCall(text)
		}
		return hook.ToolEvent(BeforeTool, tool, token, input,
			map[string]any{"transcript_path": "/dev/null", "timestamp": "2026-11-22T07:06:19.264Z"})
	}
	return []hook.Canary{c}
}
