package codex

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of Codex in commands, and in the labels of its asks.
const Name = "codex"

// Config is the configuration of Codex.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces: config.Traces{Programs: []string{"codex"}, Home: []string{".codex"}, List: []string{"mcp", "list"}},
	Guards: true, Lane: laneIn, Hooks: hooksIn,
}

// locationVariables are the environment variables that determine which server a command of
// Askback uses. Codex passes only listed variables to an MCP server.
var locationVariables = []string{"ASKBACK_CONFIG", "ASKBACK_DB", config.TokenVariable, "ASKBACK_URL", "XDG_STATE_HOME"}

// tomlArray returns a TOML array on one line.
func tomlArray(list []string) string {
	return "[" + strings.ReplaceAll(strings.Trim(config.Compact(list), "[]"), ",", ", ") + "]"
}

func files(_ config.Scope, o config.Options) ([]config.File, error) {
	return []config.File{{
		Path: ".codex/config.toml", Paste: tablesOf(o, o.Gate != nil && *o.Gate),
		Write: func(f config.File, present []byte) ([]byte, error) { return editCodex(f, o, present) },
	}}, nil
}

// editCodex adds Askback to present, the configuration of Codex, or removes Askback from it. It keeps a guard
// and its flags unless the options remove the guard. It returns an error if present is not TOML.
func editCodex(f config.File, o config.Options, present []byte) ([]byte, error) {
	if !f.Removes() {
		if err := checkTOML(string(present)); err != nil {
			return nil, err
		}
	}
	text, err := withoutTTYSetting(string(present))
	if err == nil && f.Removes() {
		text, err = withoutHookState(text, o.Folder)
	}
	if err != nil {
		return nil, err
	}
	gate := o.Gate != nil && *o.Gate || o.Gate == nil && ownGuard().Match(present)
	f.Paste = tablesOf(o, gate)
	if guard := ownGuard().FindString(string(present)); gate && guard != "" {
		f.Paste = withGuard(f.Paste, guard)
	}
	if gate && !f.Removes() {
		var found bool
		if text, found = withTTYSetting(text); !found {
			f.Paste += "\n[features]\n" + ttySetting + "\n"
		}
	}
	return editTOML(f, []byte(text))
}

// ownGuard matches the command of the guard, including its flags.
var ownGuard = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\baskback["']*\s+hook\s+codex\b[^|"\n]*\s--gate\b[^|"\n]*(?:"| \|\|)`)
})

// withGuard returns tables with the flags of the existing guard.
func withGuard(tables, guard string) string {
	before, own, after := cutMatch(tables, ownGuard())
	return before + config.WithFlags(own, guard, "codex") + after
}

func cutMatch(text string, pattern *regexp.Regexp) (before, match, after string) {
	at := pattern.FindStringIndex(text)
	if at == nil {
		return text, "", ""
	}
	return text[:at[0]], text[at[0]:at[1]], text[at[1]:]
}

// tablesOf returns the tables of Askback in the configuration of Codex.
func tablesOf(o config.Options, gate bool) string {
	lines := []string{"[mcp_servers.askback]"}
	if o.URL == "" {
		lines = append(lines, "command = "+config.Compact(o.Command), "args = "+tomlArray(config.WaitingServer),
			"env_vars = "+tomlArray(locationVariables))
	} else {
		lines = append(lines, "url = "+config.Compact(o.URL+"/mcp"),
			"bearer_token_env_var = "+config.Compact(config.TokenVariable))
	}
	lines = append(lines, fmt.Sprintf("tool_timeout_sec = %d", config.MaxWait))
	return strings.Join(append(lines, hookLines(o, gate)...), "\n") + "\n"
}

// The timeouts of hooks in seconds. Codex limits the timeout of the hook at the end of a session to endTime.
const (
	promptTime = 10
	endTime    = 3
)

// gateLimit is how long a guard waits. It is shorter than the timeout of the hook, after which Codex runs the
// tool.
const gateLimit = "23h"

// hookLines returns the hooks of Codex. If askback is missing, a hook has no effect on Codex, except for a
// guard, which then blocks the call. A hook that exits with 2 blocks a call only if it writes a reason.
func hookLines(o config.Options, gate bool) []string {
	run := config.ShellQuote(o.Command) + " hook codex"
	answer, matcher := run+" || exit 0", "^request_user_input$"
	question := answer
	if gate {
		matcher = ".*"
		question = run + " --gate --limit " + gateLimit +
			` || sh -c 'echo "This call was not approved, so it must not run." >&2; exit 2'`
	}
	const status = "Waiting for an answer in Askback"
	var lines []string
	add := func(event, matcher, command string, timeout int, status string) {
		lines = append(lines, "", "[[hooks."+event+"]]")
		if matcher != "" {
			lines = append(lines, "matcher = "+config.Compact(matcher))
		}
		handler := `type = "command", command = ` + config.Compact(command) + fmt.Sprintf(", timeout = %d", timeout)
		if status != "" {
			handler += ", statusMessage = " + config.Compact(status)
		}
		lines = append(lines, "hooks = [{ "+handler+" }]")
	}
	add("PermissionRequest", ".*", answer, config.MaxWait, status)
	add("PreToolUse", matcher, question, config.MaxWait, status)
	add("UserPromptSubmit", "", answer, promptTime, "")
	add("Stop", "", answer, promptTime, "")
	add("Interrupt", "", answer, endTime, "")
	add("SessionEnd", "", answer, endTime, "")
	return lines
}

func nextSteps(scope config.Scope, _ config.Options) (todo []string) {
	if scope == config.Project {
		todo = append(todo, "Codex silently ignores .codex/config.toml until this project is trusted: start codex "+
			"here and trust it, run codex exec --trust, or use --user")
	}
	todo = append(todo,
		`start codex once, and trust the hooks of Askback when it says "Hooks need review"; until then codex exec silently skips them, and --gate blocks nothing`,
		"restart Codex if it is running; its daemon, which runs the hooks too, keeps the old environment until you "+
			"run codex app-server daemon restart")
	return todo
}
