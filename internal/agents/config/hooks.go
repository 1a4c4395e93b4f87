package config

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/lazyregexp"
)

// A Hook is a hook of Askback, as the configuration of a client has it: a command for the shell, or
// a URL with headers.
type Hook struct {
	Event   string
	Matcher string // the tools; "" means all
	Command string
	URL     string
	Headers map[string]string // may refer to environment variables
}

// NeedsServer reports whether a hook of a client asks no person while no server runs. A command of
// Claude Code or OpenCode then holds the ask itself.
func (h Hook) NeedsServer(client string) bool { return client != "claude-code" || h.URL != "" }

// ownHooks are the functions that recognize an entry of Askback in the JSON files of a client.
var ownHooks = map[string]func(entry string) bool{
	"claude-code": isOwnHook,
	"copilot":     isOwnCopilotHook,
	"cursor":      isOwnCursorHook,
	"gemini":      func(entry string) bool { return isOwnGeminiHook(entry) || isOwnGeminiGuard(entry) },
}

// HooksIn returns the hooks of Askback in a file of a client. A file that cannot be read has none.
func HooksIn(client, path string, content []byte) (hooks []Hook) {
	if strings.HasSuffix(path, ".toml") {
		return hooksInTOML(string(content))
	}
	src, isOwn := string(content), ownHooks[client]
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

// hookOf returns the hook in an entry of a group. In some formats they are the same.
func hookOf(event, group, entry string) Hook {
	var g struct{ Matcher string }
	var e struct {
		Command, Bash, URL string
		Headers            map[string]string
	}
	_ = json.Unmarshal([]byte(group), &g) // a member in another form is missing
	_ = json.Unmarshal([]byte(entry), &e)
	return Hook{Event: event, Matcher: g.Matcher, Command: e.Command + e.Bash, URL: e.URL, Headers: e.Headers}
}

// tomlText matches a key with a string on one line.
var tomlText = lazyregexp.New(`(?:^|[\s{,])["']?(command|matcher)["']?\s*=\s*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)

// hooksInTOML returns the hooks of Askback in the configuration of Codex.
func hooksInTOML(text string) (hooks []Hook) {
	tables, err := readTables(text)
	if err != nil {
		return nil
	}
	matchers := map[string]string{} // of the current group of each event
	for _, t := range tables {
		if len(t.path) < 2 || t.path[0] != "hooks" || !t.array {
			continue
		}
		event := t.path[1]
		if len(t.path) == 2 {
			matchers[event] = ""
		}
		var commands []string
		for _, m := range tomlText().FindAllStringSubmatch(t.text(), -1) {
			value := tomlString(m[2])
			switch {
			case m[1] == "command":
				commands = append(commands, value)
			case len(t.path) == 2:
				matchers[event] = value
			}
		}
		for _, command := range commands {
			if ownHook().MatchString(command) {
				hooks = append(hooks, Hook{Event: event, Matcher: matchers[event], Command: command})
			}
		}
	}
	return hooks
}

// tomlString returns the value of a TOML string on one line. Of escapes, it reads those of JSON.
func tomlString(text string) (value string) {
	if text[0] == '\'' {
		return text[1 : len(text)-1]
	}
	_ = json.Unmarshal([]byte(text), &value)
	return value
}
