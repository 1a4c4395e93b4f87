package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback"
)

// A setting is a key and the function that reads its value.
type setting struct {
	key  string
	read func(value)
	// unsupported is why this release rejects the key, or "". Such a setting is never
	// ignored, because the author of the file relies on it.
	unsupported string
}

// value is a node of the file, the path of keys to it, and its position.
type value struct {
	node ast.Node
	key  string
	at   position
}

// fields reads the mapping n, which is at path in the file, with a table of settings.
// Unknown and repeated keys are problems.
func (l *loader) fields(n ast.Node, path string, table []setting) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		l.addProblem(positionOf(n), "write keys and values, as in "+table[0].key+": …", "%s is %s", cmp.Or(path, "this file"), describe(n))
		return
	}
	seen := map[string]position{}
	for _, v := range m.Values {
		l.field(v, path, table, seen)
	}
}

func (l *loader) field(v *ast.MappingValueNode, path string, table []setting, seen map[string]position) {
	here, name := positionOf(v.Key), keyName(v.Key)
	full := strings.TrimPrefix(path+"."+name, ".")
	if first, twice := seen[name]; twice {
		l.addProblem(here, "write it once", "%s is already set in line %d", full, first.line)
		return
	}
	seen[name] = here
	i := slices.IndexFunc(table, func(s setting) bool { return s.key == name })
	switch {
	case i < 0:
		l.addProblem(here, suggestKey(name, table), "unknown setting %s", quote(full))
	case table[i].unsupported != "":
		l.addProblem(here, "remove it", "%s: this release %s", full, table[i].unsupported)
	default:
		table[i].read(value{v.Value, full, valuePosition(v.Value, here)})
	}
}

// suggestKey returns what to write instead of an unknown key. It suggests the name that the
// setting has here, the most similar key, or all supported keys.
func suggestKey(name string, table []setting) string {
	var known, supported []string
	for _, s := range table {
		known = append(known, s.key)
		if s.unsupported == "" {
			supported = append(supported, s.key)
		}
	}
	if s, ok := renamedSettings[name]; ok {
		return s
	}
	if near := nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "the settings here are " + strings.Join(supported, ", ")
}

func keyName(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.String()
}

// valuePosition returns the position of a value, or the position of its key if there is no
// value.
func valuePosition(n ast.Node, key position) position {
	if n == nil || n.Type() == ast.NullType {
		return key
	}
	return positionOf(n)
}

// describe returns what a node is, such as "a list".
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode, nil:
		return "empty"
	}
	return "no value"
}

// group returns a function that reads a nested mapping with a table of settings.
func (l *loader) group(table []setting) func(value) {
	return func(v value) {
		if l.hasValue(v) {
			l.fields(v.node, v.key, table)
		}
	}
}

// list calls each for every entry of the list v. The key of an entry ends with its number,
// from 1. If v is not a list, list adds a problem.
func (l *loader) list(v value, each func(value)) {
	if !l.hasValue(v) {
		return
	}
	s, ok := v.node.(*ast.SequenceNode)
	if !ok {
		l.addProblem(v.at, "write a list, with - before each entry", "%s is %s", v.key, describe(v.node))
		return
	}
	for i, n := range s.Values {
		entry := v.at
		if i < len(s.Entries) {
			entry = tokenPosition(s.Entries[i].Start)
		}
		each(value{n, v.key + "[" + strconv.Itoa(i+1) + "]", valuePosition(n, entry)})
	}
}

// hasValue reports whether there is a value, and adds a problem if not. A key without a
// value is probably a mistake.
func (l *loader) hasValue(v value) bool {
	if v.node == nil || v.node.Type() == ast.NullType {
		l.addProblem(v.at, "write a value, or remove the key", "%s is empty", v.key)
		return false
	}
	return true
}

