package decode

import (
	"slices"
	"strings"

	"github.com/askback/askback/internal/jcs"
)

// A text may have swallowed what came behind it (W10): a model closed a
// parameter with a wrong tag, and its host took the tag and all parameters that
// follow for text. Only the end of a text can be such a tail. Markup in its
// middle, or in a code span, is what the text is about.

// parameter is one that a text swallowed.
type parameter struct {
	name, text string
	at         int    // in the text
	from       string // the field whose text that was
}

// ownTags are tags of the call itself: alone at the end of a text they say
// nothing but that it ended.
var ownTags = []string{"parameter", "invoke", "function_calls", "tool_call", "tool_use"}

// textFields can swallow a tail.
var textFields = []string{"question", "header", "label", "description", "title", "context"}

// swallowable are the fields that may come back out of a text, and whether they
// are text themselves. Who is asked, and when it ends, is not read from markup.
var swallowable = map[string]bool{
	"question": true, "header": true, "title": true, "context": true, "description": true,
	"questions": false, "options": false, "choices": false, "descriptions": false, "default": false,
	"multiSelect": false, "multi_select": false, "multiple": false, "allow_custom": false, "required": false,
}

// Swallowed says whether a text ends in markup of the call it was sent in. It
// is for texts that are never mended.
func Swallowed(field, text string) bool {
	_, _, found := cutTail(field, text)
	return found
}

// spoken is fields for objects whose texts a model wrote: what a text swallowed
// is read as the fields it should have been, where the object has none.
func (r *reader) spoken(n node, example string, by map[string]func(node)) {
	if !r.is(n, jcs.Object, example) {
		return
	}
	var found []parameter
	for _, m := range n.Members() {
		child := n.in(m.Name, m.Value)
		if m.Value.Kind == jcs.String && slices.Contains(textFields, m.Name) {
			var tail []parameter
			child, tail = r.withoutTail(child, m.Name)
			for i := range tail {
				tail[i].from = child.at
			}
			found = append(found, tail...)
		}
		r.field(child, m.Name, by)
	}
	for i, p := range found {
		r.swallowed(n, p, found[:i], by)
	}
}

// withoutTail takes off what the text of n swallowed.
func (r *reader) withoutTail(n node, field string) (node, []parameter) {
	head, tail, found := cutTail(field, n.Text())
	if !found {
		return n, nil
	}
	detail, fix := "the text ended in markup of the call", "it was taken off; send only the text"
	if len(tail) > 0 {
		names := make([]string, len(tail))
		for i, p := range tail {
			names[i] = short(p.name, 30)
		}
		detail = "the text had swallowed what came behind it: " + short(strings.Join(names, ", "), 100)
		fix = "each was read as a field of its own; send it so"
	}
	r.mend(n.at, detail, fix)
	return r.textNode(n, head), tail
}

// textNode is n with another text.
func (r *reader) textNode(n node, text string) node {
	n.src = plain(text)
	n.Value, _ = jcs.Parse(n.src) // a string in UTF-8 is always JSON
	return n
}

// swallowed reads a parameter as a field of n, unless n has it.
func (r *reader) swallowed(n node, p parameter, earlier []parameter, by map[string]func(node)) {
	at := n.in(p.name, jcs.Value{})
	isText, known := swallowable[p.name]
	switch {
	case !known || slices.ContainsFunc(earlier, func(e parameter) bool { return one(e.name) == one(p.name) }):
		r.wrong(p.from, "this text swallowed what came behind it, and it cannot be read: "+short(p.name, 60),
			"send each field by itself, and markup you write about in `backticks`")
	case slices.ContainsFunc(n.Members(), func(m jcs.Member) bool { return one(m.Name) == one(p.name) && m.Value.Kind != jcs.Null }):
		r.mend(at.at, "this stood in another text as well", "the field itself was read")
	default:
		value := r.textNode(at, p.text)
		if v, err := jcs.Parse([]byte(p.text)); err == nil && !isText {
			value.Value, value.src = v, []byte(p.text)
		}
		r.field(value, p.name, by)
	}
}

