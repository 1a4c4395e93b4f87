package config

import (
	"encoding/json"
	"strings"
)

// A Hook is a hook of Askback in the configuration of a client. It runs a shell command, or sends a request
// to a URL with headers.
type Hook struct {
	Event   string
	Matcher string // the tools; "" means all
	Command string
	URL     string
	Headers map[string]string // may refer to environment variables
}

// Gate reports whether the hook is a guard.
func (h Hook) Gate() bool { return strings.Contains(h.Command, " --gate") }

// NeedsServer reports whether a hook asks no person while no server runs.
func (c *Client) NeedsServer(h Hook) bool { return !c.HoldsAsks || h.URL != "" }

// HooksIn returns the hooks of Askback in a file of a client. It returns nil if the file cannot be read.
func (c *Client) HooksIn(content []byte) (hooks []Hook) {
	if c.Hooks != nil {
		return c.Hooks(content)
	}
	src, isOwn := string(content), c.IsOwnHook
	root, err := parse(src)
	if err != nil || isOwn == nil {
		return nil
	}
	events, _ := find(root, []string{"hooks"})
	for _, event := range events.entries {
		for _, group := range event.value.entries {
			handlers := []entry{group}
			if inner, rest := find(group.value, []string{"hooks"}); len(rest) == 0 {
				handlers = inner.entries
			} else if c.HookLists {
				continue
			}
			for _, handler := range handlers {
				text := compactText(src, handler.value)
				if isOwn(text) {
					hooks = append(hooks, hookOf(event.name, compactText(src, group.value), text))
				}
			}
		}
	}
	return hooks
}

// hookOf returns the hook in an entry of a group. In some formats, the group is the entry.
func hookOf(event, group, entry string) Hook {
	var g struct{ Matcher string }
	var e struct {
		Command, Bash, URL string
		Headers            map[string]string
	}
	_ = json.Unmarshal([]byte(group), &g) // a member in another form is ignored
	_ = json.Unmarshal([]byte(entry), &e)
	return Hook{Event: event, Matcher: g.Matcher, Command: e.Command + e.Bash, URL: e.URL, Headers: e.Headers}
}
