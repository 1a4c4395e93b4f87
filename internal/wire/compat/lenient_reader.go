package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

// lenientReader reads input that a model wrote. It repairs harmless mistakes, with a
// warning for each (F15).
type lenientReader struct {
	*reader
	warnings []askback.Problem
}

// clientQuestion is a question with the names that the client uses.
type clientQuestion struct {
	askback.Question
	key      string           // its name in the client's result
	keyField string           // the field of the key
	given    []askback.Option // the options that the client sent
	ids      []string         // their ids, if the result refers to them
	yesNo    bool
}

func (r *lenientReader) warn(pointer, detail, fix string) {
	if len(r.warnings) < askback.MaxProblems {
		r.warnings = append(r.warnings, askback.Problem{Pointer: pointer, Detail: detail, Fix: fix})
	}
}

// fields calls the reader of each member that is not null. An unknown member is ignored with a
// warning, because clients add fields.
func (r *lenientReader) fields(n node, by map[string]func(node)) {
	r.members(n, "", func(name string, n node) {
		read, known := by[name]
		if other := aliasOf(name, by); !known && other != "" {
			r.warn(n.pointer, "this field has a different name here", fmt.Sprintf("it was read as %q; use that name", other))
			read, known = by[other], true
		}
		switch {
		case n.Kind == jcs.Null:
		case !known:
			r.warn(n.pointer, "unknown field", "it was ignored")
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
func aliasOf(name string, by map[string]func(node)) string {
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
func (r *lenientReader) unpack(n node) node {
	text := strings.TrimSpace(n.Text())
	if n.Kind != jcs.String || text == "" || strings.IndexByte("[{", text[0]) < 0 {
		return n
	}
	v, err := jcs.Parse([]byte(text))
	if err != nil {
		return n
	}
	r.warn(n.pointer, "this is JSON inside a string", "it was parsed; send the JSON itself")
	return node{v, n.pointer}
}

// elements calls read for each element of an array. After [askback.MaxOptions] + 1 elements,
// it adds a problem and stops.
func (r *lenientReader) elements(n node, read func(node)) {
	n = r.unpack(n)
	if !r.require(n, jcs.Array, "") {
		return
	}
	for i, v := range n.Elements() {
		if i > askback.MaxOptions {
			r.problem(n.pointer, fmt.Sprintf("%d entries are too many", len(n.Elements())), "send fewer")
			return
		}
		read(node{v, jcs.Pointer(n.pointer, fmt.Sprint(i))})
	}
}

// flag returns a reader of true or false, also as a string (W9).
func (r *lenientReader) flag(into *bool) func(node) {
	return func(n node) {
		switch word := strings.ToLower(n.Text()); {
		case n.Kind == jcs.Bool:
			*into = n.Bool()
		case n.Kind == jcs.String && (word == "true" || word == "false"):
			*into = word == "true"
			r.warn(n.pointer, "expected true or false, got a string", "it was read as "+word+"; send true or false")
		default:
			r.require(n, jcs.Bool, "")
		}
	}
}

// negatedFlag returns a reader of a flag that stores its opposite.
func (r *lenientReader) negatedFlag(into *bool) func(node) {
	return func(n node) {
		yes := !*into
		r.flag(&yes)(n)
		*into = !yes
	}
}

// ignored returns a reader that ignores a field, with a warning that gives the reason.
func (r *lenientReader) ignored(why string) func(node) {
	return func(n node) { r.warn(n.pointer, "this field has no effect: "+why, "it was ignored") }
}

// waitOnly adds a problem for any delivery except "wait".
func (r *lenientReader) waitOnly(n node) {
	var how string
	r.text(&how)(n)
	if how != "" && how != "wait" {
		r.problem(n.pointer, "the answer is always the result of this call", "send wait, or leave it out")
	}
}

// rejectIfSet returns a reader of a flag that adds a problem if it is true.
func (r *lenientReader) rejectIfSet(detail, fix string) func(node) {
	return func(n node) {
		var yes bool
		r.flag(&yes)(n)
		if yes {
			r.problem(n.pointer, detail, fix)
		}
	}
}

// options returns a reader of an array of labels, or of objects with these fields. The reader
// adds the options to a.
func (r *lenientReader) options(a *clientQuestion, names ...string) func(node) {
	return func(n node) {
		r.elements(n, func(n node) {
			var o askback.Option
			var id string
			var advised bool
			all := map[string]func(node){
				"label": r.text(&o.Label), "value": r.text(&o.Label), "description": r.text(&o.Description),
				"id": r.text(&id), "recommended": r.flag(&advised),
			}
			maps.DeleteFunc(all, func(name string, _ func(node)) bool { return !slices.Contains(names, name) })
			if n.Kind == jcs.String {
				o.Label = n.Text()
			} else {
				r.fields(n, all)
			}
			a.Options, a.ids = append(a.Options, o), append(a.ids, id)
			a.given = a.Options
			if advised {
				a.Default = append(a.Default, o.Label)
			}
		})
	}
}
