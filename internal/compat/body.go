package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// body walks what a client sent and collects what is wrong with it.
type body struct{ bad askback.Invalid }

// node is a value and where it stands.
type node struct {
	jcs.Value
	at string
}

func parse(raw []byte) (*body, node, error) {
	v, err := jcs.Parse(raw)
	return &body{}, node{Value: v}, err
}

// err returns what was wrong so far, or nil.
func (b *body) err() error {
	if len(b.bad) == 0 {
		return nil
	}
	return b.bad
}

func (b *body) wrong(at, detail, fix string) {
	if len(b.bad) < askback.MaxProblems {
		b.bad = append(b.bad, askback.Problem{Pointer: at, Detail: detail, Fix: fix})
	}
}

// is says whether n has this kind, and notes what was expected if not.
func (b *body) is(n node, kind jcs.Kind, fix string) bool {
	if n.Kind != kind {
		b.wrong(n.at, fmt.Sprintf("this is %s; expected %s", n.Kind, kind), fix)
	}
	return n.Kind == kind
}

// members calls read for each member of an object.
func (b *body) members(n node, example string, read func(name string, n node)) {
	if !b.is(n, jcs.Object, example) {
		return
	}
	for _, m := range n.Members() {
		read(m.Name, node{m.Value, jcs.Pointer(n.at, m.Name)})
	}
}

// fields calls the function of each member of an object. A member that is null
// is as if it were not there, one without a function is wrong.
func (b *body) fields(n node, example string, by map[string]func(node)) {
	b.members(n, example, func(name string, n node) {
		read, known := by[name]
		switch {
		case !known:
			b.wrong(n.at, "there is no such field", "the fields are "+names(by))
		case n.Kind != jcs.Null:
			read(n)
		}
	})
}

func names(by map[string]func(node)) string {
	var out []string
	for name := range by {
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (b *body) text(into *string) func(node) {
	return func(n node) {
		if b.is(n, jcs.String, `"…"`) {
			*into = n.Text()
		}
	}
}
