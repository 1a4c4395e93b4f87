package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of Gemini CLI in commands, and in the labels of its asks.
const Name = "gemini"

// Config is the configuration of Gemini CLI.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces:    config.Traces{Programs: []string{"gemini"}, Home: []string{".gemini"}, List: []string{"mcp", "list"}},
	HookLists: true,
	IsOwnHook: func(entry string) bool { return isOwnQuestionHook(entry) || isOwnGuard(entry) },
	Guards:    true, HidesSecrets: true,
}

// The hooks of Gemini CLI. The limit is shorter than the timeout, after which Gemini CLI runs the tool. A
// guard blocks the call if its command fails, because Gemini CLI would run the tool after code 1, and after
// any code without a text. guardedTools matches all tools except tools that only read, plan or ask, so that a
// tool of a later version is guarded too.
const (
	hookName     = "gemini"
	limitFlag    = " --limit 23h59m"
	guardCommand = " hook " + hookName + " --gate" + limitFlag
	guardedTools = "^(?!(?:" +
		"ask_user|complete_task|enter_plan_mode|exit_plan_mode|get_internal_docs|glob|google_web_search|grep_search|list_directory|" +
		"list_mcp_resources|read_file|read_many_files|search_file_content|update_topic|write_todos)$)"
)

// A hookEntry is a hook in the format of Gemini CLI. The timeout is in milliseconds.
type hookEntry struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

type hookGroup struct {
	Matcher string      `json:"matcher"`
	Hooks   []hookEntry `json:"hooks"`
}

func files(_ config.Scope, o config.Options) ([]config.File, error) {
	// Without trust, each call needs approval at the terminal, and gemini -p lacks the tools.
	s := config.Server{Timeout: config.MaxWait * 1000, Trust: true}.WithAddress(o, "$"+config.TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	servers := config.Member(s, "mcpServers", "askback")
	edits := func(gate bool) []config.Edit {
		edits := []config.Edit{
			servers, hookEdit("ask_user", config.HookCommand(o.Command, hookName)+limitFlag, isOwnQuestionHook),
		}
		if guard := hookEdit(guardedTools, config.ShellQuote(o.Command)+guardCommand+
			` || { echo "askback failed" >&2; exit 2; }`, isOwnGuard); gate || o.Remove {
			edits = append(edits, guard)
		}
		return edits
	}
	f := config.JSONFile(".gemini/settings.json", edits(o.Gate != nil && *o.Gate)...)
	f.Write = func(f config.File, present []byte) ([]byte, error) {
		guarded := bytes.Contains(present, []byte(guardCommand))
		if guarded && !o.Remove && o.Gate != nil && !*o.Gate {
			after, err := config.EditJSON(present, true, hookEdit("", "", isOwnGuard))
			if err != nil {
				return nil, err
			}
			present, guarded = after, false
		}
		return config.EditJSON(present, f.Removes(), edits(guarded || o.Gate != nil && *o.Gate)...)
	}
	return []config.File{f}, nil
}

// hookEdit returns the edit that adds a hook for the tools of a matcher.
func hookEdit(matcher, command string, isOwn func(string) bool) config.Edit {
	group := hookGroup{
		matcher, []hookEntry{{Name: "askback", Type: "command", Command: command, Timeout: config.MaxWait * 1000}},
	}
	return config.Edit{
		Path: []string{"hooks", "BeforeTool"}, List: true, Group: "hooks", IsOwn: isOwn, Hook: hookName,
		Value: config.Compact(group),
	}
}

// isOwnGuard reports whether any version of Askback wrote the entry of a guard.
func isOwnGuard(entry string) bool {
	flags, ok := flagsOf(entry)
	return ok && strings.Contains(flags, "--gate")
}

// isOwnQuestionHook reports whether any version of Askback wrote the entry of the hook for questions.
func isOwnQuestionHook(entry string) bool {
	flags, ok := flagsOf(entry)
	return ok && !strings.Contains(flags, "--gate")
}

// flagsOf returns the flags in the command of a hook. ok is false if no version of Askback wrote the entry.
func flagsOf(entry string) (flags string, ok bool) {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return "", false
	}
	program, flags, ok := strings.Cut(h.Command, " hook "+hookName)
	return flags, ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}

func nextSteps(_ config.Scope, o config.Options) (todo []string) {
	todo = []string{"Gemini CLI starts MCP servers and runs hooks of a project only in trusted folders: start " +
		"gemini here once and trust the folder; for gemini -p, set GEMINI_CLI_TRUST_WORKSPACE=true instead"}
	if o.Gate != nil && *o.Gate {
		todo = append(todo, "after an approval in Askback, Gemini CLI still asks at the terminal, and gemini -p "+
			"rejects the call; to avoid this, allow the tool with a policy, such as [[rule]] with toolName = "+
			"[\"run_shell_command\", \"write_file\", \"replace\"], decision = \"allow\" and priority = 100 in "+
			"~/.gemini/policies/guard.toml; the policy also applies where Askback's hook does not run")
	}
	return todo
}
