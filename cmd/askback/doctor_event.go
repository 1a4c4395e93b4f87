package main

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/copilot"
)

// A hookCheck is an event that a client sends to a hook, in the format of the client.
type hookCheck struct {
	permission bool
	what       string                        // what is asked, for people
	event      func(c canary) map[string]any // without the members of each event
	want       string                        // a part of each output with an answer
	env        map[string]string             // what the client adds to the environment
}

// checksOf returns the events with which a hook is checked. Most hooks only withdraw asks, and have
// none.
func checksOf(client string, h config.Hook) (checks []hookCheck) {
	gate := strings.Contains(h.Command, " --gate")
	for _, c := range hookChecks[client+" "+h.Event] {
		switch {
		case client == "gemini" && c.permission != gate: // of its two hooks for one event, the guard asks for permissions
		case client == "codex" && h.Event == codex.PreToolUse && c.permission && !gate: // only a guard does
		default:
			checks = append(checks, c)
		}
	}
	return checks
}

// doctorFolder is the folder of all events, whose name is a part of the labels of their asks.
const doctorFolder = "/askback doctor"

// doctorOptions are those of all questions. The answer is another text.
var doctorOptions = []any{
	map[string]any{"label": "yes", "description": "not chosen by askback doctor"},
	map[string]any{"label": "no", "description": "not chosen by askback doctor"},
}

// call returns the members of an event about the call of a tool.
func call(event, tool string, input map[string]any) map[string]any {
	return map[string]any{"hook_event_name": event, "tool_name": tool, "tool_input": input}
}

// doctorTool is a tool that no client has, so that no standing approval applies to it.
const doctorTool = "AskbackDoctor"

func permissionCall(event, tool string) func(c canary) map[string]any {
	return func(c canary) map[string]any { return call(event, tool, map[string]any{"command": c.text}) }
}

func questionCall(event, tool string, more map[string]any) func(c canary) map[string]any {
	return func(c canary) map[string]any {
		q := map[string]any{"question": c.text, "header": "doctor", "options": doctorOptions}
		for name, value := range more {
			q[name] = value
		}
		return call(event, tool, map[string]any{"questions": []any{q}})
	}
}

// hookChecks are the events by client and name. Their payloads are those of the tests of each hook,
// which were recorded.
var hookChecks = map[string][]hookCheck{
	"claude-code " + claudecode.PreToolUse: {{
		what: "a question", want: `"permissionDecision":"allow"`, env: map[string]string{claudecode.EntrypointVariable: "sdk-cli"},
		event: questionCall(claudecode.PreToolUse, claudecode.QuestionTool, map[string]any{"multiSelect": false}),
	}},
	"claude-code " + claudecode.PermissionRequest: {{
		what: "a permission", permission: true, want: `"behavior":"deny"`, env: map[string]string{claudecode.EntrypointVariable: "cli"},
		event: permissionCall(claudecode.PermissionRequest, doctorTool),
	}},
	"codex " + codex.PreToolUse: {{
		what: "a question", want: `"permissionDecision":"deny"`,
		event: questionCall(codex.PreToolUse, codex.QuestionTool, map[string]any{"id": "doctor"}),
	}, {
		what: "a call of a tool", permission: true, want: `"permissionDecision":"deny"`, event: permissionCall(codex.PreToolUse, doctorTool),
	}},
	"codex " + codex.PermissionRequest: {{
		what: "a permission", permission: true, want: `"behavior":"deny"`, event: permissionCall(codex.PermissionRequest, doctorTool),
	}},
	"copilot " + copilot.PreToolUse: {{
		what: "a question", want: `"permissionDecision":"deny"`,
		event: func(c canary) map[string]any {
			field := map[string]any{"type": "string", "title": c.text, "enum": []any{"yes", "no"}}
			return call(copilot.PreToolUse, copilot.QuestionTool, map[string]any{
				"message": c.text, "requestedSchema": map[string]any{"properties": map[string]any{"answer": field}, "required": []any{"answer"}},
			})
		},
	}},
	"copilot " + copilot.PermissionRequest: {{
		what: "a permission", permission: true, want: `"behavior":"deny"`,
		event: func(c canary) map[string]any {
			return map[string]any{
				"hookName": copilot.PermissionRequest, "sessionId": c.token, "timestamp": 1795492516884,
				"toolName": doctorTool, "toolInput": map[string]any{"command": c.text}, "permissionSuggestions": []any{},
			}
		},
	}},
	"cursor beforeShellExecution": {{
		what: "a command", permission: true, want: `"permission":"deny"`,
		event: func(c canary) map[string]any {
			return map[string]any{
				"conversation_id": c.token, "generation_id": c.token, "hook_event_name": "beforeShellExecution", "cursor_version": "2.0.77",
				"workspace_roots": []any{doctorFolder}, "command": c.text, "sandbox": false,
			}
		},
	}},
	"gemini BeforeTool": {{
		what: "a question", want: `"decision":"deny"`, event: questionCall("BeforeTool", "ask_user", map[string]any{"type": "choice"}),
	}, {
		what: "a call of a tool", permission: true, want: `"decision":"deny"`, event: permissionCall("BeforeTool", doctorTool),
	}},
	"opencode ": {{ // what its plugin sends
		what: "a question", want: `"answers":`,
		event: func(c canary) map[string]any {
			return map[string]any{"type": "question.asked", "directory": doctorFolder, "properties": map[string]any{
				"id": "que_" + c.token, "sessionID": c.token,
				"questions": []any{map[string]any{"question": c.text, "header": "doctor", "options": doctorOptions}},
			}}
		},
	}},
}

// payload returns the input of the hook.
func (h hookCheck) payload(client string, c canary) []byte {
	event := h.event(c)
	_, camel := event["hookName"]
	if client != "opencode" {
		event["cwd"] = doctorFolder
	}
	if client != "opencode" && client != "cursor" && !camel {
		event["session_id"] = c.token
	}
	switch client {
	case "claude-code":
		event["transcript_path"], event["permission_mode"], event["prompt_id"] = "/dev/null", "default", c.token
		if !h.permission {
			event["tool_use_id"] = "toolu_" + c.token
		}
	case "codex":
		event["turn_id"], event["transcript_path"], event["model"], event["permission_mode"] = c.token, "/dev/null", "askback-doctor", "default"
		if event["hook_event_name"] == codex.PreToolUse {
			event["tool_use_id"] = "call_" + c.token
		}
	case "gemini":
		event["transcript_path"], event["timestamp"] = "/dev/null", "2026-11-22T07:06:19.264Z"
	case "copilot":
		if !camel {
			event["timestamp"] = "2026-11-22T07:21:28.344Z"
		}
	}
	raw, _ := json.Marshal(event) // strings, lists and objects can always be encoded
	return raw
}
