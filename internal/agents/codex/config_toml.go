package codex

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/askback/askback/internal/agents/config"
)

// In a TOML file, the lines of Askback are a block between tomlBegin and tomlEnd. Codex deletes these
// comments when it changes the file, and inserts tables between them. The tables of Askback are therefore
// found by their content. The text of tomlHint may change.
const (
	tomlBegin = "# askback: begin."
	tomlHint  = " Added by askback init; remove it with askback init --remove."
	tomlEnd   = "# askback: end."
)

// isMarker reports whether a line is tomlBegin or tomlEnd.
func isMarker(line string) bool {
	return strings.HasPrefix(line, tomlBegin) || strings.HasPrefix(line, tomlEnd)
}

// The patterns match keys that a person wrote in another form than Askback. Askback cannot add entries to a
// table in that form.
var (
	rootKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*["']?mcp_servers["']?\s*(=|\.\s*["']?askback\b)`)
	})
	serverKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*["']?askback["']?\s*[.=]`) })
	hooksKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*["']?hooks["']?\s*[=.]`) })
	eventKey  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*["']?[A-Z][A-Za-z]+["']?\s*[=.]`)
	})
)

// checkTOML returns an error with a line number if a text is not TOML. Codex would not start with it, and
// would blame the last change.
func checkTOML(text string) error {
	var content map[string]any
	err := toml.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &content)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return fmt.Errorf("line %d: %s", line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return err
}

// editTOML adds, replaces or removes the block of Askback. It adds a new block at the end, where a table can
// always begin. It does not change other tables.
func editTOML(f config.File, present []byte) ([]byte, error) {
	text := string(present)
	tables, err := readTables(text)
	if err != nil {
		return nil, err
	}
	own, err := ownTables(tables, f.Removes())
	if err != nil {
		return nil, err
	}
	before, after, found := cutOwn(tables, own)
	newline := config.WithNewlines(text, "\n")
	if f.Removes() {
		if found && after == "" && strings.HasSuffix(before, newline+newline) {
			before = strings.TrimSuffix(before, newline) // the empty line before the block
		}
		return []byte(before + after), nil
	}
	if splitsHooks(after) {
		before, after, found = before+after, "", false
	}
	if !found && before != "" {
		if !strings.HasSuffix(before, "\n") {
			before += newline
		}
		before += newline
	}
	block := tomlBegin + tomlHint + "\n" + f.Paste + tomlEnd + "\n"
	return []byte(before + strings.ReplaceAll(block, "\n", newline) + after), nil
}

// cutOwn returns the text without the tables in own and without the markers, cut at the place of the block of
// Askback. If found is false, before is the whole text.
func cutOwn(tables []tomlTable, own []bool) (before, after string, found bool) {
	var kept strings.Builder
	at := -1 // the place of the block
	mark := func(exact bool) {
		if exact || at < 0 {
			at = kept.Len()
		}
	}
	marked := false
	for i, t := range tables {
		if own[i] && t.is("mcp_servers", "askback") && !marked {
			mark(false)
		}
		if !own[i] {
			kept.WriteString(t.text())
		}
		nextOwn := i+1 == len(tables) || own[i+1]
		end := slices.IndexFunc(t.tail, func(l string) bool { return strings.HasPrefix(l, tomlEnd) })
		for j, line := range t.tail {
			switch blank := strings.TrimSpace(line) == ""; {
			case strings.HasPrefix(line, tomlBegin):
				mark(!marked)
				marked = true
			case isMarker(line):
			case own[i] && blank && (j < end || end < 0 && nextOwn): // between the tables of the block
			default:
				kept.WriteString(line)
			}
		}
	}
	if at < 0 {
		return kept.String(), "", false
	}
	return kept.String()[:at], kept.String()[at:], true
}

// splitsHooks reports whether text starts inside a group of hooks, or cannot be read. A block of Askback
// before such text would change the group of these hooks.
func splitsHooks(text string) bool {
	tables, err := readTables(text)
	if err != nil {
		return true
	}
	begun := map[string]bool{}
	for _, t := range tables {
		switch {
		case t.is("hooks") || len(t.path) < 2 || t.path[0] != "hooks":
		case len(t.path) == 2:
			begun[t.path[1]] = true
		case t.path[2] == "hooks" && !begun[t.path[1]]:
			return true
		}
	}
	return false
}

