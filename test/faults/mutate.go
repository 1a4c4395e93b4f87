package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An effect is what becomes of an approval when one thing of a call changes.
type effect int

const (
	same    effect = iota // it still holds
	other                 // it does not hold
	refused               // there is nothing to hold it against: the text is refused
	unsure                // a mutation that may have any of these effects
	effects               // how many there are, with unsure
)

// String names an effect.
func (e effect) String() string {
	return [effects]string{"the same call", "another call", "refused", "anything"}[e]
}

// A mutation changes one thing of a call.
type mutation struct {
	name string
	want effect
	do   func(r *rand.Rand, c *toolCall) bool // false: there is nothing to change
}

// mutations are everything that could make one call look like another.
var mutations = [...]mutation{
	{"nothing", same, func(*rand.Rand, *toolCall) bool { return true }},
	{"a byte put in place of another", unsure, replaceByte},
	{"a byte put in", unsure, insertByte},
	{"a byte taken out", unsure, removeByte},
	{"two bytes change places", unsure, swapBytes},
	{"the order of names", same, reorder},
	{"white space", same, respace},
	{"escapes in a string", same, respell(text)},
	{"escapes in a name", same, respell(object)},
	{"a number written otherwise", same, rewriteNumber},
	{"another number", other, otherNumber},
	{"a number no double keeps", refused, inexactNumber},
	{"a look-alike in a string", other, lookAlike(text)},
	{"a look-alike in a name", other, lookAlike(object)},
	{"the case of a string", other, otherCase(text)},
	{"the case of a name", other, otherCase(object)},
	{"a name twice", refused, duplicate},
	{"a value of another type", other, otherType},
	{"a null more", other, addNull},
	{"a member less", other, removeMember},
	{"a member moved to another object", other, moveMember},
	{"a value moved to another name", other, swapNames},
	{"the order of a list", other, reorderList},
	{"a level more", other, wrap},
	{"as many levels as there may be", other, wrapTo(deepest)},
	{"one level too many", refused, wrapTo(deepest + 1)},
	{"half a surrogate pair", refused, halfPair},
	{"a byte that is no UTF-8", refused, badByte},
	{"text around the arguments", refused, surround},
	{"a letter moved between agent, server and tool", other, moveLetter},
	{"agent, server and tool change places", other, swapCallNames},
	{"the case of agent, server or tool", other, caseOfCallName},
	{"a look-alike in agent, server or tool", other, lookAlikeCallName},
	{"an escape in agent, server or tool", other, escapeCallName},
	{"space after agent, server or tool", other, spaceCallName},
}

// onTree makes a change of the tree one of the text.
func (c *toolCall) onTree(changed bool) bool {
	if changed {
		c.write()
	}
	return changed
}

// some returns one of a list, or its zero value.
func some[T any](r *rand.Rand, list []T) (one T) {
	if len(list) == 0 {
		return one
	}
	return list[r.IntN(len(list))]
}

// structural are bytes that mean something in JSON.
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

// withParts returns those that have so many members or elements.
func withParts(list []*node, least int) []*node {
	return slices.DeleteFunc(list, func(n *node) bool { return len(n.parts) < least })
}

func reorder(r *rand.Rand, c *toolCall) bool {
	n := some(r, withParts(c.args.all(object), 2))
	if n == nil {
		return false
	}
	r.Shuffle(len(n.parts), func(i, j int) {
		n.names[i], n.names[j] = n.names[j], n.names[i]
		n.parts[i], n.parts[j] = n.parts[j], n.parts[i]
	})
	return c.onTree(true)
}

func respace(r *rand.Rand, c *toolCall) bool {
	c.raw = c.args.append(nil, func(byte) string {
		return some(r, []string{"", "", " ", "\t", "\n", "\r\n", "  "})
	})
	c.raw = append(append([]byte(some(r, []string{"", " ", "\n"})), c.raw...), some(r, []string{"", "\r", "\n"})...)
	return true
}

// A place is where a string stands in a tree: a value, or the name of a member.
type place struct{ value, literal *string }

// set changes what stands there.
func (p place) set(r *rand.Rand, s string) { *p.value, *p.literal = s, spell(r, s) }

// strings returns the places of all strings, or of all names.
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
		p := some(r, c.args.strings(k))
		if p.value == nil {
			return false
		}
		was := *p.literal
		p.set(r, *p.value)
		return c.onTree(*p.literal != was)
	}
}

