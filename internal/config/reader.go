package config

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback"
)

// A setting is one key and what is done with its value.
type setting struct {
	key  string
	read func(value)
	// later says why this release does not take the key, which it knows. Such a
	// setting is refused and never ignored: whoever writes it counts on it.
	later string
}

// value is a node of the file, the path of keys to it, and where it stands.
type value struct {
	node ast.Node
	key  string
	at   position
}

// fields reads a mapping by a table of settings.
func (f *file) fields(n ast.Node, path string, table []setting) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		f.wrong(place(n), "write keys and values, as in "+table[0].key+": …", "%s is %s", orFile(path), kind(n))
		return
	}
	seen := map[string]position{}
	for _, v := range m.Values {
		f.field(v, path, table, seen)
	}
}

func (f *file) field(v *ast.MappingValueNode, path string, table []setting, seen map[string]position) {
	here, name := place(v.Key), keyName(v.Key)
	full := join(path, name)
	if first, twice := seen[name]; twice {
		f.wrong(here, "write it once", "%s stands in line %d already", full, first.line)
		return
	}
	seen[name] = here
	s, ok := find(table, name)
	switch {
	case !ok:
		f.wrong(here, instead(name, table), "there is no setting %s", quote(full))
	case s.later != "":
		f.wrong(here, "leave it out", "%s: this release %s", full, s.later)
	default:
		s.read(value{v.Value, full, valuePlace(v.Value, here)})
	}
}

func find(table []setting, name string) (setting, bool) {
	for _, s := range table {
		if s.key == name {
			return s, true
		}
	}
	return setting{}, false
}

// instead names the setting that was probably meant, or those there are.
func instead(name string, table []setting) string {
	var known, taken []string
	for _, s := range table {
		known = append(known, s.key)
		if s.later == "" {
			taken = append(taken, s.key)
		}
	}
	if s, ok := elsewhere[name]; ok {
		return s
	}
	if near := nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(taken, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// orFile is what a problem with the whole is about.
func orFile(path string) string {
	if path == "" {
		return "this file"
	}
	return path
}

func keyName(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.String()
}

// valuePlace is where a value stands: beside its key when there is none.
func valuePlace(n ast.Node, key position) position {
	if n == nil || n.Type() == ast.NullType {
		return key
	}
	return place(n)
}

// kind names what a node is.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode, nil:
		return "empty"
	}
	return "no value"
}

// group reads a mapping inside a mapping.
func (f *file) group(table []setting) func(value) {
	return func(v value) {
		if f.filled(v) {
			f.fields(v.node, v.key, table)
		}
	}
}

// list reads each entry of a list; their keys are counted from 1.
func (f *file) list(v value, each func(value)) {
	if !f.filled(v) {
		return
	}
	s, ok := v.node.(*ast.SequenceNode)
	if !ok {
		f.wrong(v.at, "write a list, with - before each entry", "%s is %s", v.key, kind(v.node))
		return
	}
	for i, n := range s.Values {
		entry := v.at
		if i < len(s.Entries) {
			entry = at(s.Entries[i].Start)
		}
		each(value{n, v.key + "[" + strconv.Itoa(i+1) + "]", valuePlace(n, entry)})
	}
}

// filled says whether there is a value, and notes if not: a key whose value was
// forgotten says nothing that could be relied on.
func (f *file) filled(v value) bool {
	if v.node == nil || v.node.Type() == ast.NullType {
		f.wrong(v.at, "write a value, or leave the key out", "%s is empty", v.key)
		return false
	}
	return true
}

// scalar gives the text of a value as it stands in the file, and with the
// environment in it. What went into it can never become more than a text.
func (f *file) scalar(v value, example string) (raw, text string, ok bool) {
	if !f.filled(v) {
		return "", "", false
	}
	switch n := v.node.(type) {
	case *ast.StringNode:
		text, ok = f.interpolate(v, n.Value)
		return n.Value, text, ok
	case *ast.IntegerNode:
		raw = n.Token.Value
		if i, err := strconv.ParseInt(raw, 10, 64); err != nil || strconv.FormatInt(i, 10) != raw {
			f.wrong(v.at, "write it with the digits 0 to 9 alone", "%s: %s is read as different numbers by different programs", v.key, quote(raw))
			return "", "", false
		}
		return raw, raw, true
	}
	f.wrong(v.at, "write "+example, "%s is %s", v.key, kind(v.node))
	return "", "", false
}

// text reads one line of text and gives it to keep, which says what is wrong
// with it, or nothing.
func (f *file) text(example string, keep func(text string) (wrong string)) func(value) {
	return func(v value) {
		if n, isNumber := v.node.(*ast.IntegerNode); isNumber {
			f.wrong(v.at, `put it between quotes if it is right: "`+n.Token.Value+`"`, "%s is a number", v.key)
			return
		}
		raw, text, ok := f.scalar(v, example)
		switch {
		case !ok:
		case strings.TrimSpace(text) == "":
			f.wrong(v.at, "write "+example+", or leave the key out", "%s is empty", v.key)
		case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
			f.wrong(v.at, "write it in one line of UTF-8", "%s has control characters, or is not UTF-8", v.key)
		default:
			if wrong := keep(text); wrong != "" {
				f.wrong(v.at, "write "+example, "%s: %s %s", v.key, quote(raw), wrong)
			}
		}
	}
}

// count reads a whole number that is more than nothing.
func (f *file) count(into *int) func(value) {
	const most = 1_000_000
	return func(v value) {
		raw, text, ok := f.scalar(v, "a whole number")
		if !ok {
			return
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
			f.wrong(v.at, "write a whole number from 1 to 1000000", "%s: %s is no such number", v.key, quote(raw))
			return
		}
		*into = n
	}
}

// duration reads 10m, 90d, or a whole number of seconds.
func (f *file) duration(into *time.Duration) func(value) {
	const fix = "write 90s, 10m, 2h or 7d, or a number of seconds"
	return func(v value) {
		raw, text, ok := f.scalar(v, "90s, 10m, 2h or 7d, or a number of seconds")
		if !ok {
			return
		}
		d, err := askback.ParseDuration(text)
		switch {
		case err != nil:
			f.wrong(v.at, fix, "%s: %s is not a duration", v.key, quote(raw))
		case d == 0:
			f.wrong(v.at, fix, "%s: %s is no time at all", v.key, quote(raw))
		default:
			*into = d
		}
	}
}
