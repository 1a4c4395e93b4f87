package claudecode

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback/internal/agents/hook"
)

// The names of Askback's MCP server in Claude Code's plugin. The names of its tools contain pluginServer.
// Events about its tools contain pluginName.
const (
	pluginServer = "plugin_askback_askback"
	pluginName   = "plugin:askback:askback"
)

// PluginTools is the pattern of the names of Askback's tools in Claude Code's plugin.
const PluginTools = "mcp__" + pluginServer + "__.*"

// The environment variables with the folder of the plugin that runs a hook, and of the project.
const (
	PluginVariable  = "CLAUDE_PLUGIN_ROOT"
	ProjectVariable = "CLAUDE_PROJECT_DIR"
)

// sourcePlugin is the source of a server that a plugin configures.
const sourcePlugin = "plugin"

// A ToolServer is the MCP server of a tool. Source is the place of its configuration, such as "plugin".
type ToolServer struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// readToolServer parses the member mcp_server of an event. It returns a server without a name if raw is nil
// or has another form.
func readToolServer(raw json.RawMessage) ToolServer {
	var s ToolServer
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return ToolServer{}
	}
	return s
}

// isOwn reports whether an event is about a tool of Askback. Tools of other servers can have the same name.
// For example, plugin_askback_askback is the server of the plugin, or a server that a project configures. If
// Claude Code sends the server, the server must be Askback's.
func isOwn(ev Event) bool {
	server, tool := hook.SplitToolName(ev.Tool)
	if !slices.Contains(hook.OwnTools, tool) {
		return false
	}
	unknown := ev.ToolServer.Name == ""
	switch server {
	case hook.OwnServer:
		return unknown || ev.ToolServer.Name == hook.OwnServer
	case pluginServer:
		return unknown || ev.isOfPlugin()
	}
	return false
}

// isOfPlugin reports whether Askback's plugin configures the server of the event's tool.
func (ev Event) isOfPlugin() bool {
	return ev.ToolServer == ToolServer{Name: pluginName, Source: sourcePlugin}
}

// allowOwnTool returns the output that lets the model call a tool of Askback in Claude Code's plugin without
// a dialog. These tools only ask people. askback init writes rules for this purpose, which a plugin cannot
// have. ok is false for every other event, even for a tool of a server that merely has the same name. The
// rules of the user take precedence: Claude Code ignores the output if a rule asks or denies.
func allowOwnTool(ev Event) (out []byte, ok bool) {
	if ev.Name != PreToolUse || !isOwn(ev) || !ev.isOfPlugin() {
		return nil, false
	}
	return []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`), true
}

// isInherited reports whether a program that Claude Code started sent the event. Such a program has the
// environment of Claude Code, but sends events of its own. session is the value of [SessionVariable].
func (ev Event) isInherited(session string) bool {
	return ev.foreign && session != "" && session != ev.SessionID
}