// scalar returns a string or an integer: raw is its content in the file, and text has its
// variables expanded. The file is already parsed, so a variable cannot add keys or entries.
// Any other value is a problem, and ok is false.
func (l *loader) scalar(v value, example string) (raw, text string, ok bool) {
	if !l.hasValue(v) {
		return "", "", false
	}
	switch n := v.node.(type) {
	case *ast.StringNode:
		text, ok = l.expand(v, n.Value)
		return n.Value, text, ok
	case *ast.IntegerNode:
		raw = n.Token.Value
		if i, err := strconv.ParseInt(raw, 10, 64); err != nil || strconv.FormatInt(i, 10) != raw {
			l.addProblem(v.at, "use only the digits 0 to 9", "%s: %s is read as different numbers by different programs", v.key, quote(raw))
			return "", "", false
		}
		return raw, raw, true
	}
	l.addProblem(v.at, "write "+example, "%s is %s", v.key, describe(v.node))
	return "", "", false
}

// text returns a function that reads one line of text and calls set, which returns what is
// wrong with the text, or "". A number without quotes is a problem.
func (l *loader) text(example string, set func(text string) (problem string)) func(value) {
	return func(v value) {
		if n, isNumber := v.node.(*ast.IntegerNode); isNumber {
			fix := `put it in quotes if it is correct: "` + n.Token.Value + `"`
			if l.secrets {
				fix = "put it in quotes if it is correct"
			}
			l.addProblem(v.at, fix, "%s is a number", v.key)
			return
		}
		raw, text, ok := l.scalar(v, example)
		switch {
		case !ok:
		case strings.TrimSpace(text) == "":
			l.addProblem(v.at, "write "+example+", or remove the key", "%s is empty", v.key)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
			l.addProblem(v.at, "write one line of UTF-8 text", "%s has control characters, or is not UTF-8", v.key)
		default:
			if problem := set(text); problem != "" {
				l.addProblem(v.at, "write "+example, "%s: %s %s", v.key, l.excerpt(raw), problem)
			}
		}
	}
}

// excerpt returns a text of the file in quotes, or what stands for a secret.
func (l *loader) excerpt(s string) string {
	if l.secrets {
		return "the value"
	}
	return quote(s)
}

// secret returns a function that reads one line of text, which no problem repeats, into dst.
// check returns what is wrong with the text, or "".
func (l *loader) secret(dst *string, example string, check func(string) string) func(value) {
	if check == nil {
		check = func(string) string { return "" }
	}
	return func(v value) {
		l.secrets = true
		defer func() { l.secrets = false }()
		l.textTo(dst, example, check)(v)
	}
}

// textTo returns a function that reads one line of text into dst. Each check returns what is
// wrong with the text, or "".
func (l *loader) textTo(dst *string, example string, checks ...func(string) string) func(value) {
	return l.text(example, func(s string) (problem string) {
		*dst = s
		for _, check := range checks {
			problem = cmp.Or(problem, check(s))
		}
		return problem
	})
}

// number returns a function that reads a number with or without a unit. It calls set, which
// returns what is wrong with the number, or "".
func (l *loader) number(example string, set func(text string) (problem string)) func(value) {
	return func(v value) {
		raw, text, ok := l.scalar(v, example)
		if !ok {
			return
		}
		if problem := set(text); problem != "" {
			l.addProblem(v.at, "write "+example, "%s: %s %s", v.key, quote(raw), problem)
		}
	}
}

// count returns a function that reads a whole number from 1 to 1000000 into dst.
func (l *loader) count(dst *int) func(value) {
	return l.number("a whole number from 1 to 1000000", func(s string) string { return readCount(s, dst) })
}

// countOrOff is like count for a setting that can be off, which is -1.
func (l *loader) countOrOff(dst *int) func(value) {
	return l.number("a whole number from 1 to 1000000, or off", func(s string) string {
		if s == "off" {
			*dst = -1
			return ""
		}
		return readCount(s, dst)
	})
}

// readCount reads a whole number from 1 to 1000000 into dst. It returns what is wrong with it, or
// "".
func readCount(s string, dst *int) (problem string) {
	const most = 1_000_000
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != s {
		return "is not valid"
	}
	*dst = n
	return ""
}

// duration returns a function that reads a duration such as 10m or 90d, or a whole number
// of seconds, into dst. Zero is a problem.
func (l *loader) duration(dst *time.Duration) func(value) {
	return l.number("90s, 10m, 2h or 7d, or a number of seconds", func(s string) string {
		d, err := askback.ParseDuration(s)
		switch {
		case err != nil:
			return "is not a duration"
		case d == 0:
			return "is zero"
		}
		*dst = d
		return ""
	})
}
