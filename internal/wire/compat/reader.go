package compat

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// A reader reads the body of a client and collects its problems.
type reader struct{ problems askback.Invalid }

// A Node is a JSON value and its pointer.
type Node struct {
	jcs.Value
	Pointer string
}

func parse(raw []byte) (*reader, Node, error) {
	v, err := jcs.Parse(raw)
	return &reader{}, Node{Value: v}, err
}

// err returns the problems, or nil if the input is valid.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

func (r *reader) Problem(pointer, detail, fix string) {
	if len(r.problems) < limits.MaxProblems {
		r.problems = append(r.problems, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
	}
}

// require reports whether n has the given kind, and adds a problem if it does not.
func (r *reader) require(n Node, kind jcs.Kind, fix string) bool {
	if n.Kind != kind {
		r.Problem(n.Pointer, fmt.Sprintf("expected %s, got %s", kind, n.Kind), fix)
	}
	return n.Kind == kind
}

// members calls read for each member of an object. It adds a problem if n is not an object.
func (r *reader) members(n Node, example string, read func(name string, n Node)) {
	if !r.require(n, jcs.Object, example) {
		return
	}
	for _, m := range n.Members() {
		read(m.Name, Node{m.Value, jcs.Pointer(n.Pointer, m.Name)})
	}
}

// fields calls the reader of each member of an object. A null member is ignored. A member
// without a reader is a problem.
func (r *reader) fields(n Node, example string, by map[string]func(Node)) {
	r.members(n, example, func(name string, n Node) {
		read, known := by[name]
		switch {
		case !known:
			r.Problem(n.Pointer, "unknown field", "the fields are "+strings.Join(slices.Sorted(maps.Keys(by)), ", "))
		case n.Kind != jcs.Null:
			read(n)
		}
	})
}

func (r *reader) Text(into *string) func(Node) {
	return func(n Node) {
		if r.require(n, jcs.String, `"…"`) {
			*into = n.Text()
		}
	}
}

// normalize returns the normal form of an answer to an ask. The root package checks the rules. locate returns
// the pointer of a problem in the body of the client, and a prefix for the problem's text. i is the index of
// the question, or -1 for the whole answer.
func (r *reader) normalize(
	a askback.Answer, ask askback.Ask, locate func(i int, field string) (pointer, prefix string),
) (askback.Answer, error) {
	out, err := a.Normalize(ask)
	var bad askback.Invalid
	if !errors.As(err, &bad) {
		return out, err
	}
	for _, p := range bad {
		pointer, prefix := locate(splitPointer(p.Pointer))
		r.Problem(pointer, prefix+p.Detail, p.Fix)
	}
	return askback.Answer{}, r.err()
}

// splitPointer returns the index and the field of a pointer such as /answers/1/notes. The
// index is -1 if the pointer does not refer to one answer.
func splitPointer(pointer string) (i int, field string) {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	if parts[0] != "answers" || len(parts) < 2 {
		return -1, parts[0]
	}
	i, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1, parts[0]
	}
	return i, strings.Join(parts[2:], "/")
}
