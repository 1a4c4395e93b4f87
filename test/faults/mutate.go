package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An effect is the relation of a changed call to the approved call.
type effect int

const (
	sameCall    effect = iota // the approval is valid for the changed call
	otherCall                 // the approval is not valid for the changed call
	invalidCall               // the arguments are rejected
	anyEffect                 // any other effect
	effectCount               // number of effects
)

// String returns the effect in words.
func (e effect) String() string {
	return [effectCount]string{"the same call", "another call", "rejected", "anything"}[e]
}

// A mutation is one change of a call.
type mutation struct {
	name string
	want effect
	do   func(r *rand.Rand, c *toolCall) bool // returns false if the mutation does not apply
}

// mutations are changes that could make one call look like another.
var mutations = [...]mutation{
	{"change nothing", sameCall, func(*rand.Rand, *toolCall) bool { return true }},
	{"replace a byte", anyEffect, replaceByte},
	{"insert a byte", anyEffect, insertByte},
	{"remove a byte", anyEffect, removeByte},
	{"swap two bytes", anyEffect, swapBytes},
	{"reorder members", sameCall, reorder},
	{"change white space", sameCall, respace},
	{"respell a string", sameCall, respell(text)},
	{"respell a name", sameCall, respell(object)},
	{"respell a number", sameCall, rewriteNumber},
	{"change a number", otherCall, otherNumber},
	{"use an inexact number", invalidCall, inexactNumber},
	{"replace a look-alike in a string", otherCall, lookAlike(text)},
	{"replace a look-alike in a name", otherCall, lookAlike(object)},
	{"change the case of a string", otherCall, otherCase(text)},
	{"change the case of a name", otherCall, otherCase(object)},
	{"duplicate a name", invalidCall, duplicate},
	{"change the type of a value", otherCall, otherType},
	{"add a null", otherCall, addNull},
	{"remove a member", otherCall, removeMember},
	{"move a member to another object", otherCall, moveMember},
	{"swap two values", otherCall, swapValues},
	{"reorder an array", otherCall, reorderList},
	{"nest the arguments", otherCall, wrap},
	{"nest to the maximum depth", otherCall, wrapTo(maxDepth)},
	{"nest too deep", invalidCall, wrapTo(maxDepth + 1)},
	{"insert half a surrogate pair", invalidCall, halfPair},
	{"insert invalid UTF-8", invalidCall, badByte},
	{"add text around the arguments", invalidCall, surround},
	{"move a letter between agent, server and tool", otherCall, moveLetter},
	{"swap agent, server and tool", otherCall, swapCallNames},
	{"change the case of agent, server or tool", otherCall, caseOfCallName},
	{"replace a look-alike in agent, server or tool", otherCall, lookAlikeCallName},
	{"escape a letter of agent, server or tool", otherCall, escapeCallName},
	{"add space to agent, server or tool", otherCall, spaceCallName},
}

// onTree writes the JSON text of the arguments again if their tree has changed. It returns changed.
func (c *toolCall) onTree(changed bool) bool {
	if changed {
		c.write()
	}
	return changed
}

// pick returns a random element, or the zero value of an empty list.
func pick[T any](r *rand.Rand, list []T) (one T) {
	if len(list) == 0 {
		return one
	}
	return list[r.IntN(len(list))]
}

// structural are bytes with a special meaning in JSON, and bytes that are often invalid.
const structural = `{}[]",:0123456789.eE+-\/ un` + "\t\n\x00\x7f\xc3\xff"

func someByte(r *rand.Rand) byte {
	if r.IntN(4) == 0 {
		return byte(r.IntN(256))
	}
	return structural[r.IntN(len(structural))]
}

func replaceByte(r *rand.Rand, c *toolCall) bool {
	i, b := r.IntN(len(c.raw)), someByte(r)
	was := c.raw[i]
	c.raw[i] = b
	return was != b
}

func insertByte(r *rand.Rand, c *toolCall) bool {
	c.raw = slices.Insert(c.raw, r.IntN(len(c.raw)+1), someByte(r))
	return true
}

func removeByte(r *rand.Rand, c *toolCall) bool {
	i := r.IntN(len(c.raw))
	c.raw = slices.Delete(c.raw, i, i+1)
	return true
}

func swapBytes(r *rand.Rand, c *toolCall) bool {
	i, j := r.IntN(len(c.raw)), r.IntN(len(c.raw))
	c.raw[i], c.raw[j] = c.raw[j], c.raw[i]
	return c.raw[i] != c.raw[j]
}

// withParts returns the nodes with at least the given number of children.
func withParts(list []*node, least int) []*node {
	return slices.DeleteFunc(list, func(n *node) bool { return len(n.children) < least })
}

func reorder(r *rand.Rand, c *toolCall) bool {
	n := pick(r, withParts(c.args.all(object), 2))
	if n == nil {
		return false
	}
	r.Shuffle(len(n.children), func(i, j int) {
		n.names[i], n.names[j] = n.names[j], n.names[i]
		n.children[i], n.children[j] = n.children[j], n.children[i]
	})
	return c.onTree(true)
}

