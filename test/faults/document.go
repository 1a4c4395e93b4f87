package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A toolCall is a tool call to be approved: the agent, the server, the tool and
// the arguments.
type toolCall struct {
	names [3]string // agent, server, tool
	args  *node
	style int // index of the white space style
	raw   []byte
}

// write sets raw to the JSON text of the arguments.
func (c *toolCall) write() { c.raw = c.args.append(nil, styles[c.style]) }

// clone returns a deep copy of the call.
func (c *toolCall) clone() *toolCall {
	d := *c
	d.args, d.raw = c.args.clone(), slices.Clone(c.raw)
	return &d
}

// A node is one JSON value, with the text in which it is written.
type node struct {
	kind     kind
	literal  string // the text of a value without children
	value    string // the content of a string
	names    []memberName
	children []*node
}

// A memberName is the name of an object member: its content, and the literal in which
// it is written.
type memberName struct{ value, literal string }

type kind byte

const (
	keyword kind = iota // true, false, null
	number
	text
	array
	object
)

func (n *node) clone() *node {
	m := *n
	m.names, m.children = slices.Clone(n.names), make([]*node, len(n.children))
	for i, p := range n.children {
		m.children[i] = p.clone()
	}
	return &m
}

// styles are functions that return the white space before a token; see [node.append].
var styles = []func(token byte) string{
	func(byte) string { return "" },
	func(token byte) string {
		if token == 'v' {
			return " "
		}
		return ""
	},
	func(token byte) string {
		switch token {
		case 'n':
			return "\n\t"
		case 'v':
			return " "
		case '}':
			return "\n"
		}
		return ""
	},
}

// append appends the JSON text of a node, with white space before each token. The argument
// of space is 'n' for a name, 'v' for a value, or the punctuation itself.
func (n *node) append(b []byte, space func(token byte) string) []byte {
	switch n.kind {
	case array:
		b = append(b, '[')
		for i, p := range n.children {
			b = p.append(append(comma(b, i, space), space('v')...), space)
		}
		return append(append(b, space(']')...), ']')
	case object:
		b = append(b, '{')
		for i, p := range n.children {
			b = append(comma(b, i, space), space('n')...)
			b = append(append(append(b, n.names[i].literal...), space(':')...), ':')
			b = p.append(append(b, space('v')...), space)
		}
		return append(append(b, space('}')...), '}')
	}
	return append(b, n.literal...)
}

func comma(b []byte, i int, space func(byte) string) []byte {
	if i == 0 {
		return b
	}
	return append(append(b, space(',')...), ',')
}

// all returns all nodes of the given kinds, including n itself.
func (n *node) all(kinds ...kind) (found []*node) {
	if slices.Contains(kinds, n.kind) {
		found = append(found, n)
	}
	for _, p := range n.children {
		found = append(found, p.all(kinds...)...)
	}
	return found
}

// has reports whether an object has a member with this name.
func (n *node) has(name string) bool {
	return slices.ContainsFunc(n.names, func(s memberName) bool { return s.value == name })
}

// pieces are the parts of random names and strings. They include letters that look alike or have two Unicode
// forms, characters that need escapes, and words that are also JSON values.
var pieces = []string{
	"a", "b", "k", "K", "path", "Path", "id", "to", "x", "0", "1", "1.0", "true", "null", "é", "e\u0301", "Å",
	"A\u030a", "å", "о", "o",
	"ﬁ", "fi", "ｋ", "ß", "ss", "İ", "i", "ключ", "\u200b", " ", "/", "\\", `"`, "\n", "\x00", "\x1f", "\x7f", "\u2028",
	"\ufb33", "\ufffd", "\uffff", "😀", "\U0010ffff", "__proto__",
}

// drawText returns a random string of at most the given number of pieces.
func drawText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// drawName returns a random name of an agent, a server or a tool. It is not empty and has
// no control characters.
func drawName(r *rand.Rand) string {
	printable := func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '_'
		}
		return c
	}
	return "n" + strings.Map(printable, drawText(r, 4))
}

