package config

import (
	"bytes"
	"encoding/json"
	"strings"
)

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

func gemini(_ Scope, o Options) ([]File, error) {
	// Without trust, each call needs approval at the terminal, and gemini -p lacks the tools.
	s := server{Timeout: maxWait * 1000, Trust: true}.withAddress(o, "$"+TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	servers := member(s, "mcpServers", "askback")
	file := func(gate bool) File {
		edits := []edit{servers, geminiEdit("ask_user", hookCommand(o.Command, geminiHookName)+geminiLimit, isOwnGeminiHook)}
		if guard := geminiEdit(geminiGuarded, shellQuote(o.Command)+geminiGate+` || { echo "askback failed" >&2; exit 2; }`, isOwnGeminiGuard); gate || o.Remove {
			edits = append(edits, guard)
		}
		return jsonFile(".gemini/settings.json", edits...)
	}
	f := file(o.Gate != nil && *o.Gate)
	f.write = func(f File, present []byte) ([]byte, error) {
		guarded := bytes.Contains(present, []byte(geminiGate))
		if guarded && !o.Remove && o.Gate != nil && !*o.Gate {
			after, err := editJSON(File{edits: []edit{geminiEdit("", "", isOwnGeminiGuard)}, remove: true}, present)
			if err != nil {
				return nil, err
			}
			present, guarded = after, false
		}
		changed := file(guarded || o.Gate != nil && *o.Gate)
		changed.remove = f.remove
		return editJSON(changed, present)
	}
	return []File{f}, nil
}

// geminiEdit returns the edit that adds a hook for the tools of a matcher.
func geminiEdit(matcher, command string, isOwn func(string) bool) edit {
	group := geminiGroup{matcher, []geminiHook{{Name: "askback", Type: "command", Command: command, Timeout: maxWait * 1000}}}
	return edit{path: []string{"hooks", "BeforeTool"}, list: true, group: "hooks", isOwn: isOwn, hook: geminiHookName, value: compact(group)}
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
