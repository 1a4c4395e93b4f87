package cursor

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of Cursor in commands, and in the labels of its asks.
const Name = "cursor"

// Config is the configuration of Cursor.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces:    config.Traces{Programs: []string{"cursor", "cursor-agent"}, Home: []string{".cursor"}},
	IsOwnHook: isOwnHook, Guards: true,
}

// A hookEntry is a hook in the format of Cursor. The timeout is in seconds.
type hookEntry struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout"`
	FailClosed bool   `json:"failClosed"`
}

// guardCommand is the end of the command of a guard. Its limit is shorter than the timeout.
const guardCommand = " hook cursor --gate --limit 23h59m"

// files returns the files of Cursor. They include the file with hooks only if the guard is added or removed.
func files(_ config.Scope, o config.Options) ([]config.File, error) {
	files := []config.File{config.JSONFile(".cursor/mcp.json",
		config.Member(config.Server{}.WithAddress(o, "${env:"+config.TokenVariable+"}"), "mcpServers", "askback"))}
	if o.Gate == nil && !o.Remove {
		return files, nil
	}
	entry := func(event string) config.Edit {
		return config.Edit{
			Path: []string{"hooks", event}, List: true, IsOwn: isOwnHook, Hook: "cursor",
			Value: config.Compact(hookEntry{config.ShellQuote(o.Command) + guardCommand, config.MaxWait, true}),
		}
	}
	hooks := config.JSONFile(".cursor/hooks.json", entry("beforeShellExecution"), entry("beforeMCPExecution"),
		config.HookVersion)
	hooks.Moved = o.Gate != nil && !*o.Gate
	return append(files, hooks), nil
}

// isOwnHook reports whether any version of Askback wrote the entry, with any flags.
func isOwnHook(entry string) bool {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Command, " hook cursor")
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ')
}

func nextSteps(_ config.Scope, o config.Options) (todo []string) {
	todo = []string{"in Cursor's settings, turn on the server askback and allow its tools without confirmation; " +
		"otherwise Cursor itself asks you before each question"}
	if o.Gate != nil && *o.Gate {
		todo = append(todo, "try whether the guard blocks a command in your version of Cursor: it follows Cursor's "+
			"documentation, and was not tested with it")
	}
	return todo
}