func respace(r *rand.Rand, c *toolCall) bool {
	c.raw = c.args.append(nil, func(byte) string {
		return pick(r, []string{"", "", " ", "\t", "\n", "\r\n", "  "})
	})
	c.raw = append(append([]byte(pick(r, []string{"", " ", "\n"})), c.raw...), pick(r, []string{"", "\r", "\n"})...)
	return true
}

// A place is the location of a string in a tree: a value or a member name.
type place struct{ value, literal *string }

// set replaces the string with s, with random escapes.
func (p place) set(r *rand.Rand, s string) { *p.value, *p.literal = s, spell(r, s) }

// strings returns the places of all strings if k is text, or of all member names if k is
// object.
func (n *node) strings(k kind) (found []place) {
	for _, m := range n.all(k) {
		if k == text {
			found = append(found, place{&m.value, &m.literal})
			continue
		}
		for i := range m.names {
			found = append(found, place{&m.names[i].value, &m.names[i].literal})
		}
	}
	return found
}

func respell(k kind) func(*rand.Rand, *toolCall) bool {
	return func(r *rand.Rand, c *toolCall) bool {
		p := pick(r, c.args.strings(k))
		if p.value == nil {
			return false
		}
		was := *p.literal
		p.set(r, *p.value)
		return c.onTree(*p.literal != was)
	}
}

// replaceText returns a mutation that changes a string if k is text, or a member name if k
// is object. It does not apply if the object already has a member with the new name.
func replaceText(k kind, how func(r *rand.Rand, s string) string) func(*rand.Rand, *toolCall) bool {
	return func(r *rand.Rand, c *toolCall) bool {
		if k == text {
			p := pick(r, c.args.strings(text))
			return p.value != nil && c.onTree(p.replace(r, how, nil))
		}
		n := pick(r, withParts(c.args.all(object), 1))
		if n == nil {
			return false
		}
		s := &n.names[r.IntN(len(n.names))]
		return c.onTree(place{&s.value, &s.literal}.replace(r, how, n))
	}
}

func (p place) replace(r *rand.Rand, how func(*rand.Rand, string) string, within *node) bool {
	s := how(r, *p.value)
	if s == *p.value || within != nil && within.has(s) {
		return false
	}
	p.set(r, s)
	return true
}

// lookAlikes are strings that look alike, or are different Unicode forms of one string.
var lookAlikes = []struct{ a, b string }{
	{"é", "e\u0301"},
	{"Å", "A\u030a"},
	{"Å", "\u212b"},
	{"å", "a\u030a"},
	{"ﬁ", "fi"},
	{"ｋ", "k"},
	{"K", "\u212a"},
	{"ß", "ss"},
	{"İ", "i\u0307"},
	{"a", "а"},
	{"о", "o"},
	{"x", "х"},
	{"p", "р"},
	{"1", "١"},
	{"1", "l"},
	{"/", "\u2215"},
	{" ", "\u00a0"},
	{"\u200b", ""},
	{"\n", "\\n"},
	{"\x00", ""},
	{"\ufffd", "?"},
}

// replaceLookAlike replaces a part of s with a part that looks alike. If there is no such part, it appends an
// invisible or combining character.
func replaceLookAlike(r *rand.Rand, s string) string {
	at := r.IntN(len(lookAlikes))
	for i := range lookAlikes {
		l := lookAlikes[(at+i)%len(lookAlikes)]
		switch {
		case strings.Contains(s, l.a):
			return strings.Replace(s, l.a, l.b, 1)
		case l.b != "" && strings.Contains(s, l.b):
			return strings.Replace(s, l.b, l.a, 1)
		}
	}
	return s + pick(r, []string{"\u200b", "\u00ad", "\ufe0f", "\u202e", "\u0301"})
}

func lookAlike(k kind) func(*rand.Rand, *toolCall) bool { return replaceText(k, replaceLookAlike) }

func otherCase(k kind) func(*rand.Rand, *toolCall) bool { return replaceText(k, flip) }

// flip changes the case of one letter. It does nothing if there is no letter.
func flip(r *rand.Rand, s string) string {
	runes := []rune(s)
	for _, i := range r.Perm(len(runes)) {
		c := runes[i]
		if turned := unicode.SimpleFold(c); turned != c {
			runes[i] = turned
			break
		}
	}
	return string(runes)
}

// duplicate adds a member with the name of another member, before or after that member. The two names may
// have different escapes.
func duplicate(r *rand.Rand, c *toolCall) bool {
	n := pick(r, withParts(c.args.all(object), 1))
	if n == nil {
		return false
	}
	i := r.IntN(len(n.children))
	p := n.children[i].clone()
	if r.IntN(2) == 0 {
		p = drawNode(r, 1)
	}
	n.add(r, n.names[i].value, p)
	return c.onTree(true)
}

func addNull(r *rand.Rand, c *toolCall) bool {
	n, name := pick(r, c.args.all(object)), drawText(r, 2)
	if n.has(name) {
		return false
	}
	n.add(r, name, &node{kind: keyword, literal: "null"})
	return c.onTree(true)
}

