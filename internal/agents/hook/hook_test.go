package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// When a hook ends, its ask is withdrawn only if no other process can deliver the answer.
func TestOnlyAsksWithoutAnotherReaderNeedTheirHook(t *testing.T) {
	seated := string(hook.Origin{Hook: "BeforeTool", Session: "s", Seated: true}.JSON())
	for context, want := range map[string]bool{
		seated: true,
		string(hook.Origin{Hook: "BeforeTool", Session: "s"}.JSON()):           false,
		string(hook.Origin{Hook: "BeforeTool", Seated: true}.JSON()):           false,
		`{"hook": "PermissionRequest", "claude_session": "s"}`:                 true,
		`{"hook": "Elicitation", "claude_session": "s"}`:                       true,
		`{"hook": "PreToolUse", "claude_session": "s"}`:                        false,
		`{"hook": "PreToolUse", "codex_session": "s", "seated": true}`:         true,
		`{"hook": "permission_prompt", "claude_session": "s", "seated": true}`: false,
		`{"Hook": "PermissionRequest", "claude_session": "s"}`:                 false,
		`["hook"]`: false,
		``:         false,
	} {
		for label, known := range map[string]bool{
			"claude-code": true, hook.Label("gemini", "/srv/shop"): true, "deploy-bot": false,
			hook.Label("deploy-bot", "/srv/gemini"): false,
		} {
			if got := hook.NeedsHook(askback.Ask{Agent: label, Context: json.RawMessage(context)},
				[]string{"claude-code", "gemini"}); got != (want && known) {
				t.Errorf("%s with the context %s: got %v, want %v", label, context, got, want && known)
			}
		}
	}
}