// ownTables reports for each table whether Askback wrote the table: its MCP server, and the groups of hooks
// that run Askback. If remove is set, settings of the client for the server count as well. It returns an
// error if tables that a person wrote prevent the edit.
func ownTables(tables []tomlTable, remove bool) ([]bool, error) {
	own := make([]bool, len(tables))
	marked := slices.ContainsFunc(tables, func(t tomlTable) bool { return slices.ContainsFunc(t.tail, isMarker) })
	for i, t := range tables {
		body := strings.Join(t.lines[min(1, len(t.path)):], "") // without the header
		switch {
		case t.is("mcp_servers", "askback"):
			if own[i] = !t.array && (marked || isOwnServer(body)); !own[i] {
				return nil, config.Obstacle{
					Reason: "the MCP server askback was written by hand", Fix: "remove it from the file",
				}
			}
		case t.isBelow("mcp_servers", "askback"):
			own[i] = remove // settings of the client for this server, which are invalid without the server
		case t.path == nil && rootKey().MatchString(body), t.is("mcp_servers") && serverKey().MatchString(body):
			return nil, config.Obstacle{
				Reason: "the MCP server askback, or the table that contains it, was written by hand",
				Fix:    "remove it from the file",
			}
		case t.path == nil && hooksKey().MatchString(body), t.is("hooks") && eventKey().MatchString(body),
			len(t.path) == 2 && t.path[0] == "hooks" && t.path[1] != "state" && !t.array:
			if !remove {
				return nil, config.Obstacle{
					Reason: "the hooks are not written as [[hooks.EVENT]], so Askback cannot add its own",
					Fix:    "write them in that form",
				}
			}
		}
	}
	return own, addOwnHooks(tables, own)
}

// ownServerKeys are the keys of the MCP server that Askback has ever written.
var ownServerKeys = []string{"command", "args", "env_vars", "url", "bearer_token_env_var", "tool_timeout_sec"}

// isOwnServer reports whether Askback wrote the table of an MCP server.
func isOwnServer(body string) bool {
	for line := range strings.Lines(body) {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains(ownServerKeys, strings.TrimSpace(name)) {
			return false
		}
	}
	return strings.Contains(body, "askback") && strings.Contains(body, `args = ["mcp"`) ||
		strings.Contains(body, `bearer_token_env_var = "`+config.TokenVariable+`"`)
}

// ownHook matches the commands of the hooks that Askback adds, and the commands that its documentation once
// recommended.
var ownHook = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\baskback(\.exe)?["']*\s+hook\s+(codex|claude-code)\b`)
})

// commandKey matches the command of a hook.
var commandKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bcommand["']?\s*=`) })

// addOwnHooks sets own for the hooks that run Askback, and for each group that has no other hooks. It returns
// an error if a hook of Askback is in a list with other hooks.
func addOwnHooks(tables []tomlTable, own []bool) error {
	group := map[string]int{} // the current group of each event
	others := map[int]bool{}  // groups that have hooks of other programs
	for i, t := range tables {
		if len(t.path) < 2 || t.path[0] != "hooks" {
			continue
		}
		event, runs := t.path[1], ownHook().MatchString(t.text())
		switch {
		case len(t.path) == 2 && t.array:
			group[event] = i
			commands := len(commandKey().FindAllString(t.text(), -1))
			if runs && commands > 1 {
				return config.Obstacle{
					Reason: fmt.Sprintf("a hook of askback for %s is in a list with other hooks", event),
					Fix:    "remove it from the file",
				}
			}
			own[i], others[i] = runs, !runs && commands > 0
		case t.array && t.is("hooks", event, "hooks") && runs:
			own[i] = true
			if g, ok := group[event]; ok && !others[g] {
				own[g] = true
			}
		case t.array && t.is("hooks", event, "hooks"):
			if g, ok := group[event]; ok {
				others[g], own[g] = true, false
			}
		}
	}
	return nil
}