func removeMember(r *rand.Rand, c *toolCall) bool {
	n := pick(r, withParts(c.args.all(object), 1))
	if n == nil {
		return false
	}
	n.remove(r.IntN(len(n.children)))
	return c.onTree(true)
}

// moveMember moves a member to another object that is not inside it.
func moveMember(r *rand.Rand, c *toolCall) bool {
	from, to := pick(r, withParts(c.args.all(object), 1)), pick(r, c.args.all(object))
	if from == nil || from == to {
		return false
	}
	i := r.IntN(len(from.children))
	name := from.names[i].value
	if to.has(name) || slices.Contains(from.children[i].all(object), to) {
		return false
	}
	to.add(r, name, from.remove(i))
	return c.onTree(true)
}

// swapValues swaps the values of two members, unless the values may be equal.
func swapValues(r *rand.Rand, c *toolCall) bool {
	return c.swap(r, pick(r, withParts(c.args.all(object), 2)))
}

func reorderList(r *rand.Rand, c *toolCall) bool {
	return c.swap(r, pick(r, withParts(c.args.all(array), 2)))
}

func (c *toolCall) swap(r *rand.Rand, n *node) bool {
	if n == nil {
		return false
	}
	order := r.Perm(len(n.children))
	i, j := order[0], order[1]
	if n.children[i].mayEqual(n.children[j]) {
		return false
	}
	n.children[i], n.children[j] = n.children[j], n.children[i]
	return c.onTree(true)
}

// mayEqual reports whether two nodes may be equal. For two arrays or two objects, it
// returns true without comparing them.
func (n *node) mayEqual(m *node) bool {
	switch {
	case n.kind != m.kind:
		return false
	case n.kind == text:
		return n.value == m.value
	case n.kind == keyword:
		return n.literal == m.literal
	case n.kind == number:
		return decimal(n.literal).equal(decimal(m.literal))
	}
	return true
}

// halfPair inserts an incomplete or reversed surrogate pair into a string or a member
// name.
func halfPair(r *rand.Rand, c *toolCall) bool {
	return c.into(r, pick(r, []string{`\ud800`, `\uDFFF`, `\udc00\ud83d`, `\ud83d\ud83d`}))
}

// badByte inserts bytes that are invalid in UTF-8 into a string or a member
// name.
func badByte(r *rand.Rand, c *toolCall) bool {
	return c.into(r, pick(r, []string{"\xff", "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}))
}

func (c *toolCall) into(r *rand.Rand, what string) bool {
	p := pick(r, append(c.args.strings(text), c.args.strings(object)...))
	if p.value == nil {
		return false
	}
	*p.literal = `"` + what + (*p.literal)[1:]
	if r.IntN(2) == 0 {
		*p.literal = `"` + (*p.literal)[1+len(what):len(*p.literal)-1] + what + `"`
	}
	return c.onTree(true)
}

func surround(r *rand.Rand, c *toolCall) bool {
	if r.IntN(4) == 0 {
		c.raw = append([]byte(pick(r, []string{"\ufeff", "\x00", "[", "//\n", ")]}'\n"})), c.raw...)
		return true
	}
	c.raw = append(c.raw, pick(r, []string{"{}", " null", "\x00", ",", "}", "#", "\u00a0"})...)
	return true
}

// moveLetter moves a letter from the end of one name of the call to the start of the next,
// or back.
func moveLetter(r *rand.Rand, c *toolCall) bool {
	i := r.IntN(2)
	left, right := &c.names[i], &c.names[i+1]
	if r.IntN(2) == 0 && *right != "" {
		_, n := utf8.DecodeRuneInString(*right)
		*left, *right = *left+(*right)[:n], (*right)[n:]
		return true
	}
	_, n := utf8.DecodeLastRuneInString(*left)
	*left, *right = (*left)[:len(*left)-n], (*left)[len(*left)-n:]+*right
	return n > 0
}

func swapCallNames(r *rand.Rand, c *toolCall) bool {
	i := r.IntN(2)
	c.names[i], c.names[i+1] = c.names[i+1], c.names[i]
	return c.names[i] != c.names[i+1]
}

func caseOfCallName(r *rand.Rand, c *toolCall) bool { return c.rename(r, flip) }

func lookAlikeCallName(r *rand.Rand, c *toolCall) bool { return c.rename(r, replaceLookAlike) }

// escapeCallName replaces the first letter of a name with its JSON escape. Names are not
// JSON, so the name changes.
func escapeCallName(r *rand.Rand, c *toolCall) bool {
	return c.rename(r, func(r *rand.Rand, s string) string {
		if s == "" {
			return s
		}
		return string(escape(r, nil, rune(s[0]))) + s[1:]
	})
}

func spaceCallName(r *rand.Rand, c *toolCall) bool {
	return c.rename(r, func(r *rand.Rand, s string) string { return s + pick(r, []string{" ", "\u00a0", "\u200b"}) })
}

func (c *toolCall) rename(r *rand.Rand, how func(*rand.Rand, string) string) bool {
	name := &c.names[r.IntN(len(c.names))]
	was := *name
	*name = how(r, was)
	return *name != was
}
