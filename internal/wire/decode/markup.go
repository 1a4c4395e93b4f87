package decode

import (
	"slices"
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// embedded is a field that was sent inside the text of another field (W10). This happens when a model
// closes a parameter with a wrong tag. The client then treats the tag and all further parameters as text.
// Only this markup at the end of a text, its tail, is removed. Other markup, and markup in a code span,
// belongs to the text.
type embedded struct {
	name, text string
	offset     int    // the offset in the text
	from       string // the JSON pointer to the text
}

// callTags are the tags around a tool call. Closing tags of a tool call, or of the field itself, are removed
// from the end of a text.
var callTags = []string{"parameter", "invoke", "function_calls", "tool_call", "tool_use"}

// textFields are the fields whose texts may end with markup of the tool call.
var textFields = []string{"question", "header", "label", "description", "title", "context"}

// recoverableFields lists the fields that may be embedded parameters. The value is true if the field is a
// string. The recipients and the deadline are never read from markup.
var recoverableFields = map[string]bool{
	"question": true, "header": true, "title": true, "context": true, "description": true,
	"questions": false, "options": false, "choices": false, "descriptions": false, "default": false,
	"multiSelect": false, "multi_select": false, "multiple": false, "allow_custom": false, "required": false,
}

// EndsInMarkup reports whether the text of a field ends with markup of the tool call that
// sent it.
func EndsInMarkup(field, text string) bool {
	_, _, found := cutTail(field, text)
	return found
}

// modelMembers is like members for an object whose texts a model wrote. A parameter that is
// embedded in a text is read as a member of the object, unless the object has that member.
func (r *reader) modelMembers(n node, example string, names []string, read memberReader) {
	if !r.require(n, jcs.Object, example) {
		return
	}
	var found []embedded
	for _, m := range n.Members() {
		r.enter(m.Name)
		child := n.in(m.Value)
		if m.Value.Kind == jcs.String && slices.Contains(textFields, m.Name) {
			var tail []embedded
			child, tail = r.removeMarkup(child, m.Name)
			for i := range tail {
				tail[i].from = r.pointer()
			}
			found = append(found, tail...)
		}
		r.member(child, n.Value, m.Name, names, read)
		r.leave()
	}
	for i, p := range found {
		r.enter(p.name)
		r.readParameter(n, p, found[:i], names, read)
		r.leave()
	}
}

// removeMarkup returns n without the markup at the end of its text, and the parameters in
// that markup. It adds a warning if there was markup.
func (r *reader) removeMarkup(n node, field string) (node, []embedded) {
	head, tail, found := cutTail(field, n.Text())
	if !found {
		return n, nil
	}
	detail, fix := "the text ended with markup of the tool call", "the markup was removed; send only the text"
	if len(tail) > 0 {
		names := make([]string, len(tail))
		for i, p := range tail {
			names[i] = truncate(p.name, 30)
		}
		detail = "the text contained other parameters of the call: " + truncate(strings.Join(names, ", "), 100)
		fix = "each was read as a field of its own; send them that way"
	}
	r.warn(detail, fix)
	return r.textNode(n, head), tail
}

// textNode returns n with text as its value.
func (r *reader) textNode(n node, text string) node {
	n.src = marshal(text)
	n.Value, _ = jcs.Parse(n.src) // a string in UTF-8 is always JSON
	return n
}

// readParameter reads an embedded parameter as a field of n, unless n has that field. It adds a problem if
// the parameter is not in recoverableFields, or is also in earlier.
func (r *reader) readParameter(n node, p embedded, earlier []embedded, names []string, read memberReader) {
	isText, known := recoverableFields[p.name]
	switch {
	case !known ||
		slices.ContainsFunc(earlier, func(e embedded) bool { return canonicalName(e.name) == canonicalName(p.name) }):
		r.problemAt(p.from,
			"this text contains a parameter of the call that is not accepted here: "+truncate(p.name, 60),
			"send each field separately; put markup that you write about in `backticks`")
	case slices.ContainsFunc(n.Members(), func(m jcs.Member) bool {
		return canonicalName(m.Name) == canonicalName(p.name) && m.Value.Kind != jcs.Null
	}):
		r.warn("this parameter was also in another text", "the field itself was used")
	default:
		value := r.textNode(n, p.text)
		if v, err := jcs.Parse([]byte(p.text)); err == nil && !isText {
			value.Value, value.src = v, []byte(p.text)
		}
		r.member(value, n.Value, p.name, names, read)
	}
}

// canonicalName returns the canonical name of a field that has several names.
func canonicalName(name string) string {
	switch name {
	case "choices":
		return "options"
	case "multi_select", "multiple":
		return "multiSelect"
	}
	return name
}

// cutTail splits text into its head and the parameters of its tail, in linear time. found
// reports whether there is a tail.
func cutTail(field, text string) (head string, tail []embedded, found bool) {
	if strings.IndexByte(text, '<') < 0 {
		return text, nil, false
	}
	ticks := 0
	for i := 0; ; {
		next := strings.IndexAny(text[i:], "`<")
		if next < 0 {
			return text, nil, false
		}
		i += next
		if text[i] == '<' && ticks%2 == 0 && isTailStart(text, i) {
			run := readTail(text[i:])
			if i+run.size == len(text) {
				return run.cut(field, text, i)
			}
			// A sequence that begins inside this one ends at the same place.
			ticks += strings.Count(text[i:i+run.size], "`")
			i += run.size
			continue
		}
		if text[i] == '`' {
			ticks++
		}
		i++
	}
}

// isTailStart reports whether a tail can begin at i: with a closing tag, or with a
// parameter at the beginning of a line or after a tag.
func isTailStart(text string, i int) bool {
	t, ok := readTag(text[i:])
	if !ok || t.closes {
		return ok
	}
	before := strings.TrimRight(text[:i], " \t")
	return before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, ">")
}

