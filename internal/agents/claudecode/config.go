package claudecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of Claude Code in commands, and in the labels of its asks.
const Name = "claude-code"

// Config is the configuration of Claude Code.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces: config.Traces{
		Programs: []string{"claude"}, Home: []string{".claude", ".claude.json"}, List: []string{"mcp", "list"},
	},
	IsOwnHook: isOwnHook, HookLists: true, HookPath: Path, HoldsAsks: true,
	Variables: []string{EntrypointVariable, SessionVariable, PluginVariable, ProjectVariable},
}

// hookName is the end of the command or of the URL of each hook, before any flags.
const hookName = "claude-code"

func files(scope config.Scope, o config.Options) ([]config.File, error) {
	servers := map[config.Scope]string{config.Project: ".mcp.json", config.User: ".claude.json"}[scope]
	if servers == "" {
		return nil, fmt.Errorf("%w: unknown scope; use project or user", config.ErrUnsupported)
	}
	settings := []string{".claude/settings.local.json", ".claude/settings.json"}
	if o.Shared || scope == config.User {
		slices.Reverse(settings)
	}
	if o.Shared {
		o.Command = "askback" // a path would be valid only on this machine
	}
	edits := allowTools()
	for _, h := range configHooks {
		edits = append(edits, hookEdit(h.event, config.Compact(h.group(o))))
	}
	files := []config.File{
		config.JSONFile(servers, config.Member(mcpServer(o), "mcpServers", "askback")),
		config.JSONFile(settings[0], edits...),
	}
	if scope == config.Project {
		other := config.JSONFile(settings[1], edits...)
		other.Moved = true
		files = append(files, other)
	}
	return files, nil
}

// hookEdit returns an edit that adds a group of hooks for an event.
func hookEdit(event, group string) config.Edit {
	return config.Edit{
		Path: []string{"hooks", event}, Value: group, List: true, Group: "hooks", IsOwn: isOwnHook, Hook: hookName,
	}
}

// HasHook reports whether settings of Claude Code have a hook of Askback for an event. It returns false if
// the content is not JSON.
func HasHook(settings []byte, event string) bool {
	return slices.ContainsFunc(Config.HooksIn(settings), func(h config.Hook) bool { return h.Event == event })
}

func mcpServer(o config.Options) config.Server {
	return config.Server{Type: config.Transport(o), Timeout: config.MaxWait * 1000}.WithAddress(o,
		"${"+config.TokenVariable+"}")
}

// Plugin returns the files of Claude Code's plugin, keyed by their path in the plugin's folder. They contain
// the hooks and the MCP server that [config.Client.FilesFor] writes. A plugin cannot have rules that allow
// tools, so a further hook allows the tools of Askback.
func Plugin() map[string][]byte {
	o := config.Options{Command: "askback"}
	groups := map[string][]hookGroup{}
	for _, h := range append([]configHook{{event: PreToolUse, matcher: PluginTools, timeout: 10}}, configHooks...) {
		groups[h.event] = append(groups[h.event], h.group(o))
	}
	return map[string][]byte{
		"hooks/hooks.json": []byte(config.Indented(config.Compact(map[string]any{"hooks": groups}), "", "  ") + "\n"),
		".mcp.json": []byte(config.Indented(
			config.Compact(map[string]any{"mcpServers": map[string]config.Server{"askback": mcpServer(o)}}), "", "  ",
		) + "\n"),
	}
}

// SharesHooks reports whether a file of Claude Code has hooks that [config.Options.Shared] wrote. Hooks of
// earlier versions, which require the program, do not count.
func SharesHooks(settings []byte) bool {
	return slices.ContainsFunc(configHooks, func(h configHook) bool {
		entry := h.group(config.Options{Command: "askback"}).Hooks[0].Command
		return bytes.Contains(settings, []byte(strings.Trim(config.Compact(entry), `"`)))
	})
}

