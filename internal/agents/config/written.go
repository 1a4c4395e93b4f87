package config

import (
	"maps"
	"slices"
	"time"

	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/lazyregexp"
)

// Written describes what askback init writes on this machine. Files of a project can come from a
// stranger, so a program that runs what they have must not run anything else.
type Written struct {
	Programs []string // askback, or absolute paths
	URLs     []string // the base URLs of servers
}

// HasLane reports whether askback init writes a lane for a client. The time of --wait may differ.
func (w Written) HasLane(client string, scope Scope, l Lane) bool {
	switch {
	case l.changed:
		return false
	case l.URL == "":
		return len(l.Command) > 0 && slices.Contains(w.Programs, l.Command[0]) && isServer(l.Command[1:])
	}
	return len(l.Command) == 0 && slices.ContainsFunc(w.URLs, func(url string) bool {
		return slices.ContainsFunc(written(client, scope, Options{URL: url}), func(f writtenFile) bool {
			own, ok := LaneIn(client, f.path, f.content)
			return ok && own.URL == l.URL && maps.Equal(own.Headers, l.Headers)
		})
	})
}

// isServer reports whether these are arguments of an MCP server that askback init writes.
func isServer(args []string) bool {
	if len(args) != 3 {
		return slices.Equal(args, []string{"mcp"})
	}
	_, err := time.ParseDuration(args[2])
	return err == nil && args[0] == "mcp" && args[1] == "--wait"
}

// HasHook reports whether askback init writes a hook for a client, or would with other flags of
// askback hook.
func (w Written) HasHook(client string, scope Scope, h Hook) bool {
	gate := true
	var all []Options
	if h.URL == "" {
		for _, program := range w.Programs {
			all = append(all, Options{Command: program}, Options{Command: program, Gate: &gate})
		}
	} else {
		for _, url := range w.URLs {
			all = append(all, Options{HookURL: url + claudecode.Path})
		}
	}
	return slices.ContainsFunc(all, func(o Options) bool {
		return slices.ContainsFunc(written(client, scope, o), func(f writtenFile) bool {
			return slices.ContainsFunc(HooksIn(client, f.path, f.content), func(own Hook) bool {
				return own.Event == h.Event && own.URL == h.URL && maps.Equal(own.Headers, h.Headers) && withoutFlags(own.Command) == withoutFlags(h.Command)
			})
		})
	})
}

// changeableFlags matches the flags of askback hook that a person may add or change.
var changeableFlags = lazyregexp.New(` --(?:gate|strict|(?:limit|wait|defer) [0-9][0-9a-z.]*)\b`)

func withoutFlags(command string) string { return changeableFlags().ReplaceAllString(command, "") }

type writtenFile struct {
	path    string
	content []byte
}

// written returns the new files of a client.
func written(client string, scope Scope, o Options) (all []writtenFile) {
	files, err := Files(client, scope, o)
	if err != nil {
		return nil
	}
	for _, f := range files {
		if content, err := f.Edit(nil); err == nil {
			all = append(all, writtenFile{f.Path, content})
		}
	}
	return all
}
