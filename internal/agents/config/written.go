package config

import (
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Written describes the entries that askback init writes on this machine. Files of a project can come from a
// stranger, so only these entries may be run.
type Written struct {
	Programs []string // askback, or absolute paths
	URLs     []string // the base URLs of servers
}

// HasLane reports whether askback init writes a lane for a client. The value of --wait may differ.
func (w Written) HasLane(c *Client, scope Scope, l Lane) bool {
	switch {
	case l.Changed:
		return false
	case l.URL == "":
		return len(l.Command) > 0 && slices.Contains(w.Programs, l.Command[0]) && isServer(l.Command[1:])
	}
	return len(l.Command) == 0 && slices.ContainsFunc(w.URLs, func(url string) bool {
		return slices.ContainsFunc(written(c, scope, Options{URL: url}), func(content []byte) bool {
			own, ok := c.LaneIn(content)
			return ok && own.URL == l.URL && maps.Equal(own.Headers, l.Headers)
		})
	})
}

// isServer reports whether askback init writes these arguments for an MCP server.
func isServer(args []string) bool {
	if len(args) != 3 {
		return slices.Equal(args, []string{"mcp"})
	}
	_, err := time.ParseDuration(args[2])
	return err == nil && args[0] == "mcp" && args[1] == "--wait"
}

// HasHook reports whether askback init writes a hook for a client, possibly with other flags of askback hook.
func (w Written) HasHook(c *Client, scope Scope, h Hook) bool {
	gate := true
	var all []Options
	if h.URL == "" {
		for _, program := range w.Programs {
			all = append(all, Options{Command: program}, Options{Command: program, Gate: &gate})
		}
	} else {
		for _, url := range w.URLs {
			all = append(all, Options{HookURL: url + c.HookPath})
		}
	}
	return slices.ContainsFunc(all, func(o Options) bool {
		return slices.ContainsFunc(written(c, scope, o), func(content []byte) bool {
			return slices.ContainsFunc(c.HooksIn(content), func(own Hook) bool {
				return own.Event == h.Event && own.URL == h.URL && maps.Equal(own.Headers, h.Headers) &&
					withoutFlags(own.Command) == withoutFlags(h.Command)
			})
		})
	})
}

// changeableFlags matches the flags of askback hook that a person may add or change.
var changeableFlags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` --(?:gate|strict|(?:limit|wait|defer) [0-9][0-9a-z.]*)\b`)
})

func withoutFlags(command string) string { return changeableFlags().ReplaceAllString(command, "") }

// written returns the contents of the files that askback init writes if a client has no files yet.
func written(c *Client, scope Scope, o Options) (all [][]byte) {
	files, err := c.FilesFor(scope, o)
	if err != nil {
		return nil
	}
	for _, f := range files {
		if content, err := f.Edit(nil); err == nil {
			all = append(all, content)
		}
	}
	return all
}