// allowTools returns the edits that let Claude Code call the tools of Askback without a dialog. Other tools
// of a server named askback still need approval. Earlier versions of Askback wrote one rule for the whole
// server, which the last edit removes. The list then has other rules, so it is never removed as empty.
func allowTools() (edits []config.Edit) {
	for i, tool := range OwnTools {
		rule, last := config.Compact("mcp__askback__"+tool), i == len(OwnTools)-1
		edits = append(edits,
			config.Edit{Path: []string{"permissions", "allow"}, Value: rule, List: true, IsOwn: func(v string) bool {
				return v == rule || last && v == `"mcp__askback"`
			}})
	}
	return edits
}

// A configHook is a hook for one event. A hook that only withdraws asks is async, so that it does not delay
// the session. The hook at the end of a session is not async.
type configHook struct {
	event, matcher string
	timeout        int
	async          bool
}

var configHooks = []configHook{
	{event: "PermissionRequest", matcher: "*", timeout: config.MaxWait},
	{event: "PreToolUse", matcher: "AskUserQuestion", timeout: config.MaxWait}, // for claude -p
	{event: "Elicitation", matcher: "*", timeout: config.MaxWait},
	{event: "ElicitationResult", matcher: "*", timeout: 10, async: true},
	// No hook reports that a person approved a call at the terminal. Only the hook that runs after the tool
	// shows the approval.
	{event: "PostToolUse", matcher: "*", timeout: 10, async: true},
	{event: "PostToolUseFailure", matcher: "*", timeout: 10, async: true},
	{event: "UserPromptSubmit", timeout: 10, async: true},
	{event: "Stop", timeout: 10, async: true},
	{event: "SessionEnd", timeout: 10}, // Claude Code does not wait for async hooks when it ends
}

type hookGroup struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Allowed []string          `json:"allowedEnvVars,omitempty"`
	Timeout int               `json:"timeout"`
	Async   bool              `json:"async,omitempty"`
}

// group returns the hook in the format of Claude Code's settings.
func (h configHook) group(o config.Options) hookGroup {
	entry := hookEntry{
		Type: "command", Command: config.HookCommand(o.Command, hookName), Timeout: h.timeout, Async: h.async,
	}
	if o.HookURL != "" {
		entry = hookEntry{
			Type: "http", URL: o.HookURL, Timeout: h.timeout,
			Headers: map[string]string{
				"Authorization": "Bearer $" + config.TokenVariable, EntrypointHeader: "$" + EntrypointVariable,
			},
			Allowed: []string{config.TokenVariable, EntrypointVariable},
		}
	}
	return hookGroup{h.matcher, []hookEntry{entry}}
}

// isOwnHook reports whether any version of Askback wrote the entry. The path of the program
// may differ, and a user may have added flags such as --defer.
func isOwnHook(entry string) bool {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Command, " hook "+hookName)
	address, _, _ := strings.Cut(h.URL, "?")
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ') ||
		h.Type == "http" && strings.HasSuffix(address, "/"+hookName) &&
			strings.Contains(h.Headers["Authorization"], config.TokenVariable)
}

// pluginID is the name of the plugin with its marketplace.
const pluginID = "askback@askback"

// EnablesPlugin reports whether settings of Claude Code turn Askback's plugin on. known is false if the
// settings turn the plugin neither on nor off.
func EnablesPlugin(settings []byte) (enabled, known bool) {
	text, ok := config.Find(settings, "enabledPlugins", pluginID)
	return text == "true", ok && (text == "true" || text == "false")
}

// InstalledPlugin reports whether Claude Code's list of installed plugins contains the plugin of Askback.
func InstalledPlugin(list []byte) bool {
	var installed struct{ Plugins map[string]json.RawMessage }
	return json.Unmarshal(list, &installed) == nil && len(installed.Plugins[pluginID]) > 2 // not [] or {}
}

func nextSteps(_ config.Scope, o config.Options) (todo []string) {
	todo = []string{"start Claude Code here; when it asks about the MCP server askback, choose to use it " +
		"(continuing without it is preselected)"}
	if o.HookURL != "" {
		todo = append(todo,
			"in the environment of Claude Code, set "+config.TokenVariable+" to the token of an agent; "+
				"Claude Code sends hooks only to loopback and to public addresses: for a server on a private network, "+
				"use --no-http")
	}
	return todo
}
