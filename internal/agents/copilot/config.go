package copilot

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of GitHub Copilot CLI in commands, and in the labels of its asks.
const Name = "copilot"

// Config is the configuration of GitHub Copilot CLI.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces:    config.Traces{Programs: []string{"copilot"}, Home: []string{".copilot"}, List: []string{"mcp", "list"}},
	IsOwnHook: isOwnHook, Guards: true,
}

// An mcpServer is the configuration of an MCP server in the format of GitHub Copilot CLI.
type mcpServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []string          `json:"tools"`
	Timeout int               `json:"timeout"`
}

// A hookEntry is a hook in the format of GitHub Copilot CLI.
type hookEntry struct {
	Type    string `json:"type"`
	Matcher string `json:"matcher,omitempty"`
	Bash    string `json:"bash"`
	Timeout int    `json:"timeoutSec"`
}

// files returns the configuration files of GitHub Copilot CLI. In a project, Copilot also reads .mcp.json,
// the file of Claude Code. Copilot denies a call whose hook fails, so the hook command succeeds without
// effect if askback is not installed.
func files(scope config.Scope, o config.Options) ([]config.File, error) {
	s := mcpServer{
		Type: "local", Command: o.Command, Args: config.WaitingServer, Tools: []string{"*"},
		Timeout: config.MaxWait * 1000,
	}
	if o.URL != "" {
		remote := config.Server{}.WithAddress(o, "${"+config.TokenVariable+"}")
		s = mcpServer{Type: "http", URL: remote.URL, Headers: remote.Headers, Tools: s.Tools, Timeout: s.Timeout}
	}
	servers, hooks := ".github/mcp.json", ".github/hooks/askback.json"
	if scope == config.User {
		servers, hooks = ".copilot/mcp-config.json", ".copilot/hooks/askback.json"
	}
	return []config.File{config.JSONFile(servers, config.Member(s, "mcpServers", "askback")), hooksFile(hooks, o)}, nil
}

// hooksFile returns the file with hooks. It keeps an existing guard unless the options remove the guard.
func hooksFile(path string, o config.Options) config.File {
	entry := func(event, matcher, command string) config.Edit {
		return config.Edit{
			Path: []string{"hooks", event}, List: true, IsOwn: isOwnHook, Hook: hookName,
			Value: config.Compact(hookEntry{Type: "command", Matcher: matcher, Bash: command, Timeout: config.MaxWait}),
		}
	}
	answer := config.HookCommand(o.Command, hookName)
	edits := func(gate bool) []config.Edit {
		permission := entry("permissionRequest", "", answer)
		if gate {
			permission = entry("permissionRequest", "", config.ShellQuote(o.Command)+guardCommand)
		}
		if o.Gate != nil && !*o.Gate {
			permission.Hook = "" // the flags of a guard are not kept
		}
		return []config.Edit{permission, entry("PreToolUse", "AskUserQuestion", answer), config.HookVersion}
	}
	f := config.JSONFile(path, edits(o.Gate != nil && *o.Gate)...)
	f.Write = func(f config.File, present []byte) ([]byte, error) {
		return config.EditJSON(present, f.Removes(),
			edits(o.Gate != nil && *o.Gate || o.Gate == nil && ownGuard().Match(present))...)
	}
	return f
}

// guardCommand is the end of the command of a guard. Copilot denies a call whose hook fails or is missing. It
// allows the call if the hook takes longer than its timeout, so the guard waits for a shorter time.
const guardCommand = " hook " + hookName + " --gate --wait 23h"

// ownGuard matches the flag of a guard that Askback or a person wrote.
var ownGuard = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`askback[^"]* hook ` + hookName + `[^"]* --gate\b`)
})

// hookName is the end of the command of each hook, before any flags.
const hookName = "copilot"

// isOwnHook reports whether any version of Askback wrote the entry, with any flags.
func isOwnHook(entry string) bool {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Bash, " hook "+hookName)
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}

func nextSteps(scope config.Scope, _ config.Options) (todo []string) {
	if scope == config.Project {
		todo = append(todo, "Copilot reads .github/mcp.json and .github/hooks only in trusted folders, and at the "+
			"terminal only in a Git repository: start copilot here and trust the folder; for copilot -p, add "+
			"--trust-folder")
	}
	todo = append(todo, "Copilot asks at the terminal before it uses the tools of askback: allow them there, or "+
		"start it with --allow-tool askback, which copilot -p needs")
	return todo
}
