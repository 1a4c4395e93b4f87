package codex

import (
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback/internal/lazyregexp"
)

// checkTOML returns an error with a line if a text is not TOML: Codex would then not start, and
// blame the last change. It accepts some texts that are not TOML, such as a table that is defined
// twice or a 31st of June.
func checkTOML(text string) error {
	text = strings.TrimPrefix(text, "\ufeff")
	s := &tomlScanner{rest: text}
	seen := map[string]bool{} // the keys of the current table
	for s.skipLines(); s.rest != ""; s.skipLines() {
		var err error
		if s.rest[0] == '[' {
			line, _, _ := strings.Cut(s.rest, "\n")
			_, err = readHeader(strings.TrimSpace(line))
			s.rest = s.rest[len(line):]
			seen = map[string]bool{}
		} else {
			err = s.pair(seen)
		}
		if err == nil {
			err = s.endOfLine()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", 1+strings.Count(text[:len(text)-len(s.rest)], "\n"), err)
		}
	}
	return nil
}

// A tomlScanner reads TOML. After an error, rest begins in the line that is wrong.
type tomlScanner struct {
	rest  string
	depth int
}

func (s *tomlScanner) skip() { s.rest = strings.TrimLeft(s.rest, " \t") }

// skipLines skips white space, comments and the ends of lines.
func (s *tomlScanner) skipLines() {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\r\n")
		if !strings.HasPrefix(s.rest, "#") {
			return
		}
		_, s.rest, _ = strings.Cut(s.rest, "\n")
	}
}

// endOfLine requires that only a comment follows in the line.
func (s *tomlScanner) endOfLine() error {
	line, _, _ := strings.Cut(s.rest, "\n")
	if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
		return errors.New("unexpected text after a value")
	}
	return nil
}

// pair reads a key and its value.
func (s *tomlScanner) pair(seen map[string]bool) error {
	var path []string
	for {
		name, rest, err := readKey(s.rest)
		if err != nil {
			return errors.New("this is no key with a value")
		}
		path = append(path, name)
		after := strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(after, ".") {
			s.rest = after
			break
		}
		s.rest = strings.TrimLeft(after[1:], " \t")
	}
	name := strings.Join(path, ".")
	switch value, ok := strings.CutPrefix(s.rest, "="); {
	case !ok:
		return fmt.Errorf("%s has no value", name)
	case seen[strings.Join(path, "\x00")]:
		return fmt.Errorf("the key %s is repeated", name)
	default:
		s.rest = value
	}
	seen[strings.Join(path, "\x00")] = true
	if s.skip(); s.rest == "" || strings.HasPrefix(s.rest, "\n") || strings.HasPrefix(s.rest, "\r\n") || s.rest[0] == '#' {
		return fmt.Errorf("%s has no value", name)
	}
	return s.value()
}

// tomlBare matches values without quotes and brackets: dates, times, numbers and booleans.
var tomlBare = lazyregexp.New(`^(?:\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?|` +
	`0x[0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*|0o[0-7]+(?:_[0-7]+)*|0b[01]+(?:_[01]+)*|` +
	`[+-]?(?:inf|nan|(?:0|[1-9]\d*(?:_\d+)*)(?:\.\d+(?:_\d+)*)?(?:[eE][+-]?\d+(?:_\d+)*)?)|true|false)`)

func (s *tomlScanner) value() error {
	if s.depth++; s.depth > maxDepth {
		return errors.New("this is nested too deeply")
	}
	defer func() { s.depth-- }()
	switch c := s.rest[0]; c {
	case '"', '\'':
		return s.text(c)
	case '[':
		return s.list(']', s.value)
	case '{':
		seen := map[string]bool{}
		return s.list('}', func() error { return s.pair(seen) })
	}
	bare := tomlBare().FindString(s.rest)
	s.rest = s.rest[len(bare):]
	if bare == "" || s.rest != "" && strings.IndexByte(" \t\r\n,]}#", s.rest[0]) < 0 {
		return errors.New("this is not a TOML value; a text needs quotation marks")
	}
	return nil
}

// list reads entries with commas, up to the bracket that closes them.
func (s *tomlScanner) list(closing byte, entry func() error) error {
	s.rest = s.rest[1:]
	for s.skipLines(); s.rest != "" && s.rest[0] != closing; s.skipLines() {
		if err := entry(); err != nil {
			return err
		}
		s.skipLines()
		if !strings.HasPrefix(s.rest, ",") {
			break
		}
		s.rest = s.rest[1:]
	}
	if s.rest == "" || s.rest[0] != closing {
		return fmt.Errorf("a comma or %c is missing", closing)
	}
	s.rest = s.rest[1:]
	return nil
}

// text reads a string.
func (s *tomlScanner) text(quote byte) error {
	closing := string(quote)
	if three := strings.Repeat(closing, 3); strings.HasPrefix(s.rest, three) {
		closing = three
	}
	for i := len(closing); i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\n' && len(closing) == 1:
			return errors.New("a string has no end")
		case c == '\\' && quote == '"':
			i++
			if i == len(s.rest) || strings.IndexByte(`btnfre"\uUx`, s.rest[i]) < 0 && (len(closing) == 1 || strings.IndexByte(" \t\r\n", s.rest[i]) < 0) {
				s.rest = s.rest[i-1:]
				return errors.New(`a string has a backslash that begins no escape; write \\ or use single quotation marks`)
			}
		case strings.HasPrefix(s.rest[i:], closing):
			i += len(closing)
			for len(closing) == 3 && i < len(s.rest) && s.rest[i] == quote { // they belong to the string
				i++
			}
			s.rest = s.rest[i:]
			return nil
		}
	}
	return errors.New("a string has no end")
}
