package config

import (
	"encoding/json"
	"strings"
)

// cursorHook is a hook in the format of Cursor. The timeout is in seconds.
type cursorHook struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout"`
	FailClosed bool   `json:"failClosed"`
}

// cursorGuard is the end of the command of a guard. Its limit is shorter than the timeout.
const cursorGuard = " hook cursor --gate --limit 23h59m"

// cursor returns the files of Cursor. The file with hooks is among them only if the guard is added or
// removed.
func cursor(_ Scope, o Options) ([]File, error) {
	files := []File{jsonFile(".cursor/mcp.json", member(server{}.withAddress(o, "${env:"+TokenVariable+"}"), "mcpServers", "askback"))}
	if o.Gate == nil && !o.Remove {
		return files, nil
	}
	entry := func(event string) edit {
		return edit{
			path: []string{"hooks", event}, list: true, isOwn: isOwnCursorHook, hook: "cursor",
			value: compact(cursorHook{shellQuote(o.Command) + cursorGuard, maxWait, true}),
		}
	}
	hooks := jsonFile(".cursor/hooks.json", entry("beforeShellExecution"), entry("beforeMCPExecution"), hookVersion)
	hooks.moved = o.Gate != nil && !*o.Gate
	return append(files, hooks), nil
}

// isOwnCursorHook reports whether any version of Askback wrote the entry, with any flags.
func isOwnCursorHook(entry string) bool {
	var h cursorHook
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Command, " hook cursor")
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}
