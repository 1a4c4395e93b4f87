// Package decode reads what is sent to Askback: with a pointer, an expectation
// and an example for everything that is wrong.
//
// It makes root types of the bytes and leaves their rules to the root package.
// Bytes that are no JSON are a [jcs.SyntaxError]; everything else that is
// wrong is an [askback.Invalid] with all of it.
//
// Questions come from models, and models make mistakes that cost a round trip
// and mislead nobody: JSON in a string, a list left out, a flag in quotes
// (F15). Those are mended, and each mend is told in Request.Warnings. Answers
// and confirmations are never mended: nobody may be held to what was guessed.
package decode

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// reader walks a parsed body and collects what is wrong with it.
type reader struct {
	bad    askback.Invalid
	mended []askback.Problem
}

// node is a value and where it stands.
type node struct {
	jcs.Value
	at      string
	src     []byte // what it was parsed from
	strings int    // how many strings it was packed into
}

// in gives the member or element of n of this name.
func (n node) in(name string, v jcs.Value) node {
	return node{v, jcs.Pointer(n.at, name), n.src, n.strings}
}

func parse(raw []byte) (*reader, node, error) {
	v, err := jcs.Parse(raw)
	return &reader{}, node{Value: v, src: raw}, err
}

// err returns what was wrong so far, or nil.
func (r *reader) err() error {
	if len(r.bad) == 0 {
		return nil
	}
	return r.bad
}

func (r *reader) wrong(at, detail, fix string) {
	if len(r.bad) >= askback.MaxProblems {
		return
	}
	r.bad = append(r.bad, askback.Problem{Pointer: at, Detail: detail, Fix: fix})
}

// is says whether n has this kind, and notes what was expected if not.
func (r *reader) is(n node, kind jcs.Kind, fix string) bool {
	if n.Kind == kind {
		return true
	}
	r.wrong(n.at, fmt.Sprintf("this is %s; expected %s", n.Kind, kind), fix)
	return false
}

// fields calls the function of each member of an object. A member that is null
// is as if it were not there, one without a function is wrong.
func (r *reader) fields(n node, example string, by map[string]func(node)) {
	if !r.is(n, jcs.Object, example) {
		return
	}
	for _, m := range n.Members() {
		r.field(n.in(m.Name, m.Value), m.Name, by)
	}
}

func (r *reader) field(n node, name string, by map[string]func(node)) {
	read, known := by[name]
	switch {
	case !known && len(r.bad) >= askback.MaxProblems: // enough is said
	case !known:
		r.wrong(n.at, "there is no such field", unknownFix(name, by))
	case n.Kind != jcs.Null:
		read(n)
	}
}

// unknownFix names the field that was probably meant, or all there are.
func unknownFix(name string, by map[string]func(node)) string {
	names := slices.Sorted(maps.Keys(by))
	best, least := "", maxDistance+1
	for _, known := range names {
		if d := unlike(known, name); d < least {
			best, least = known, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "the fields are " + strings.Join(names, ", ")
}

// maxDistance is how many letters of a misspelt name may differ.
const maxDistance = 2

// unlike counts the letters in which two names differ, where case and
// underscores do not count; it is more than maxDistance for different names.
func unlike(a, b string) int {
	a, b = strings.ToLower(strings.ReplaceAll(a, "_", "")), strings.ToLower(strings.ReplaceAll(b, "_", ""))
	switch {
	case a == b:
		return 0
	case min(len(a), len(b)) <= 2*maxDistance || len(b) > len(a)+maxDistance:
		return maxDistance + 1
	}
	return distance(a, b)
}

// distance counts the letters to add, drop or change until a is b.
func distance(a, b string) int {
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
		if r.is(n, jcs.String, `"…"`) {
			*into = n.Text()
		}
	}
}

func (r *reader) flag(into *bool) func(node) {
	return func(n node) {
		if r.is(n, jcs.Bool, "true") {
			*into = n.Bool()
		}
	}
}

// not reads a flag that means the opposite of into.
func (r *reader) not(into *bool) func(node) {
	return func(n node) {
		if r.is(n, jcs.Bool, "true") {
			*into = !n.Bool()
		}
	}
}

func (r *reader) number(into *int) func(node) {
	return func(n node) {
		if !r.is(n, jcs.Number, "1") {
			return
		}
		i, ok := n.Int()
		if !ok || i < -1<<31 || i >= 1<<31 {
			r.wrong(n.at, "this is no whole number of that size", "1")
			return
		}
		*into = int(i)
	}
}

// texts reads a list of strings.
func (r *reader) texts(into *[]string) func(node) {
	return func(n node) {
		*into = []string{}
		r.each(n, `["…"]`, func(n node) {
			var s string
			r.text(&s)(n)
			*into = append(*into, s)
		})
	}
}

// some reads a string, or a list of them.
func (r *reader) some(into *[]string) func(node) {
	return func(n node) {
		if n.Kind == jcs.String {
			*into = []string{n.Text()}
			return
		}
		r.texts(into)(n)
	}
}

func (r *reader) each(n node, example string, read func(node)) {
	if !r.is(n, jcs.Array, example) {
		return
	}
	for i, v := range n.Elements() {
		read(n.in(strconv.Itoa(i), v))
	}
}

// raw keeps the bytes of a value of these kinds.
func (r *reader) raw(into *[]byte, fix string, kinds ...jcs.Kind) func(node) {
	return func(n node) {
		if !slices.Contains(kinds, n.Kind) {
			r.is(n, kinds[0], fix)
			return
		}
		*into = slices.Clone(n.Raw(n.src))
	}
}

// duration reads "10m", "7d", or a whole number of seconds.
func (r *reader) duration(into *time.Duration) func(node) {
	return func(n node) {
		if n.Kind != jcs.String && n.Kind != jcs.Number {
			r.is(n, jcs.String, `"10m"`)
			return
		}
		d, err := askback.ParseDuration(n.Text())
		if err != nil {
			r.wrong(n.at, err.Error(), `"10m", or a number of seconds`)
			return
		}
		if d == 0 {
			r.wrong(n.at, "this is no time at all", "leave it out, or give it some time")
		}
		*into = d
	}
}

func (r *reader) instant(into *time.Time) func(node) {
	return func(n node) {
		const fix = `"2026-01-31T18:00:00Z"`
		if !r.is(n, jcs.String, fix) {
			return
		}
		t, err := time.Parse(time.RFC3339, n.Text())
		if err != nil {
			r.wrong(n.at, "this is no time of RFC 3339", fix)
		}
		*into = t
	}
}
