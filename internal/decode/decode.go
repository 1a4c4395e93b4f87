// Package decode parses what clients and models send to Askback. Its errors describe each
// mistake: where it is, what is wrong, and how to correct it.
//
// It makes values of the root package from bytes; the root package checks their rules. The
// error is a *[jcs.SyntaxError] for bytes that are not strict JSON. Otherwise it is an
// [askback.Invalid] with all mistakes.
//
// Models make harmless mistakes that would cost a round trip: JSON in a string, a missing
// list, a flag in quotes (F15). In questions these are repaired, and each repair is added
// to Request.Warnings. Answers and confirmations are never repaired: a person must not be
// bound to a guess.
package decode

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// reader reads a parsed body and collects its problems and the warnings about repairs.
type reader struct {
	problems askback.Invalid
	warnings []askback.Problem
}

// node is a value with its JSON pointer.
type node struct {
	jcs.Value
	pointer string
	src     []byte // the source of the value
	strings int    // how often the source was encoded as a string
}

// in returns the member or element v of n, with its pointer.
func (n node) in(name string, v jcs.Value) node {
	return node{v, jcs.Pointer(n.pointer, name), n.src, n.strings}
}

func parse(raw []byte) (*reader, node, error) {
	v, err := jcs.Parse(raw)
	return &reader{}, node{Value: v, src: raw}, err
}

// err returns the problems, or nil if there are none.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

// problem adds a problem, up to the limit of askback.MaxProblems.
func (r *reader) problem(pointer, detail, fix string) {
	if len(r.problems) >= askback.MaxProblems {
		return
	}
	r.problems = append(r.problems, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
}

// require reports whether n has this kind, and adds a problem if it does not.
func (r *reader) require(n node, kind jcs.Kind, fix string) bool {
	if n.Kind == kind {
		return true
	}
	r.problem(n.pointer, fmt.Sprintf("expected %s, got %s", kind, n.Kind), fix)
	return false
}

// fields calls the reader of each member of an object, unless the member is null. A member
// without a reader is a problem.
func (r *reader) fields(n node, example string, readers map[string]func(node)) {
	if !r.require(n, jcs.Object, example) {
		return
	}
	for _, m := range n.Members() {
		r.field(n.in(m.Name, m.Value), m.Name, readers)
	}
}

func (r *reader) field(n node, name string, readers map[string]func(node)) {
	read, known := readers[name]
	switch {
	case !known && len(r.problems) >= askback.MaxProblems:
	case !known:
		r.problem(n.pointer, "unknown field", unknownFieldFix(name, readers))
	case n.Kind != jcs.Null:
		read(n)
	}
}

// unknownFieldFix suggests the field with the most similar name, or else lists all fields.
func unknownFieldFix(name string, readers map[string]func(node)) string {
	names := slices.Sorted(maps.Keys(readers))
	best, least := "", maxDistance+1
	for _, known := range names {
		if d := editDistance(known, name); d < least {
			best, least = known, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "the fields are " + strings.Join(names, ", ")
}

// maxDistance is the largest edit distance at which a name counts as a misspelling of
// another.
const maxDistance = 2

// editDistance returns the edit distance of two field names, ignoring case and underscores.
// If the names differ and one of them is very short, it returns more than maxDistance.
func editDistance(a, b string) int {
	a, b = strings.ToLower(strings.ReplaceAll(a, "_", "")), strings.ToLower(strings.ReplaceAll(b, "_", ""))
	switch {
	case a == b:
		return 0
	case min(len(a), len(b)) <= 2*maxDistance || len(b) > len(a)+maxDistance:
		return maxDistance + 1
	}
	return levenshtein(a, b)
}

// levenshtein returns the smallest number of bytes to insert, delete or replace to get b
// from a.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func (r *reader) text(into *string) func(node) {
	return func(n node) {
		if r.require(n, jcs.String, `"…"`) {
			*into = n.Text()
		}
	}
}

func (r *reader) flag(into *bool) func(node) {
	return func(n node) {
		if r.require(n, jcs.Bool, "true") {
			*into = n.Bool()
		}
	}
}

// negatedFlag returns a function that reads a flag and stores its opposite.
func (r *reader) negatedFlag(into *bool) func(node) {
	return func(n node) {
		if r.require(n, jcs.Bool, "true") {
			*into = !n.Bool()
		}
	}
}

func (r *reader) number(into *int) func(node) {
	return func(n node) {
		if !r.require(n, jcs.Number, "1") {
			return
		}
		i, ok := n.Int()
		if !ok || i < -1<<31 || i >= 1<<31 {
			r.problem(n.pointer, "this number is not an integer of 32 bits", "1")
			return
		}
		*into = int(i)
	}
}

// stringList returns a function that reads an array of strings.
func (r *reader) stringList(into *[]string) func(node) {
	return func(n node) {
		*into = []string{}
		r.elements(n, `["…"]`, func(n node) {
			var s string
			r.text(&s)(n)
			*into = append(*into, s)
		})
	}
}

// stringOrList returns a function that reads a string or an array of strings.
func (r *reader) stringOrList(into *[]string) func(node) {
	return func(n node) {
		if n.Kind == jcs.String {
			*into = []string{n.Text()}
			return
		}
		r.stringList(into)(n)
	}
}

func (r *reader) elements(n node, example string, read func(node)) {
	if !r.require(n, jcs.Array, example) {
		return
	}
	for i, v := range n.Elements() {
		read(n.in(strconv.Itoa(i), v))
	}
}

// raw returns a function that reads a value of one of the given kinds, and stores its
// source bytes.
func (r *reader) raw(into *json.RawMessage, fix string, kinds ...jcs.Kind) func(node) {
	return func(n node) {
		if !slices.Contains(kinds, n.Kind) {
			r.require(n, kinds[0], fix)
			return
		}
		*into = slices.Clone(n.Raw(n.src))
	}
}

// duration returns a function that reads a string such as "10m" or "7d", or a whole number
// of seconds. Zero is a problem.
func (r *reader) duration(into *time.Duration) func(node) {
	return func(n node) {
		if n.Kind != jcs.String && n.Kind != jcs.Number {
			r.require(n, jcs.String, `"10m"`)
			return
		}
		d, err := askback.ParseDuration(n.Text())
		if err != nil {
			r.problem(n.pointer, err.Error(), `"10m", or a number of seconds`)
			return
		}
		if d == 0 {
			r.problem(n.pointer, "the duration is zero", "leave it out, or send a longer time")
		}
		*into = d
	}
}

func (r *reader) timestamp(into *time.Time) func(node) {
	return func(n node) {
		const fix = `"2026-01-31T18:00:00Z"`
		if !r.require(n, jcs.String, fix) {
			return
		}
		t, err := time.Parse(time.RFC3339, n.Text())
		if err != nil {
			r.problem(n.pointer, "this is not a time in RFC 3339 format", fix)
		}
		*into = t
	}
}
