package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// edit is one thing that should stand in a JSON file: a member of an object, or
// an element of a list.
type edit struct {
	path   []string
	value  string // compact JSON
	list   bool   // path is a list that has value as an element
	within string // elements are groups that have a list of this name: ours is in there
	ours   func(bare string) bool
	// among says that path is a member of an object that may be there. If it is
	// not, nothing is written.
	among bool
}

// editJSON makes all edits in a text, each by changing only its own place. The
// result is read again before anybody gets it.
func editJSON(f File, present []byte) ([]byte, error) {
	src := string(present)
	if strings.TrimSpace(src) == "" {
		src = "{}\n"
	}
	before := src
	for _, e := range f.edits {
		var err error
		if src, err = e.apply(src, f.remove); err != nil {
			return nil, err
		}
	}
	if _, err := parse(src); err != nil {
		return nil, fmt.Errorf("after the change it could not be read: %w", err)
	}
	if src == before && present != nil {
		return present, nil
	}
	return []byte(src), nil
}

func (e edit) apply(src string, remove bool) (string, error) {
	root, err := parse(src)
	if err != nil {
		return "", err
	}
	if root.kind != '{' {
		return "", errors.New("this is no JSON object")
	}
	v, rest := find(root, e.path)
	if e.among && !e.concerns(src, v, rest, remove) {
		return src, nil
	}
	switch there := len(rest) == 0; {
	case !remove && e.stands(src, root):
		return src, nil
	case !remove && !e.list && there:
		return src[:v.start] + e.over(src, v) + src[v.end:], nil
	}
	if src, err = e.takeOut(src); err != nil || remove {
		return src, err
	}
	return e.putIn(src)
}

// concerns reports whether an edit with among has something to do. What a person
// wrote under the same name stays.
func (e edit) concerns(src string, v value, rest []string, remove bool) bool {
	if len(rest) == 0 {
		return bare(src, v) == e.value
	}
	return !remove && len(rest) == 1 && v.kind == '{'
}

// over is the value for the place of an older one.
func (e edit) over(src string, v value) string {
	return spread(src, indented(e.value, indentOf(src, v.start), unitOf(src)))
}

// stands says whether exactly this is there already, and nothing else of ours.
func (e edit) stands(src string, root value) bool {
	v, rest := find(root, e.path)
	if len(rest) > 0 {
		return false
	}
	if !e.list {
		return bare(src, v) == e.value
	}
	exact, mine := 0, 0
	for _, el := range v.entries {
		text := bare(src, el.value)
		if text == e.value {
			exact++
		}
		mine += e.count(src, el.value, text)
	}
	return exact == 1 && mine == 1
}

// count is how many entries of ours an element is or holds.
func (e edit) count(src string, el value, text string) int {
	if e.within == "" {
		if e.ours(text) {
			return 1
		}
		return 0
	}
	n := 0
	inner, rest := find(el, []string{e.within})
	for _, h := range inner.entries {
		if len(rest) == 0 && e.ours(bare(src, h.value)) {
			n++
		}
	}
	return n
}

// find goes down a path as far as it is there.
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

// takeOut removes what is ours, and what became empty by it.
func (e edit) takeOut(src string) (string, error) {
	for {
		root, err := parse(src)
		if err != nil {
			return "", err
		}
		where, ok := e.locate(src, root)
		if !ok {
			return src, nil
		}
		src = cut(src, where)
	}
}

// place is an entry and what it stands in.
type place struct {
	in value
	i  int
}

// locate finds something of ours: the largest thing that has nothing else.
func (e edit) locate(src string, root value) (place, bool) {
	var path []place
	v := root
	for _, name := range e.path {
		i, ok := v.get(name)
		if !ok {
			return place{}, false
		}
		path = append(path, place{v, i})
		v = v.entries[i].value
	}
	if e.list {
		more, ok := e.element(src, v)
		if !ok {
			return place{}, false
		}
		path = append(path, more...)
	}
	for len(path) > 1 && len(path[len(path)-1].in.entries) == 1 {
		path = path[:len(path)-1]
	}
	return path[len(path)-1], true
}

// element finds an element of ours in a list, and inside of it if it is a group.
func (e edit) element(src string, list value) ([]place, bool) {
	for i, el := range list.entries {
		if e.within == "" {
			if e.ours(bare(src, el.value)) {
				return []place{{list, i}}, true
			}
			continue
		}
		at, ok := el.value.get(e.within)
		if !ok {
			continue
		}
		inner := el.value.entries[at].value
		for j, h := range inner.entries {
			if !e.ours(bare(src, h.value)) {
				continue
			}
			if len(inner.entries) == 1 {
				return []place{{list, i}}, true
			}
			return []place{{inner, j}}, true
		}
	}
	return nil, false
}

// cut takes an entry out, with its comma and its line. The comma before it goes
// when nothing follows: strict readers take none there.
func cut(src string, p place) string {
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
		out = closeUp(out, p.in.start)
	}
	return out
}

// closeUp joins the brackets of what became empty.
func closeUp(src string, open int) string {
	inside := strings.TrimLeft(src[open+1:], " \t\r\n")
	if inside != "" && (inside[0] == '}' || inside[0] == ']') {
		return src[:open+1] + inside
	}
	return src
}

// putIn adds the value at the end of what it belongs to.
func (e edit) putIn(src string) (string, error) {
	root, err := parse(src)
	if err != nil {
		return "", err
	}
	v, rest := find(root, e.path)
	text := e.value
	if e.list && len(rest) > 0 {
		text = "[" + text + "]"
	}
	for i := len(rest) - 1; i > 0; i-- {
		text = "{" + compact(rest[i]) + ":" + text + "}"
	}
	want := byte('{')
	if len(rest) == 0 {
		want = '['
	} else {
		text = compact(rest[0]) + ":" + text
	}
	if v.kind != want {
		return "", fmt.Errorf("%s is something else than it should be", strings.Join(e.path[:len(e.path)-len(rest)], "."))
	}
	return add(src, v, text), nil
}

// add writes an entry behind the last one of v, indented like its neighbours.
func add(src string, v value, text string) string {
	newline := spread(src, "\n")
	outer := indentOf(src, v.start)
	unit := unitOf(src)
	inner := outer + unit
	if n := len(v.entries); n > 0 && strings.TrimSpace(src[strings.LastIndexByte(src[:v.entries[n-1].start], '\n')+1:v.entries[n-1].start]) == "" {
		inner = indentOf(src, v.entries[n-1].start)
	}
	text = spread(src, indented(text, inner, unit))
	body := strings.TrimRight(src[:v.end-1], " \t\r\n")
	tail := src[v.end-1:]
	if n := len(v.entries); n > 0 {
		if last := v.entries[n-1]; last.comma == 0 {
			body = body[:last.value.end] + "," + body[last.value.end:]
		} else {
			text += "," // as whoever wrote this does
		}
	}
	return body + newline + inner + text + newline + outer + tail
}

// spread writes the ends of lines as the file has them.
func spread(src, text string) string {
	if strings.Contains(src, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// indented spreads compact JSON over lines: a member with its name, or a value.
func indented(text, prefix, unit string) string {
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

// indentOf is the white space at the beginning of the line of a place.
func indentOf(src string, at int) string {
	line := src[strings.LastIndexByte(src[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unitOf is the white space of the first line that has any.
func unitOf(src string) string {
	for line := range strings.Lines(src) {
		if in := indentOf(line, 0); in != "" && strings.TrimSpace(line) != "" && strings.TrimSpace(line)[0] == '"' {
			return in
		}
	}
	return "  "
}
