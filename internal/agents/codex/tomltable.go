package codex

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A tomlTable is a table of a TOML file: its header and the lines up to the next header. The lines before the
// first header are a table without a path.
type tomlTable struct {
	path  []string
	array bool     // an element of an array of tables
	lines []string // the lines from the header to the last key, with their line ends
	tail  []string // the empty lines and comments below; they may belong to the next table
}

// text returns the lines of a table without its tail.
func (t tomlTable) text() string { return strings.Join(t.lines, "") }

// is reports whether the table has this path.
func (t tomlTable) is(path ...string) bool { return slices.Equal(t.path, path) }

// isBelow reports whether the table is below the table at path.
func (t tomlTable) isBelow(path ...string) bool {
	return len(t.path) > len(path) && slices.Equal(t.path[:len(path)], path)
}

// readTables splits a TOML file into its tables. It reads a value only to find its end.
func readTables(text string) ([]tomlTable, error) {
	tables := []tomlTable{{}}
	var value tomlValue
	number := 0
	for line := range strings.Lines(text) {
		number++
		last := &tables[len(tables)-1]
		trimmed := strings.TrimSpace(line)
		switch {
		case value.isOpen():
		case trimmed == "" || trimmed[0] == '#':
			last.tail = append(last.tail, line)
			continue
		case trimmed[0] == '[':
			t, err := readHeader(trimmed)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			t.lines = []string{line}
			tables = append(tables, t)
			continue
		}
		if err := value.read(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		last.lines = append(append(last.lines, last.tail...), line)
		last.tail = nil
	}
	if value.isOpen() {
		return nil, errors.New("a value has no end")
	}
	return tables, nil
}

var errHeader = errors.New("the name of a table is not valid")

// readHeader parses the header of a table, such as [a."b.c"] or [[a.b]].
func readHeader(line string) (tomlTable, error) {
	var t tomlTable
	rest, array := strings.CutPrefix(line, "[[")
	closing := "]]"
	if !array {
		rest, closing = line[1:], "]"
	}
	t.array = array
	for {
		name, after, err := readKey(strings.TrimLeft(rest, " \t"))
		if err != nil {
			return t, err
		}
		t.path = append(t.path, name)
		after = strings.TrimLeft(after, " \t")
		if more, ok := strings.CutPrefix(after, "."); ok {
			rest = more
			continue
		}
		end, ok := strings.CutPrefix(after, closing)
		if end = strings.TrimSpace(end); !ok || end != "" && end[0] != '#' {
			return t, errHeader
		}
		return t, nil
	}
}

// readKey parses the key at the start of a text, and returns the rest of the text. It does not decode escapes
// in a key, because no name that Askback uses has an escape.
func readKey(s string) (name, rest string, err error) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		end := endOfString(s, 1, s[0])
		if end < 0 {
			return "", "", errHeader
		}
		return s[1 : end-1], s[end:], nil
	}
	bare := strings.TrimLeft(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	if len(bare) == len(s) {
		return "", "", errHeader
	}
	return s[:len(s)-len(bare)], bare, nil
}

// endOfString returns the offset after the quotation mark that ends a string, or -1. The content of the
// string starts at from.
func endOfString(s string, from int, quote byte) int {
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return -1
}

// A tomlValue is the state within a value that may continue on the next line.
type tomlValue struct {
	quotes string // the delimiter that ends a string of several lines
	depth  int    // the number of open arrays and inline tables
}

func (v *tomlValue) isOpen() bool { return v.quotes != "" || v.depth > 0 }

// read reads a line of a value, and updates the state. It returns an error if the line is not TOML.
func (v *tomlValue) read(line string) error {
	for i := 0; i < len(line); i++ {
		if v.quotes != "" {
			switch {
			case line[i] == '\\' && v.quotes[0] == '"':
				i++
			case strings.HasPrefix(line[i:], v.quotes):
				i += len(v.quotes) - 1
				for i+1 < len(line) && line[i+1] == v.quotes[0] { // up to two quotation marks belong to the string
					i++
				}
				v.quotes = ""
			}
			continue
		}
		switch c := line[i]; c {
		case '#':
			return nil
		case '[', '{':
			v.depth++
		case ']', '}':
			v.depth--
		case '"', '\'':
			if three := strings.Repeat(string(c), 3); strings.HasPrefix(line[i:], three) {
				v.quotes = three
				i += 2
				continue
			}
			end := endOfString(line, i+1, c)
			if end < 0 {
				return errors.New("a string has no end")
			}
			i = end - 1
		}
	}
	if v.depth < 0 {
		return errors.New("a bracket is closed that was not opened")
	}
	return nil
}
