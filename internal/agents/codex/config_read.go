package codex

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/agents/config"
)

// tomlText matches the key command or matcher with a string on one line.
var tomlText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s{,])["']?(command|matcher)["']?\s*=\s*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
})

// hooksIn returns the hooks of Askback in the configuration of Codex, or nil if it cannot be read.
func hooksIn(content []byte) (hooks []config.Hook) {
	tables, err := readTables(string(content))
	if err != nil {
		return nil
	}
	matchers := map[string]string{} // matcher of the current group, by event
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
				hooks = append(hooks, config.Hook{Event: event, Matcher: matchers[event], Command: command})
			}
		}
	}
	return hooks
}

// tomlString returns the value of a TOML string on one line. It supports only the escapes that JSON has.
func tomlString(text string) (value string) {
	if text[0] == '\'' {
		return text[1 : len(text)-1]
	}
	_ = json.Unmarshal([]byte(text), &value)
	return value
}

// laneIn returns the lane in the table that askback init writes. ok is false if content has no such table, or
// if a value has another form.
func laneIn(content []byte) (l config.Lane, ok bool) {
	tables, err := readTables(string(content))
	if err != nil {
		return config.Lane{}, false
	}
	l.Passed = []string{}
	var command, token string
	var args []string
	into := map[string]any{
		"command": &command, "args": &args, "env_vars": &l.Passed, "url": &l.URL, "bearer_token_env_var": &token,
	}
	for _, t := range tables {
		l.Changed = l.Changed || t.is("mcp_servers", "askback", "env")
		if !t.is("mcp_servers", "askback") {
			continue
		}
		for _, line := range t.lines[1:] {
			name, value, _ := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			l.Changed = l.Changed || name == "env" || name == "cwd"
			// askback init writes values as in JSON.
			if field, known := into[name]; known && json.Unmarshal([]byte(strings.TrimSpace(value)), field) != nil {
				return config.Lane{}, false
			}
		}
	}
	if command != "" {
		l.Command = append([]string{command}, args...)
	}
	if token != "" {
		l.Headers = map[string]string{"Authorization": "Bearer ${" + token + "}"}
	}
	return l, l.URL != "" || command != ""
}
