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
	IsOwnHook: func(entry string) bool { return isOwnGeminiHook(entry) || isOwnGeminiGuard(entry) },
	Guards:    true, HidesSecrets: true,
}

// The hooks of Gemini CLI. The limit is shorter than the timeout, after which Gemini CLI runs the
// tool. A guard blocks the call if its command fails: Gemini CLI would run the tool after code 1,
// and after any code without a text.
//
// geminiGuarded matches all tools but those that only read, plan or ask, so that a tool of a later
// version is guarded too.
const (
	geminiHookName = "gemini"
	geminiLimit    = " --limit 23h59m"
	geminiGate     = " hook " + geminiHookName + " --gate" + geminiLimit
	geminiGuarded  = "^(?!(?:" +
		"ask_user|complete_task|enter_plan_mode|exit_plan_mode|get_internal_docs|glob|google_web_search|grep_search|list_directory|" +
		"list_mcp_resources|read_file|read_many_files|search_file_content|update_topic|write_todos)$)"
)

// geminiHook is a hook in the format of Gemini CLI. The timeout is in milliseconds.
type geminiHook struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

type geminiGroup struct {
	Matcher string       `json:"matcher"`
	Hooks   []geminiHook `json:"hooks"`
}

func files(_ config.Scope, o config.Options) ([]config.File, error) {
	// Without trust, each call needs approval at the terminal, and gemini -p lacks the tools.
	s := config.Server{Timeout: config.MaxWait * 1000, Trust: true}.WithAddress(o, "$"+config.TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	servers := config.Member(s, "mcpServers", "askback")
	edits := func(gate bool) []config.Edit {
		edits := []config.Edit{servers, geminiEdit("ask_user", config.HookCommand(o.Command, geminiHookName)+geminiLimit, isOwnGeminiHook)}
		if guard := geminiEdit(geminiGuarded, config.ShellQuote(o.Command)+geminiGate+` || { echo "askback failed" >&2; exit 2; }`, isOwnGeminiGuard); gate || o.Remove {
			edits = append(edits, guard)
		}
		return edits
	}
	f := config.JSONFile(".gemini/settings.json", edits(o.Gate != nil && *o.Gate)...)
	f.Write = func(f config.File, present []byte) ([]byte, error) {
		guarded := bytes.Contains(present, []byte(geminiGate))
		if guarded && !o.Remove && o.Gate != nil && !*o.Gate {
			after, err := config.EditJSON(present, true, geminiEdit("", "", isOwnGeminiGuard))
			if err != nil {
				return nil, err
			}
			present, guarded = after, false
		}
		return config.EditJSON(present, f.Removes(), edits(guarded || o.Gate != nil && *o.Gate)...)
	}
	return []config.File{f}, nil
}

// geminiEdit returns the edit that adds a hook for the tools of a matcher.
func geminiEdit(matcher, command string, isOwn func(string) bool) config.Edit {
	group := geminiGroup{matcher, []geminiHook{{Name: "askback", Type: "command", Command: command, Timeout: config.MaxWait * 1000}}}
	return config.Edit{Path: []string{"hooks", "BeforeTool"}, List: true, Group: "hooks", IsOwn: isOwn, Hook: geminiHookName, Value: config.Compact(group)}
}

// isOwnGeminiGuard reports whether any version of Askback wrote the entry of a guard.
func isOwnGeminiGuard(entry string) bool {
	command, ok := geminiCommand(entry)
	return ok && strings.Contains(command, "--gate")
}

// isOwnGeminiHook reports whether any version of Askback wrote the entry of the hook for questions.
func isOwnGeminiHook(entry string) bool {
	command, ok := geminiCommand(entry)
	return ok && !strings.Contains(command, "--gate")
}

// geminiCommand returns the flags in the command of a hook that any version of Askback wrote.
func geminiCommand(entry string) (flags string, ok bool) {
	var h geminiHook
	if json.Unmarshal([]byte(entry), &h) != nil {
		return "", false
	}
	program, flags, ok := strings.Cut(h.Command, " hook "+geminiHookName)
	return flags, ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}

func nextSteps(_ config.Scope, o config.Options) (todo []string) {
	todo = []string{"Gemini CLI starts MCP servers and runs hooks of a project only in trusted folders: start gemini here once and trust the folder; for gemini -p, set GEMINI_CLI_TRUST_WORKSPACE=true instead"}
	if o.Gate != nil && *o.Gate {
		todo = append(todo, "the guard allows nothing: after an approval, Gemini CLI asks at the terminal as well, and gemini -p refuses, unless a policy of yours allows the tool, such as [[rule]] with toolName = [\"run_shell_command\", \"write_file\", \"replace\"], decision = \"allow\" and priority = 100 in ~/.gemini/policies/guard.toml, which allows it also where the guard does not run")
	}
	return todo
}
