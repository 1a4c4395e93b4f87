package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An Edit sets a member of an object in a JSON file, or adds an element to a list.
type Edit struct {
	Path  []string
	Value string // compact JSON
	List  bool   // Path is a list, and Value is an element to add
	// Group, if not "", is the name of a list in each element. Entries of Askback can be in this inner list.
	Group string
	IsOwn func(compact string) bool // reports whether Askback wrote an entry
	// Hook is the name in the command of a hook, or "". The edit keeps the flags of such a hook, because a
	// person may have added some.
	Hook string
	// Keep is set if an existing entry of Askback stays unchanged, because a person may have changed the
	// entry.
	Keep bool
	// OnlyIfParent limits the edit to files that already have the parent object of the member.
	OnlyIfParent bool
	// KeepWithOthers limits the removal of a member to files without other members.
	KeepWithOthers bool
}

// EditJSON returns present with the edits applied. If remove is set, it removes the entries of Askback
// instead. An empty file counts as {}. EditJSON returns an error if the content is not a JSON object, before
// or after an edit.
func EditJSON(present []byte, remove bool, edits ...Edit) ([]byte, error) {
	src := string(present)
	if strings.TrimSpace(src) == "" {
		src = "{}\n"
	}
	before := src
	for _, e := range edits {
		var err error
		if src, err = e.apply(src, remove); err != nil {
			return nil, err
		}
	}
	if _, err := parse(src); err != nil {
		return nil, fmt.Errorf("the changed file would be invalid: %w", err)
	}
	if src == before && present != nil {
		return present, nil
	}
	return []byte(src), nil
}

// apply returns src with the edit, or without the entries of Askback if remove is set.
func (e Edit) apply(src string, remove bool) (string, error) {
	root, err := parse(src)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", errors.New("this is not a JSON object")
	}
	if remove && e.KeepWithOthers && len(root.entries) > 1 {
		return src, nil
	}
	v, rest := find(root, e.Path)
	if e.Hook != "" && len(rest) == 0 {
		for _, own := range e.ownEntries(src, v) {
			e.Value = WithFlags(e.Value, compactText(src, own.in.entries[own.i].value), e.Hook)
		}
	}
	if e.OnlyIfParent && !e.applies(src, v, rest, remove) {
		return src, nil
	}
	switch there := len(rest) == 0; {
	case !remove && e.isApplied(src, root):
		return src, nil
	case !remove && !e.List && there:
		return src[:v.start] + e.replacement(src, v) + src[v.end:], nil
	}
	if src, err = e.removeOwn(src); err != nil || remove {
		return src, err
	}
	return e.insert(src)
}

// applies reports whether an edit with OnlyIfParent applies. Such an edit applies to a member with the value
// of the edit, and to a missing member of an object that exists. A member with another value was written by a
// person.
func (e Edit) applies(src string, v value, rest []string, remove bool) bool {
	if len(rest) == 0 {
		return compactText(src, v) == e.Value
	}
	return !remove && len(rest) == 1 && v.kind == '{'
}

// replacement returns the new value, formatted for the place of the value v in src.
func (e Edit) replacement(src string, v value) string {
	return WithNewlines(src, Indented(e.Value, indentOf(src, v.start), indentUnit(src)))
}

// isApplied reports whether src has the edit, and no other entries of Askback.
func (e Edit) isApplied(src string, root value) bool {
	v, rest := find(root, e.Path)
	if len(rest) > 0 {
		return false
	}
	if !e.List {
		return compactText(src, v) == e.Value
	}
	isValue := func(el entry) bool { return e.Keep || compactText(src, el.value) == e.Value }
	return slices.ContainsFunc(v.entries, isValue) && len(e.ownEntries(src, v)) == 1
}

// find returns the value at path. If there is no such value, it returns the deepest existing parent and the
// rest of the path.
func find(v value, path []string) (at value, rest []string) {
	for len(path) > 0 {
		i, ok := v.get(path[0])
		if !ok {
			break
		}
		v, path = v.entries[i].value, path[1:]
	}
	return v, path
}

// removeOwn removes the entries of Askback, and each object and list that would be empty
// without them.
func (e Edit) removeOwn(src string) (string, error) {
	for {
		root, err := parse(src)
		if err != nil {
			return "", err
		}
		where, ok := e.locate(src, root)
		if !ok {
			return src, nil
		}
		src = deleteEntry(src, where)
	}
}

// A location is the position of an entry: the value that contains it, and its index.
type location struct {
	in value
	i  int
}

// locate returns the location of an entry of Askback, or false if there is no such entry. If an object or
// list would be empty without the entry, it returns the location of the outermost such object or list
// instead.
func (e Edit) locate(src string, root value) (location, bool) {
	var path []location
	v := root
	for _, name := range e.Path {
		i, ok := v.get(name)
		if !ok {
			return location{}, false
		}
		path = append(path, location{v, i})
		v = v.entries[i].value
	}
	if e.List {
		own := e.ownEntries(src, v)
		if len(own) == 0 {
			return location{}, false
		}
		path = append(path, own[0])
	}
	for len(path) > 1 && len(path[len(path)-1].in.entries) == 1 {
		path = path[:len(path)-1]
	}
	return path[len(path)-1], true
}

// ownEntries returns the locations of the entries of Askback in list, or in the groups of list. For an entry
// without other entries in its group, it returns the location of the group.
func (e Edit) ownEntries(src string, list value) (own []location) {
	for i, el := range list.entries {
		if e.Group == "" {
			if e.IsOwn(compactText(src, el.value)) {
				own = append(own, location{list, i})
			}
			continue
		}
		inner, rest := find(el.value, []string{e.Group})
		for j, h := range inner.entries {
			switch {
			case len(rest) > 0 || !e.IsOwn(compactText(src, h.value)):
			case len(inner.entries) == 1:
				own = append(own, location{list, i})
			default:
				own = append(own, location{inner, j})
			}
		}
	}
	return own
}