// replaceText gives a string or a name another content, unless a name of the
// same object is that already.
func replaceText(k kind, how func(r *rand.Rand, s string) string) func(*rand.Rand, *toolCall) bool {
	return func(r *rand.Rand, c *toolCall) bool {
		if k == text {
			p := some(r, c.args.strings(text))
			return p.value != nil && c.onTree(p.replace(r, how, nil))
		}
		n := some(r, withParts(c.args.all(object), 1))
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

// likes are texts that look alike, or that are one text in two Unicode forms.
var likes = []struct{ a, b string }{
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

// alter replaces one text by its look-alike, or puts in what nobody sees.
func alter(r *rand.Rand, s string) string {
	at := r.IntN(len(likes))
	for i := range likes {
		l := likes[(at+i)%len(likes)]
		switch {
		case strings.Contains(s, l.a):
			return strings.Replace(s, l.a, l.b, 1)
		case l.b != "" && strings.Contains(s, l.b):
			return strings.Replace(s, l.b, l.a, 1)
		}
	}
	return s + some(r, []string{"\u200b", "\u00ad", "\ufe0f", "\u202e", "\u0301"})
}

func lookAlike(k kind) func(*rand.Rand, *toolCall) bool { return replaceText(k, alter) }

func otherCase(k kind) func(*rand.Rand, *toolCall) bool { return replaceText(k, flip) }

// flip changes the case of one letter, if there is one.
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

// duplicate puts a name in again, spelled the same way or not, before or behind.
func duplicate(r *rand.Rand, c *toolCall) bool {
	n := some(r, withParts(c.args.all(object), 1))
	if n == nil {
		return false
	}
	i := r.IntN(len(n.parts))
	p := n.parts[i].clone()
	if r.IntN(2) == 0 {
		p = drawNode(r, 1)
	}
	n.add(r, n.names[i].value, p)
	return c.onTree(true)
}

func addNull(r *rand.Rand, c *toolCall) bool {
	n, name := some(r, c.args.all(object)), drawText(r, 2)
	if n.has(name) {
		return false
	}
	n.add(r, name, &node{kind: word, literal: "null"})
	return c.onTree(true)
}

func removeMember(r *rand.Rand, c *toolCall) bool {
	n := some(r, withParts(c.args.all(object), 1))
	if n == nil {
		return false
	}
	n.remove(r.IntN(len(n.parts)))
	return c.onTree(true)
}

// moveMember moves a member into an object that is neither its own nor inside
// of it.
func moveMember(r *rand.Rand, c *toolCall) bool {
	from, to := some(r, withParts(c.args.all(object), 1)), some(r, c.args.all(object))
	if from == nil || from == to {
		return false
	}
	i := r.IntN(len(from.parts))
	name := from.names[i].value
	if to.has(name) || slices.Contains(from.parts[i].all(object), to) {
		return false
	}
	to.add(r, name, from.remove(i))
	return c.onTree(true)
}

// swapNames makes two members change their values. Whether that is another call
// depends on the values.
func swapNames(r *rand.Rand, c *toolCall) bool {
	return c.swap(r, some(r, withParts(c.args.all(object), 2)))
}

func reorderList(r *rand.Rand, c *toolCall) bool {
	return c.swap(r, some(r, withParts(c.args.all(array), 2)))
}

func (c *toolCall) swap(r *rand.Rand, n *node) bool {
	if n == nil {
		return false
	}
	order := r.Perm(len(n.parts))
	i, j := order[0], order[1]
	if n.parts[i].mayMean(n.parts[j]) {
		return false
	}
	n.parts[i], n.parts[j] = n.parts[j], n.parts[i]
	return c.onTree(true)
}

// mayMean says that two nodes could mean the same. Of lists and objects that is
// not looked at.
func (n *node) mayMean(m *node) bool {
	switch {
	case n.kind != m.kind:
		return false
	case n.kind == text:
		return n.value == m.value
	case n.kind == word:
		return n.literal == m.literal
	case n.kind == number:
		return decimal(n.literal).equal(decimal(m.literal))
	}
	return true
}

// halfPair puts half a surrogate pair into a string or a name.
func halfPair(r *rand.Rand, c *toolCall) bool {
	return c.into(r, some(r, []string{`\ud800`, `\uDFFF`, `\udc00\ud83d`, `\ud83d\ud83d`}))
}

// badByte puts bytes into a string or a name that UTF-8 does not have.
func badByte(r *rand.Rand, c *toolCall) bool {
	return c.into(r, some(r, []string{"\xff", "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}))
}

func (c *toolCall) into(r *rand.Rand, what string) bool {
	p := some(r, append(c.args.strings(text), c.args.strings(object)...))
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
		c.raw = append([]byte(some(r, []string{"\ufeff", "\x00", "[", "//\n", ")]}'\n"})), c.raw...)
		return true
	}
	c.raw = append(c.raw, some(r, []string{"{}", " null", "\x00", ",", "}", "#", "\u00a0"})...)
	return true
}

// moveLetter moves a letter over the border of two names.
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

func lookAlikeCallName(r *rand.Rand, c *toolCall) bool { return c.rename(r, alter) }

// escapeCallName writes a letter of a name as JSON would escape it: a name is
// what it is, and not how JSON spells it.
func escapeCallName(r *rand.Rand, c *toolCall) bool {
	return c.rename(r, func(r *rand.Rand, s string) string {
		if s == "" {
			return s
		}
		return string(escape(r, nil, rune(s[0]))) + s[1:]
	})
}

func spaceCallName(r *rand.Rand, c *toolCall) bool {
	return c.rename(r, func(r *rand.Rand, s string) string { return s + some(r, []string{" ", "\u00a0", "\u200b"}) })
}

func (c *toolCall) rename(r *rand.Rand, how func(*rand.Rand, string) string) bool {
	name := &c.names[r.IntN(len(c.names))]
	was := *name
	*name = how(r, was)
	return *name != was
}
