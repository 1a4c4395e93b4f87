package claudecode_test

import (
	"fmt"
	"testing"

	"github.com/askback/askback/internal/agents/claudecode"
)

// A tool of the plugin is allowed without a dialog only if Claude Code sends that the plugin
// configures its server. People are asked about the tool of any other server with the same
// name (T47).
func TestOnlyToolsOfThePluginAreAllowed(t *testing.T) {
	const (
		name   = "mcp__plugin_askback_askback__ask_user_question"
		plugin = `,"mcp_server":{"name":"plugin:askback:askback","source":"plugin"}`
	)
	for what, c := range map[string]struct {
		event, tool, server string
		allowed, asks       bool
	}{
		"the plugin":                    {"PreToolUse", name, plugin, true, false},
		"the plugin, in its permission": {"PermissionRequest", name, plugin, false, false},
		"another tool of the plugin's server": {
			"PreToolUse", "mcp__plugin_askback_askback__delete", plugin, false, true,
		},
		"a server of the project": {
			"PreToolUse", name, `,"mcp_server":{"name":"plugin_askback_askback","source":"project"}`, false, true,
		},
		"a server with the name in the event": {
			"PreToolUse", name, `,"mcp_server":{"name":"plugin:askback:askback","source":"project"}`, false, true,
		},
		"an unknown server": {"PreToolUse", name, "", false, false},
		"a server in another form": {
			"PreToolUse", name, `,"mcp_server":"plugin:askback:askback"`, false, false,
		},
		"another plugin": {
			"PreToolUse", "mcp__plugin_other_askback__ask_user_question",
			`,"mcp_server":{"name":"plugin:other:askback","source":"plugin"}`, false, true,
		},
		"the plugin under another tool's name": {"PreToolUse", "mcp__askback__ask_user_question", plugin, false, true},
		"the server of init": {
			"PreToolUse", "mcp__askback__ask_user_question", `,"mcp_server":{"name":"askback","source":"project"}`,
			false, false,
		},
		"a tool that is not of MCP": {"PreToolUse", "Bash", plugin, false, true},
	} {
		t.Run(what, func(t *testing.T) {
			ev := event(t, fmt.Sprintf(
				`{"session_id":"s1","prompt_id":"p1","hook_event_name":%q,"tool_name":%q,"tool_input":{"a":1}%s}`,
				c.event, c.tool, c.server,
			))
			if out, ok := claudecode.AllowOwnTool(ev); ok != c.allowed || ok != (out != nil) {
				t.Errorf("allowed: got %v, %s", ok, out)
			}
			if _, asks := requestOf(ev); asks != c.asks {
				t.Errorf("asks: got %v", asks)
			}
		})
	}
}

// A program that Claude Code started inherits the environment of Claude Code. Its events have another session
// id, so they are recognized.
func TestEventOfAChildProcessIsRecognized(t *testing.T) {
	copilot := event(t, `{"session_id":"own","prompt_id":"p1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`)
	if copilot.IsInherited("other") {
		t.Error("an event without members of other programs is inherited")
	}
	ev, err := claudecode.Read([]byte(`{"session_id":"own","timestamp":"2026-11-22T07:21:28Z","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`), "cli")
	if err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]bool{"own": false, "": false, "other": true} {
		if got := ev.IsInherited(session); got != want {
			t.Errorf("session %q: got %v", session, got)
		}
	}
}
