package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents/claudecode"
)

// hookName is the end of the command or of the URL of each hook, before any flags.
const hookName = "claude-code"

func claudeCode(scope Scope, o Options) ([]File, error) {
	servers := map[Scope]string{Project: ".mcp.json", User: ".claude.json"}[scope]
	if servers == "" {
		return nil, fmt.Errorf("%w: unknown scope; use project or user", ErrUnsupported)
	}
	settings := []string{".claude/settings.local.json", ".claude/settings.json"}
	if o.Shared || scope == User {
		slices.Reverse(settings)
	}
	if o.Shared {
		o.Command = "askback" // a path would be valid on this machine only
	}
	edits := allowTools()
	for _, h := range claudeHooks {
		edits = append(edits, hookEdit(h.event, compact(h.group(o))))
	}
	files := []File{jsonFile(servers, member(claudeServer(o), "mcpServers", "askback")), jsonFile(settings[0], edits...)}
	if scope == Project {
		other := jsonFile(settings[1], edits...)
		other.moved = true
		files = append(files, other)
	}
	return files, nil
}

// hookEdit returns an edit that adds a group of hooks for an event.
func hookEdit(event, group string) edit {
	return edit{path: []string{"hooks", event}, value: group, list: true, group: "hooks", isOwn: isOwnHook, hook: hookName}
}

// HasHook reports whether settings of Claude Code have a hook of Askback for an event. Content
// that is not JSON has none.
func HasHook(settings []byte, event string) bool {
	root, err := parse(string(settings))
	if err != nil {
		return false
	}
	e := hookEdit(event, "")
	list, rest := find(root, e.path)
	return len(rest) == 0 && len(e.ownEntries(string(settings), list)) > 0
}

func claudeServer(o Options) server {
	return server{Type: transport(o), Timeout: maxWait * 1000}.withAddress(o, "${"+TokenVariable+"}")
}

// Plugin returns the files of Claude Code's plugin that contain what [Files] writes: hooks and
// the MCP server, by path in the plugin's folder. A plugin has no rules that allow tools, so
// it has a hook that allows its own.
func Plugin() map[string][]byte {
	o := Options{Command: "askback"}
	groups := map[string][]hookGroup{}
	for _, h := range append([]claudeHook{{event: claudecode.PreToolUse, matcher: claudecode.PluginTools, timeout: 10}}, claudeHooks...) {
		groups[h.event] = append(groups[h.event], h.group(o))
	}
	return map[string][]byte{
		"hooks/hooks.json": []byte(indented(compact(map[string]any{"hooks": groups}), "", "  ") + "\n"),
		".mcp.json":        []byte(indented(compact(map[string]any{"mcpServers": map[string]server{"askback": claudeServer(o)}}), "", "  ") + "\n"),
	}
}

// SharesHooks reports whether a file of Claude Code has hooks that [Options.Shared] wrote.
// Hooks of earlier versions, which require the program, are not among them.
func SharesHooks(settings []byte) bool {
	return slices.ContainsFunc(claudeHooks, func(h claudeHook) bool {
		entry := h.group(Options{Command: "askback"}).Hooks[0].Command
		return bytes.Contains(settings, []byte(strings.Trim(compact(entry), `"`)))
	})
}

// allowTools returns the edits that let Claude Code call the tools of Askback without a
// dialog. Other tools of a server named askback still need approval. Earlier versions of
// Askback wrote one rule for the whole server. The last edit removes that rule: the list then
// has other rules, so it is never removed as empty.
func allowTools() (edits []edit) {
	for i, tool := range claudecode.OwnTools {
		rule, last := compact("mcp__askback__"+tool), i == len(claudecode.OwnTools)-1
		edits = append(edits, edit{path: []string{"permissions", "allow"}, value: rule, list: true, isOwn: func(v string) bool {
			return v == rule || last && v == `"mcp__askback"`
		}})
	}
	return edits
}

// claudeHook is a hook for one event. Hooks that only withdraw asks are async, so that they do
// not delay the session, except at its end.
type claudeHook struct {
	event, matcher string
	timeout        int
	async          bool
}

var claudeHooks = []claudeHook{
	{event: "PermissionRequest", matcher: "*", timeout: maxWait},
	{event: "PreToolUse", matcher: "AskUserQuestion", timeout: maxWait}, // for claude -p
	{event: "Elicitation", matcher: "*", timeout: maxWait},
	{event: "ElicitationResult", matcher: "*", timeout: 10, async: true},
	// No hook reports that a person approved a call at the terminal. Askback knows it only
	// after the tool has run.
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
func (h claudeHook) group(o Options) hookGroup {
	entry := hookEntry{Type: "command", Command: hookCommand(o.Command, hookName), Timeout: h.timeout, Async: h.async}
	if o.HookURL != "" {
		entry = hookEntry{
			Type: "http", URL: o.HookURL, Timeout: h.timeout,
			Headers: map[string]string{"Authorization": "Bearer $" + TokenVariable, claudecode.EntrypointHeader: "$" + claudecode.EntrypointVariable},
			Allowed: []string{TokenVariable, claudecode.EntrypointVariable},
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
		h.Type == "http" && strings.HasSuffix(address, "/"+hookName) && strings.Contains(h.Headers["Authorization"], TokenVariable)
}