// drawCall returns a random call whose arguments are an object.
func drawCall(r *rand.Rand) *toolCall {
	c := &toolCall{args: drawObject(r, 3), style: r.IntN(len(styles))}
	for i := range c.names {
		c.names[i] = drawName(r)
	}
	if r.IntN(4) == 0 {
		c.names[1] = "" // a tool without a server
	}
	c.write()
	return c
}

func drawNode(r *rand.Rand, depth int) *node {
	switch dice := r.IntN(10); {
	case dice < 2 && depth > 0:
		return drawObject(r, depth)
	case dice < 3 && depth > 0:
		n := &node{kind: array}
		for range r.IntN(4) {
			n.children = append(n.children, drawNode(r, depth-1))
		}
		return n
	case dice < 6:
		return newText(r, drawText(r, 4))
	case dice < 8:
		return &node{kind: number, literal: drawNumber(r)}
	}
	return &node{kind: keyword, literal: []string{"true", "false", "null"}[r.IntN(3)]}
}

func drawObject(r *rand.Rand, depth int) *node {
	n := &node{kind: object}
	for range r.IntN(6) {
		if name := drawText(r, 2); !n.has(name) {
			n.add(r, name, drawNode(r, depth-1))
		}
	}
	return n
}

// add inserts a member into an object, at a random position.
func (n *node) add(r *rand.Rand, name string, p *node) {
	i := r.IntN(len(n.children) + 1)
	n.names = slices.Insert(n.names, i, memberName{name, spell(r, name)})
	n.children = slices.Insert(n.children, i, p)
}

// remove removes the child with index i and returns the child. If the node is an object, it also removes the
// name of the child.
func (n *node) remove(i int) *node {
	p := n.children[i]
	n.children = slices.Delete(n.children, i, i+1)
	if n.kind == object {
		n.names = slices.Delete(n.names, i, i+1)
	}
	return p
}

func newText(r *rand.Rand, s string) *node {
	return &node{kind: text, value: s, literal: spell(r, s)}
}

// drawNumber returns a random number that equals the shortest decimal of a double, so that
// all parsers read the same value.
func drawNumber(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return []string{
			"0", "-0", "0.0", "1", "1.0", "1e0", "10e-1", "0.1", "1E21", "1e-7", "9007199254740992", "5e-324",
			"1.7976931348623157e308",
		}[r.IntN(13)]
	case 1:
		return strconv.FormatFloat(r.NormFloat64()*1e6, 'f', r.IntN(4), 64)
	case 2:
		return strconv.FormatFloat(r.NormFloat64(), "eg"[r.IntN(2)], -1, 64)
	case 3:
		return strconv.FormatInt(r.Int64N(1<<53), 10)
	}
	return strconv.Itoa(r.IntN(2000) - 1000)
}

// shortEscapes are the characters that JSON can escape with a backslash and one character. shortLetters has
// that character for each, in the same order.
const shortEscapes, shortLetters = "\"\\/\b\f\n\r\t", `"\/bfnrt`

// spell returns a string as a JSON literal with random escapes.
func spell(r *rand.Rand, s string) string {
	often := r.IntN(3) // the number of unnecessary escapes per three characters
	b := []byte{'"'}
	for _, c := range s {
		must := c < ' ' || c == '"' || c == '\\'
		i := strings.IndexRune(shortEscapes, c)
		switch {
		case !must && r.IntN(3) >= often:
			b = append(b, string(c)...)
		case i >= 0 && r.IntN(2) == 0:
			b = append(b, '\\', shortLetters[i])
		default:
			b = escape(r, b, c)
		}
	}
	return string(append(b, '"'))
}

// escape returns b with c appended as a \u escape, or as two escapes for a surrogate pair, in lower or upper
// case.
func escape(r *rand.Rand, b []byte, c rune) []byte {
	for _, unit := range utf16.Encode([]rune{c}) {
		format := `\u%04x`
		if r.IntN(2) == 0 {
			format = `\u%04X`
		}
		b = fmt.Appendf(b, format, unit)
	}
	return b
}