// deleteEntry deletes an entry with its comma, and the line if nothing else is on it. If the
// last entry has no comma, it also deletes the comma before that entry, because strict parsers
// reject a trailing comma.
func deleteEntry(src string, p location) string {
	e := p.in.entries[p.i]
	from, to := e.start, e.value.end
	if e.comma > 0 {
		to = e.comma + 1
	}
	lineStart := strings.LastIndexByte(src[:from], '\n') + 1
	lineEnd := len(src)
	if n := strings.IndexByte(src[to:], '\n'); n >= 0 {
		lineEnd = to + n + 1
	}
	switch alone := strings.TrimSpace(src[lineStart:from]) == "" && strings.TrimSpace(src[to:lineEnd]) == ""; {
	case alone:
		from, to = lineStart, lineEnd
	case e.comma > 0:
		to += len(src[to:]) - len(strings.TrimLeft(src[to:], " \t"))
	}
	out := src[:from] + src[to:]
	if last := p.i == len(p.in.entries)-1; last && p.i > 0 && e.comma == 0 {
		c := p.in.entries[p.i-1].comma
		rest := out[c+1:]
		if between := src[c+1 : from]; strings.Trim(between, " \t") == "" {
			rest = out[from:]
		}
		out = out[:c] + rest
	}
	if len(p.in.entries) == 1 {
		out = joinBrackets(out, p.in.start)
	}
	return out
}

// joinBrackets removes the white space after the bracket at open, if only the closing bracket
// follows.
func joinBrackets(src string, open int) string {
	inside := strings.TrimLeft(src[open+1:], " \t\r\n")
	if inside != "" && (inside[0] == '}' || inside[0] == ']') {
		return src[:open+1] + inside
	}
	return src
}

// insert adds the value at the end of its parent, and creates missing parents. It returns an error if a
// parent is not an object, or not a list where the value is an element.
func (e Edit) insert(src string) (string, error) {
	root, err := parse(src)
	if err != nil {
		return "", err
	}
	v, rest := find(root, e.Path)
	text := e.Value
	if e.List && len(rest) > 0 {
		text = "[" + text + "]"
	}
	for i := len(rest) - 1; i > 0; i-- {
		text = "{" + Compact(rest[i]) + ":" + text + "}"
	}
	want := byte('{')
	if len(rest) == 0 {
		want = '['
	} else {
		text = Compact(rest[0]) + ":" + text
	}
	if v.kind != want {
		kind := map[byte]string{'{': "an object", '[': "a list"}[want]
		line := 1 + strings.Count(src[:v.start], "\n")
		return "", fmt.Errorf("line %d: %s is not %s", line, strings.Join(e.Path[:len(e.Path)-len(rest)], "."), kind)
	}
	return appendEntry(src, v, text), nil
}

// appendEntry adds an entry at the end of the object or list v, indented like the other entries. A list on
// one line stays on one line.
func appendEntry(src string, v value, text string) string {
	if n := len(v.entries); v.kind == '[' && n > 0 && v.entries[n-1].comma == 0 &&
		!strings.Contains(src[v.start:v.end], "\n") {
		end := v.entries[n-1].value.end
		return src[:end] + ", " + text + src[end:]
	}
	newline := WithNewlines(src, "\n")
	outer := indentOf(src, v.start)
	unit := indentUnit(src)
	inner := outer + unit
	if n := len(v.entries); n > 0 &&
		strings.TrimSpace(src[strings.LastIndexByte(src[:v.entries[n-1].start], '\n')+1:v.entries[n-1].start]) == "" {
		inner = indentOf(src, v.entries[n-1].start)
	}
	text = WithNewlines(src, Indented(text, inner, unit))
	body := strings.TrimRight(src[:v.end-1], " \t\r\n")
	tail := src[v.end-1:]
	if n := len(v.entries); n > 0 {
		if last := v.entries[n-1]; last.comma == 0 {
			body = body[:last.value.end] + "," + body[last.value.end:]
		} else {
			text += "," // like the other entries
		}
	}
	return body + newline + inner + text + newline + outer + tail
}

// WithNewlines returns text with the line ends of src.
func WithNewlines(src, text string) string {
	if strings.Contains(src, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// Indented formats compact JSON on several lines. text is a value, or a member of an object.
func Indented(text, prefix, unit string) string {
	name := ""
	if i := strings.Index(text, `":`); text[0] == '"' && i > 0 {
		name, text = text[:i+2]+" ", text[i+2:]
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), prefix, unit) != nil {
		return name + text
	}
	return name + b.String()
}

// indentOf returns the indentation of the line that contains src[at].
func indentOf(src string, at int) string {
	line := src[strings.LastIndexByte(src[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// indentUnit returns the indentation of the first indented line of src that begins with a
// quotation mark, or two spaces.
func indentUnit(src string) string {
	for line := range strings.Lines(src) {
		if in := indentOf(line, 0); in != "" && strings.TrimSpace(line) != "" && strings.TrimSpace(line)[0] == '"' {
			return in
		}
	}
	return "  "
}

// Find returns the value at path in a JSON file, as compact JSON. It returns false if the file is not JSON or
// has no such value.
func Find(content []byte, path ...string) (Compact string, ok bool) {
	root, err := parse(string(content))
	if err != nil {
		return "", false
	}
	v, rest := find(root, path)
	return compactText(string(content), v), len(rest) == 0
}
