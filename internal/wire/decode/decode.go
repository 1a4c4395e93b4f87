// Package decode parses the input of clients and models. Its errors describe each mistake: where it is, what
// is wrong, and how to correct it.
//
// The functions return values of the root package. The root package checks the rules of these values. The
// error is a *[jcs.SyntaxError] for bytes that are not strict JSON. Otherwise it is an [askback.Invalid] with
// all mistakes.
//
// Models make harmless mistakes that would cost a round trip, such as JSON in a string, a missing list, or a
// flag in quotes (F15). Such mistakes in questions are repaired, and each repair is added to
// Request.Warnings. Answers and confirmations are never repaired, because a person must not be bound to a
// guess.
package decode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// A reader reads a parsed body. It collects problems, and warnings about repairs.
type reader struct {
	problems askback.Invalid
	warnings []askback.Problem
	path     []string  // the tokens of the JSON pointer to the value that is being read
	start    [8]string // memory of path
	copies   bool      // strings are copies, and do not share memory with the text
}

// copyAbove is the number of bytes above which strings are copied, so that they do not keep the whole text in
// memory. Most of the text could be white space.
const copyAbove = 16 << 10

// stringOf returns the text of a string, as a copy if r.copies is set.
func (r *reader) stringOf(n node) string {
	if r.copies {
		return strings.Clone(n.Text())
	}
	return n.Text()
}

func newReader() *reader {
	r := &reader{}
	r.path = r.start[:0]
	return r
}

// A node is a value that is being read.
type node struct {
	jcs.Value
	src     []byte // the source of the value
	strings int    // the number of times that the source was encoded as a string
}

// in returns v, a member or an element of n, as a node.
func (n node) in(v jcs.Value) node { return node{v, n.src, n.strings} }

func parse(raw []byte) (*reader, node, error) {
	v, err := jcs.Parse(raw)
	r := newReader()
	r.copies = len(raw) > copyAbove
	return r, node{Value: v, src: raw}, err
}

// enter adds the token of a member or an element to the pointer, until leave is called.
func (r *reader) enter(token string) { r.path = append(r.path, token) }

func (r *reader) leave() { r.path = r.path[:len(r.path)-1] }

// pointer returns the JSON pointer to the value that is being read.
func (r *reader) pointer() string { return jcs.Pointer("", r.path...) }

// err returns the problems, or nil if the input is valid.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

// problem adds a problem of the value that is being read.
func (r *reader) problem(detail, fix string) {
	if len(r.problems) < limits.MaxProblems {
		r.problemAt(r.pointer(), detail, fix)
	}
}

// problemAt adds a problem. It does nothing if there are already [limits.MaxProblems] problems.
func (r *reader) problemAt(pointer, detail, fix string) {
	if len(r.problems) < limits.MaxProblems {
		r.problems = append(r.problems, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
	}
}

// require reports whether n has this kind, and adds a problem if it does not.
func (r *reader) require(n node, kind jcs.Kind, fix string) bool {
	if n.Kind == kind {
		return true
	}
	r.problem(fmt.Sprintf("expected %s, got %s", kind, n.Kind), fix)
	return false
}

// A memberReader reads the member of an object with this name. It returns false if an object of this kind has
// no such member.
type memberReader func(name string, n node) bool

// members reads each member of an object, unless the member is null. A member whose name is not in names is a
// problem. For each name in names, read must return true.
func (r *reader) members(n node, example string, names []string, read memberReader) {
	if !r.require(n, jcs.Object, example) {
		return
	}
	for _, m := range n.Members() {
		r.enter(m.Name)
		r.member(n.in(m.Value), n.Value, m.Name, names, read)
		r.leave()
	}
}

// member reads a member n of object.
func (r *reader) member(n node, object jcs.Value, name string, names []string, read memberReader) {
	known := false
	if n.Kind == jcs.Null {
		known = slices.Contains(names, name)
	} else {
		known = read(name, n)
	}
	if !known && len(r.problems) < limits.MaxProblems {
		r.problem("unknown field", unknownFieldFix(name, names, object))
	}
}

func (r *reader) text(n node, into *string) {
	if r.require(n, jcs.String, `"…"`) {
		*into = r.stringOf(n)
	}
}

func (r *reader) flag(n node, into *bool) {
	if r.require(n, jcs.Bool, "true") {
		*into = n.Bool()
	}
}

// negatedFlag reads a flag and stores its opposite.
func (r *reader) negatedFlag(n node, into *bool) {
	if r.require(n, jcs.Bool, "true") {
		*into = !n.Bool()
	}
}

func (r *reader) number(n node, into *int) {
	if !r.require(n, jcs.Number, "1") {
		return
	}
	i, ok := n.Int()
	if !ok || i < -1<<31 || i >= 1<<31 {
		r.problem("this number is not an integer of 32 bits", "1")
		return
	}
	*into = int(i)
}

// stringList reads an array of strings.
func (r *reader) stringList(n node, into *[]string) {
	list := make([]string, 0, len(n.Elements()))
	r.elements(n, `["…"]`, func(n node) {
		var s string
		r.text(n, &s)
		list = append(list, s)
	})
	*into = list
}

// stringOrList reads a string or an array of strings.
func (r *reader) stringOrList(n node, into *[]string) {
	if n.Kind == jcs.String {
		*into = []string{r.stringOf(n)}
		return
	}
	r.stringList(n, into)
}

func (r *reader) elements(n node, example string, read func(node)) {
	if !r.require(n, jcs.Array, example) {
		return
	}
	for i, v := range n.Elements() {
		r.enter(strconv.Itoa(i))
		read(n.in(v))
		r.leave()
	}
}

// rawObject reads an object and stores its source bytes.
func (r *reader) rawObject(n node, into *json.RawMessage) { r.raw(n, into, "{}", jcs.Object) }

// rawValue reads a value of any kind and stores its source bytes.
func (r *reader) rawValue(n node, into *json.RawMessage) { r.raw(n, into, "{}", n.Kind) }

// raw reads a value of one of the given kinds, and stores its source bytes.
func (r *reader) raw(n node, into *json.RawMessage, fix string, kinds ...jcs.Kind) {
	if !slices.Contains(kinds, n.Kind) {
		r.require(n, kinds[0], fix)
		return
	}
	*into = slices.Clone(n.Raw(n.src))
}

// duration reads a string such as "10m" or "7d", or a whole number of seconds. Zero is a
// problem.
func (r *reader) duration(n node, into *time.Duration) {
	if n.Kind != jcs.String && n.Kind != jcs.Number {
		r.require(n, jcs.String, `"10m"`)
		return
	}
	d, err := askback.ParseDuration(n.Text())
	if err != nil {
		r.problem(err.Error(), `"10m", or a number of seconds`)
		return
	}
	if d == 0 {
		r.problem("the duration is zero", "leave it out, or send a longer time")
	}
	*into = d
}

func (r *reader) timestamp(n node, into *time.Time) {
	const fix = `"2026-01-31T18:00:00Z"`
	if !r.require(n, jcs.String, fix) {
		return
	}
	t, err := time.Parse(time.RFC3339, n.Text())
	if err != nil {
		r.problem("must be a time in RFC 3339 format", fix)
	}
	*into = t
}
