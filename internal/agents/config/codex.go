package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/askback/askback/internal/lazyregexp"
)

// locationVariables are the environment variables that determine which server a command of
// Askback uses. Codex passes only listed variables to an MCP server.
var locationVariables = []string{"ASKBACK_CONFIG", "ASKBACK_DB", TokenVariable, "ASKBACK_URL", "XDG_STATE_HOME"}

// tomlArray returns a TOML array on one line.
func tomlArray(list []string) string {
	return "[" + strings.ReplaceAll(strings.Trim(compact(list), "[]"), ",", ", ") + "]"
}

func codex(_ Scope, o Options) ([]File, error) {
	return []File{{
		Path: ".codex/config.toml", paste: codexTables(o, o.Gate != nil && *o.Gate),
		write: func(f File, present []byte) ([]byte, error) { return editCodex(f, o, present) },
	}}, nil
}

// editCodex edits the configuration of Codex. A guard stays unless o removes it.
func editCodex(f File, o Options, present []byte) ([]byte, error) {
	if !f.remove {
		if err := checkTOML(string(present)); err != nil {
			return nil, err
		}
	}
	text, err := withoutTTYSetting(string(present))
	if err != nil {
		return nil, err
	}
	gate := o.Gate != nil && *o.Gate || o.Gate == nil && ownGuard().Match(present)
	f.paste = codexTables(o, gate)
	if guard := ownGuard().FindString(string(present)); gate && guard != "" {
		f.paste = withGuard(f.paste, guard)
	}
	if gate && !f.remove {
		var found bool
		if text, found = withTTYSetting(text); !found {
			f.paste += "\n[features]\n" + ttySetting + "\n"
		}
	}
	return editTOML(f, []byte(text))
}

// ownGuard matches the command of the guard, up to what follows its flags.
var ownGuard = lazyregexp.New(`\baskback["']*\s+hook\s+codex\b[^|"\n]*\s--gate\b[^|"\n]*(?:"| \|\|)`)

// withGuard returns tables with the flags of a guard that is there.
func withGuard(tables, guard string) string {
	before, own, after := cutMatch(tables, ownGuard())
	return before + withFlags(own, guard, "codex") + after
}

func cutMatch(text string, pattern *regexp.Regexp) (before, match, after string) {
	at := pattern.FindStringIndex(text)
	if at == nil {
		return text, "", ""
	}
	return text[:at[0]], text[at[0]:at[1]], text[at[1]:]
}

// codexTables returns the tables of Askback in the configuration of Codex.
func codexTables(o Options, gate bool) string {
	lines := []string{"[mcp_servers.askback]"}
	if o.URL == "" {
		lines = append(lines, "command = "+compact(o.Command), "args = "+tomlArray(waitingServer), "env_vars = "+tomlArray(locationVariables))
	} else {
		lines = append(lines, "url = "+compact(o.URL+"/mcp"), "bearer_token_env_var = "+compact(TokenVariable))
	}
	lines = append(lines, fmt.Sprintf("tool_timeout_sec = %d", maxWait))
	return strings.Join(append(lines, codexHooks(o, gate)...), "\n") + "\n"
}

// The timeouts of hooks in seconds. Codex clamps that of the end of a session to endTime.
const (
	promptTime = 10
	endTime    = 3
)

// gateLimit is how long a guard waits. It ends before its hook, after which Codex runs the tool.
const gateLimit = "23h"

// codexHooks returns the hooks of Codex. The shell of a hook without askback has no effect on
// Codex, except for a guard, which then blocks the call. A hook that exits with 2 blocks a call
// only if it writes a reason.
func codexHooks(o Options, gate bool) []string {
	run := shellQuote(o.Command) + " hook codex"
	answer, matcher := run+" || exit 0", "^request_user_input$"
	question := answer
	if gate {
		matcher = ".*"
		question = run + " --gate --limit " + gateLimit + ` || sh -c 'echo "This call was not approved, so it must not run." >&2; exit 2'`
	}
	const status = "Waiting for an answer in Askback"
	var lines []string
	add := func(event, matcher, command string, timeout int, status string) {
		lines = append(lines, "", "[[hooks."+event+"]]")
		if matcher != "" {
			lines = append(lines, "matcher = "+compact(matcher))
		}
		handler := `type = "command", command = ` + compact(command) + fmt.Sprintf(", timeout = %d", timeout)
		if status != "" {
			handler += ", statusMessage = " + compact(status)
		}
		lines = append(lines, "hooks = [{ "+handler+" }]")
	}
	add("PermissionRequest", ".*", answer, maxWait, status)
	add("PreToolUse", matcher, question, maxWait, status)
	add("UserPromptSubmit", "", answer, promptTime, "")
	add("Stop", "", answer, promptTime, "")
	add("Interrupt", "", answer, endTime, "")
	add("SessionEnd", "", answer, endTime, "")
	return lines
}
