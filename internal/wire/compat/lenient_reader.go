package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// A Reader reads input that a model wrote. It repairs harmless mistakes, with a
// warning for each (F15).
type Reader struct {
	*reader
	warnings []askback.Problem
}

// A ClientQuestion is a question with the names that the client uses.
type ClientQuestion struct {
	askback.Question
	Key      string           // the name of the question in the client's result
	KeyField string           // the field of the key
	given    []askback.Option // the options that the client sent
	ids      []string         // the ids of the options, if the result refers to ids
	yesNo    bool
}

func (r *Reader) warn(pointer, detail, fix string) {
	if len(r.warnings) < limits.MaxProblems {
		r.warnings = append(r.warnings, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
	}
}

// Fields calls the reader of each member that is not null. An unknown member is ignored with a
// warning, because clients add fields.
func (r *Reader) Fields(n Node, by map[string]func(Node)) {
	r.members(n, "", func(name string, n Node) {
		read, known := by[name]
		if other := aliasOf(name, by); !known && other != "" {
			r.warn(n.Pointer, "this field has a different name here",
				fmt.Sprintf("it was read as %q; use that name", other))
			read, known = by[other], true
		}
		switch {
		case n.Kind == jcs.Null:
		case !known:
			r.warn(n.Pointer, "unknown field", "it was ignored")
		default:
			read(n)
		}
	})
}

// fieldAliases contains the fields that have different names in different clients. A model may
// confuse the names, and a question must not lose its options (F3).
var fieldAliases = [][]string{{"options", "choices"}, {"multiSelect", "multi_select", "multiple"}}

// aliasOf returns the known field with the same meaning as name, or "" if no known field has
// that meaning.
func aliasOf(name string, by map[string]func(Node)) string {
	for _, group := range fieldAliases {
		for _, other := range group {
			if _, known := by[other]; known && slices.Contains(group, name) {
				return other
			}
		}
	}
	return ""
}

// unpack returns the object or array that was sent as JSON inside a string (W1). It returns
// any other value unchanged.
func (r *Reader) unpack(n Node) Node {
	text := strings.TrimSpace(n.Text())
	if n.Kind != jcs.String || text == "" || strings.IndexByte("[{", text[0]) < 0 {
		return n
	}
	v, err := jcs.Parse([]byte(text))
	if err != nil {
		return n
	}
	r.warn(n.Pointer, "this is JSON inside a string", "it was parsed; send the JSON itself")
	return Node{v, n.Pointer}
}

// elements calls read for each element of an array. After [limits.MaxOptions] + 1 elements,
// it adds a problem and stops.
func (r *Reader) elements(n Node, read func(Node)) {
	n = r.unpack(n)
	if !r.require(n, jcs.Array, "") {
		return
	}
	for i, v := range n.Elements() {
		if i > limits.MaxOptions {
			r.Problem(n.Pointer, fmt.Sprintf("%d entries are too many", len(n.Elements())), "send fewer")
			return
		}
		read(Node{v, jcs.Pointer(n.Pointer, fmt.Sprint(i))})
	}
}

// Flag returns a reader of true or false. The value may also be a string (W9).
func (r *Reader) Flag(into *bool) func(Node) {
	return func(n Node) {
		switch word := strings.ToLower(n.Text()); {
		case n.Kind == jcs.Bool:
			*into = n.Bool()
		case n.Kind == jcs.String && (word == "true" || word == "false"):
			*into = word == "true"
			r.warn(n.Pointer, "expected true or false, got a string", "it was read as "+word+"; send true or false")
		default:
			r.require(n, jcs.Bool, "")
		}
	}
}

// NegatedFlag returns a reader of a flag that stores its opposite.
func (r *Reader) NegatedFlag(into *bool) func(Node) {
	return func(n Node) {
		yes := !*into
		r.Flag(&yes)(n)
		*into = !yes
	}
}

// ignored returns a reader that ignores a field, with a warning that gives the reason.
func (r *Reader) ignored(why string) func(Node) {
	return func(n Node) { r.warn(n.Pointer, "this field has no effect: "+why, "it was ignored") }
}

// waitOnly reads the field for the delivery of an answer. It adds a problem for any value except "wait".
func (r *Reader) waitOnly(n Node) {
	var how string
	r.Text(&how)(n)
	if how != "" && how != "wait" {
		r.Problem(n.Pointer, "the answer is always the result of this call", "send wait, or leave it out")
	}
}

// RejectIfSet returns a reader of a flag that adds a problem if it is true.
func (r *Reader) RejectIfSet(detail, fix string) func(Node) {
	return func(n Node) {
		var yes bool
		r.Flag(&yes)(n)
		if yes {
			r.Problem(n.Pointer, detail, fix)
		}
	}
}

// Options returns a reader of an array of labels, or of objects with the fields in names. The reader adds the
// options to a.
func (r *Reader) Options(a *ClientQuestion, names ...string) func(Node) {
	return func(n Node) {
		r.elements(n, func(n Node) {
			var o askback.Option
			var id string
			var advised bool
			all := map[string]func(Node){
				"label": r.Text(&o.Label), "value": r.Text(&o.Label), "description": r.Text(&o.Description),
				"id": r.Text(&id), "recommended": r.Flag(&advised),
			}
			maps.DeleteFunc(all, func(name string, _ func(Node)) bool { return !slices.Contains(names, name) })
			if n.Kind == jcs.String {
				o.Label = n.Text()
			} else {
				r.Fields(n, all)
			}
			a.Options, a.ids = append(a.Options, o), append(a.ids, id)
			a.given = a.Options
			if advised {
				a.Default = append(a.Default, o.Label)
			}
		})
	}
}
