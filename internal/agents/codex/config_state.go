package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/askback/askback/internal/agents/config"
)

// withoutHookState returns the configuration of Codex without the tables in which Codex recorded that the user
// trusts the hooks of Askback in this file: [hooks.state."PATH:EVENT:GROUP:HOOK"]. It keeps the tables about hooks
// of other programs and about other files. folder is the folder of the file; if it is "", the tables are kept.
func withoutHookState(text, folder string) (string, error) {
	tables, err := readTables(text)
	if err != nil || folder == "" {
		return text, err
	}
	keys, err := ownStateKeys(tables, filepath.Join(folder, ".codex", "config.toml"))
	if err != nil {
		return text, err
	}
	var kept strings.Builder
	blank := config.WithNewlines(text, "\n")
	for _, t := range tables {
		if !t.array && len(t.path) == 3 && t.is("hooks", "state", t.path[2]) && slices.Contains(keys, t.path[2]) {
			before := kept.String() // Codex separates the table by an empty line
			if strings.HasSuffix(before, blank+blank) {
				kept.Reset()
				kept.WriteString(strings.TrimSuffix(before, blank))
			}
		} else {
			kept.WriteString(t.text())
		}
		kept.WriteString(strings.Join(t.tail, ""))
	}
	return kept.String(), nil
}

// ownStateKeys returns the names of the tables with the state of the hooks of Askback in a file. Codex names a
// hook by its event, and by its position in the groups of this event.
func ownStateKeys(tables []tomlTable, path string) (keys []string, err error) {
	own := make([]bool, len(tables))
	if err := addOwnHooks(tables, own); err != nil {
		return nil, err
	}
	group, hook := map[string]int{}, map[string]int{} // the next positions, by event
	for i, t := range tables {
		if len(t.path) < 2 || t.path[0] != "hooks" || !t.array {
			continue
		}
		event := t.path[1]
		key := func(n int) string {
			return fmt.Sprintf("%s:%s:%d:%d", path, snakeCase(event), group[event]-1, n)
		}
		switch {
		case len(t.path) == 2:
			group[event]++
			hook[event] = len(commandKey().FindAllString(t.text(), -1))
			for n := range hook[event] {
				if own[i] {
					keys = append(keys, key(n))
				}
			}
		case t.is("hooks", event, "hooks"):
			if own[i] {
				keys = append(keys, key(hook[event]))
			}
			hook[event]++
		}
	}
	return keys, nil
}

// snakeCase returns the name of an event as Codex writes it in the names of states, such as pre_tool_use.
func snakeCase(event string) string {
	var b strings.Builder
	for i, r := range event {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