// A tail is a sequence of tags and parameters. Other text may follow the sequence.
type tail struct {
	params  []embedded
	closers []tag // the closing tags before the first parameter
	size    int   // up to the text that belongs to no parameter, or to the end
}

func readTail(s string) tail {
	var run tail
	for {
		run.size += len(s[run.size:]) - len(strings.TrimLeft(s[run.size:], " \t\r\n"))
		t, ok := readTag(s[run.size:])
		if !ok {
			return run
		}
		t.offset = run.size
		run.size += t.size
		switch {
		case !t.closes:
			size := valueSize(s[run.size:], t.name)
			run.params = append(run.params,
				embedded{name: t.name, text: strings.TrimSpace(s[run.size : run.size+size]), offset: t.offset})
			run.size += size
		case len(run.params) == 0:
			run.closers = append(run.closers, t)
		}
	}
}

// cut splits off the tail, which begins at text[at:]. found is false if the tail belongs to the text. A
// closing tag of an element that the text opens is not part of the tail.
func (run tail) cut(field, text string, at int) (head string, params []embedded, found bool) {
	closers := run.closers
	for range maxOpenTags {
		if len(closers) == 0 || !strings.Contains(text[:at], "<"+closers[0].name) {
			break
		}
		closers = closers[1:]
	}
	own := len(closers) > 0
	for _, c := range closers {
		own = own && (c.name == field || slices.Contains(callTags, c.name))
	}
	switch {
	case len(closers) > 0 && (own || len(run.params) > 0):
		return strings.TrimSpace(text[:at+closers[0].offset]), run.params, true
	case len(run.params) > 0:
		return strings.TrimSpace(text[:at+run.params[0].offset]), run.params, true
	}
	return text, nil, false
}

// maxOpenTags is the maximum number of closing tags for which cut searches the text. It
// limits the time for malicious texts.
const maxOpenTags = 8

// valueSize returns the size of the value at the start of s. The value ends before the next
// parameter, before the closing tag of its parameter or of the call, or at the end of s.
func valueSize(s, name string) int {
	for i := strings.IndexByte(s, '<'); i >= 0; {
		t, ok := readTag(s[i:])
		if ok && (!t.closes || t.name == name || slices.Contains(callTags, t.name)) {
			return i
		}
		more := strings.IndexByte(s[i+1:], '<')
		if more < 0 {
			break
		}
		i += 1 + more
	}
	return len(s)
}

// A tag is </name>, or <parameter name="name">, each with or without the prefix antml.
type tag struct {
	name   string
	closes bool
	size   int // in bytes
	offset int // in the text of the tail
}

func readTag(s string) (tag, bool) {
	rest, ok := strings.CutPrefix(s, "<")
	if !ok {
		return tag{}, false
	}
	rest, closes := strings.CutPrefix(rest, "/")
	rest = strings.TrimPrefix(rest, "antml:")
	if closes {
		name := tagName(rest)
		return tag{name: name, closes: true, size: len(s) - len(rest) + len(name) + 1}, name != "" &&
			strings.HasPrefix(rest[len(name):], ">")
	}
	rest, ok = strings.CutPrefix(rest, `parameter name="`)
	name := tagName(rest)
	return tag{name: name, size: len(s) - len(rest) + len(name) + 2}, ok && name != "" &&
		strings.HasPrefix(rest[len(name):], `">`)
}

// tagName returns the name at the beginning of s.
func tagName(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
