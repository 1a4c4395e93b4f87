package codex

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/askback/askback/internal/agents/config"
)

// ttySetting denies commands a terminal. In a terminal, a command that a person approved can get further
// input from the model, for which Codex runs no hook. guardMark marks the line, so that the line is removed
// with the guard.
const (
	ttySetting = "unified_exec_tty = false " + guardMark
	guardMark  = "# askback: guard"
)

var (
	ttyKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*["']?unified_exec_tty["']?\s*=`)
	})
	featuresKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*["']?features["']?\s*[=.]`)
	})
)

// withoutTTYSetting returns text without the lines that guardMark marks in the table of features. It also
// removes the table if no other lines are in it.
func withoutTTYSetting(text string) (string, error) {
	tables, err := readTables(text)
	if err != nil {
		return "", err
	}
	var kept strings.Builder
	for _, t := range tables {
		if t.is("features") {
			n := len(t.lines)
			t.lines = slices.DeleteFunc(t.lines,
				func(l string) bool { return strings.HasSuffix(strings.TrimSpace(l), guardMark) })
			if n > 1 && len(t.lines) == 1 {
				t.lines = nil
			}
		}
		kept.WriteString(t.text() + strings.Join(t.tail, ""))
	}
	return kept.String(), nil
}

// withTTYSetting returns text with ttySetting in the table of features. It returns false if text has no
// features. It does not change a setting that a person wrote, or features that are not a table.
func withTTYSetting(text string) (string, bool) {
	tables, err := readTables(text)
	if err != nil {
		return text, true // a later step reports the error
	}
	var out strings.Builder
	found := false
	for _, t := range tables {
		found = found || t.is("features") || t.path == nil && featuresKey().MatchString(t.text())
		if t.is("features") && !t.array && !ttyKey().MatchString(t.text()) {
			header, newline := t.lines[0], config.WithNewlines(text, "\n")
			if !strings.HasSuffix(header, "\n") {
				header += newline
			}
			t.lines = slices.Concat([]string{header, ttySetting + newline}, t.lines[1:])
		}
		out.WriteString(t.text() + strings.Join(t.tail, ""))
	}
	return out.String(), found
}