// one gives names of the same field as one.
func one(name string) string {
	switch name {
	case "choices":
		return "options"
	case "multi_select", "multiple":
		return "multiSelect"
	}
	return name
}

// cutTail splits a text from what it swallowed. It takes time linear in the text.
func cutTail(field, text string) (head string, tail []parameter, found bool) {
	ticks := 0
	for i := 0; ; {
		next := strings.IndexAny(text[i:], "`<")
		if next < 0 {
			return text, nil, false
		}
		i += next
		if text[i] == '<' && ticks%2 == 0 && beginsTail(text, i) {
			run := readTail(text[i:])
			if i+run.size == len(text) {
				return run.cut(field, text, i)
			}
			// Whatever begins between i and there runs into the same words.
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

// beginsTail says whether a tail can begin at i: with a closing tag, or with a
// parameter at the beginning of a line or behind a tag.
func beginsTail(text string, i int) bool {
	t, ok := readTag(text[i:])
	if !ok || t.closes {
		return ok
	}
	before := strings.TrimRight(text[:i], " \t")
	return before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, ">")
}

// tail is a run of tags and parameters.
type tail struct {
	params  []parameter
	closers []tag // before the first parameter, or all
	size    int   // up to the end, or to words that belong to no parameter
}

func readTail(s string) tail {
	var run tail
	for {
		run.size += len(s[run.size:]) - len(strings.TrimLeft(s[run.size:], " \t\r\n"))
		t, ok := readTag(s[run.size:])
		if !ok {
			return run
		}
		t.at = run.size
		run.size += t.size
		switch {
		case !t.closes:
			size := valueSize(s[run.size:], t.name)
			run.params = append(run.params, parameter{name: t.name, text: strings.TrimSpace(s[run.size : run.size+size]), at: t.at})
			run.size += size
		case len(run.params) == 0:
			run.closers = append(run.closers, t)
		}
	}
}

// cut decides about a run of tags from text[at:] to the end. Closing tags of
// something that stands open before are no part of it.
func (run tail) cut(field, text string, at int) (head string, params []parameter, found bool) {
	closers := run.closers
	for range maxOpened {
		if len(closers) == 0 || !strings.Contains(text[:at], "<"+closers[0].name) {
			break
		}
		closers = closers[1:]
	}
	own := len(closers) > 0
	for _, c := range closers {
		own = own && (c.name == field || slices.Contains(ownTags, c.name))
	}
	switch {
	case len(closers) > 0 && (own || len(run.params) > 0):
		return strings.TrimSpace(text[:at+closers[0].at]), run.params, true
	case len(run.params) > 0:
		return strings.TrimSpace(text[:at+run.params[0].at]), run.params, true
	}
	return text, nil, false
}

// maxOpened bounds the work for hostile texts.
const maxOpened = 8

// valueSize is where the value of a parameter ends: at its closing tag, at the
// next parameter, or at the end.
func valueSize(s, name string) int {
	for i := strings.IndexByte(s, '<'); i >= 0; {
		t, ok := readTag(s[i:])
		if ok && (!t.closes || t.name == name || slices.Contains(ownTags, t.name)) {
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

// tag is </name>, or <parameter name="name">; both may be in the namespace antml.
type tag struct {
	name   string
	closes bool
	size   int
	at     int
}

func readTag(s string) (tag, bool) {
	rest, ok := strings.CutPrefix(s, "<")
	if !ok {
		return tag{}, false
	}
	rest, closes := strings.CutPrefix(rest, "/")
	rest = strings.TrimPrefix(rest, "antml:")
	if closes {
		name := word(rest)
		return tag{name: name, closes: true, size: len(s) - len(rest) + len(name) + 1}, name != "" && strings.HasPrefix(rest[len(name):], ">")
	}
	rest, ok = strings.CutPrefix(rest, `parameter name="`)
	name := word(rest)
	return tag{name: name, size: len(s) - len(rest) + len(name) + 2}, ok && name != "" && strings.HasPrefix(rest[len(name):], `">`)
}

// word is the name that s begins with.
func word(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
