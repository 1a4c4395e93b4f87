package config

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/lazyregexp"
)

// copilotServer is the configuration of an MCP server in the format of GitHub Copilot CLI.
type copilotServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []string          `json:"tools"`
	Timeout int               `json:"timeout"`
}

// copilotHook is a hook in the format of GitHub Copilot CLI.
type copilotHook struct {
	Type    string `json:"type"`
	Matcher string `json:"matcher,omitempty"`
	Bash    string `json:"bash"`
	Timeout int    `json:"timeoutSec"`
}

// copilot returns the files of GitHub Copilot CLI. In a project it also reads .mcp.json, which is
// Claude Code's. It denies a call whose hook fails, so the command of a hook does nothing for
// people who do not have the program.
func copilot(scope Scope, o Options) ([]File, error) {
	s := copilotServer{Type: "local", Command: o.Command, Args: waitingServer, Tools: []string{"*"}, Timeout: maxWait * 1000}
	if o.URL != "" {
		remote := server{}.withAddress(o, "${"+TokenVariable+"}")
		s = copilotServer{Type: "http", URL: remote.URL, Headers: remote.Headers, Tools: s.Tools, Timeout: s.Timeout}
	}
	servers, hooks := ".github/mcp.json", ".github/hooks/askback.json"
	if scope == User {
		servers, hooks = ".copilot/mcp-config.json", ".copilot/hooks/askback.json"
	}
	return []File{jsonFile(servers, member(s, "mcpServers", "askback")), copilotHooks(hooks, o)}, nil
}

// copilotHooks returns the file with hooks. A guard stays unless o removes it.
func copilotHooks(path string, o Options) File {
	entry := func(event, matcher, command string) edit {
		return edit{
			path: []string{"hooks", event}, list: true, isOwn: isOwnCopilotHook, hook: copilotHookName,
			value: compact(copilotHook{Type: "command", Matcher: matcher, Bash: command, Timeout: maxWait}),
		}
	}
	answer := hookCommand(o.Command, copilotHookName)
	file := func(gate bool) File {
		permission := entry("permissionRequest", "", answer)
		if gate {
			permission = entry("permissionRequest", "", shellQuote(o.Command)+copilotGuard)
		}
		if o.Gate != nil && !*o.Gate {
			permission.hook = "" // the flags of a guard do not stay
		}
		return jsonFile(path, permission, entry("PreToolUse", "AskUserQuestion", answer), hookVersion)
	}
	f := file(o.Gate != nil && *o.Gate)
	f.write = func(f File, present []byte) ([]byte, error) {
		changed := file(o.Gate != nil && *o.Gate || o.Gate == nil && ownCopilotGuard().Match(present))
		changed.remove = f.remove
		return editJSON(changed, present)
	}
	return f
}

// copilotGuard is the end of the command of a guard. Copilot denies a call whose hook fails, or is missing.
// It does not if the hook takes longer than its timeout, so the wait is shorter.
const copilotGuard = " hook " + copilotHookName + " --gate --wait 23h"

// ownCopilotGuard matches the flag of a guard that Askback or a person wrote.
var ownCopilotGuard = lazyregexp.New(`askback[^"]* hook ` + copilotHookName + `[^"]* --gate\b`)

// hookVersion is the version of the format of the file with hooks.
var hookVersion = edit{path: []string{"version"}, value: "1", keepWithOthers: true}

// copilotHookName is the end of the command of each hook, before any flags.
const copilotHookName = "copilot"

// isOwnCopilotHook reports whether any version of Askback wrote the entry, with any flags.
func isOwnCopilotHook(entry string) bool {
	var h copilotHook
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Bash, " hook "+copilotHookName)
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}
