package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// input walks what a client's model sent. Models err: what misleads nobody is
// mended, and told in the repairs of the request (F15).
type input struct {
	*body
	mended []askback.Problem
}

// asked is a question with the client's own names.
type asked struct {
	askback.Question
	key      string           // what the client's result calls it
	keyField string           // the field that gave the key
	given    []askback.Option // as the client sent them
	ids      []string         // of those, where results name them by id
	yesNo    bool
}

func (in *input) mend(at, detail, fix string) {
	if len(in.mended) < askback.MaxProblems {
		in.mended = append(in.mended, askback.Problem{Pointer: at, Detail: detail, Fix: fix})
	}
}

// fields calls the function of each member. What the client may have added
// since is left out, and said to be.
func (in *input) fields(n node, by map[string]func(node)) {
	in.members(n, "", func(name string, n node) {
		read, known := by[name]
		if other := meant(name, by); !known && other != "" {
			in.mend(n.at, "this field has another name here", fmt.Sprintf("it was read as %q; use that name", other))
			read, known = by[other], true
		}
		switch {
		case n.Kind == jcs.Null:
		case !known:
			in.mend(n.at, "there is no such field here", "it was left out")
		default:
			read(n)
		}
	})
}

// otherNames are what clients call the same thing: a model that knows several
// of them mixes them up, and options left out are a question mutilated (F3).
var otherNames = [][]string{{"options", "choices"}, {"multiSelect", "multi_select", "multiple"}}

// meant is the known field that another name stands for, or "".
func meant(name string, by map[string]func(node)) string {
	for _, group := range otherNames {
		for _, other := range group {
			if _, known := by[other]; known && slices.Contains(group, name) {
				return other
			}
		}
	}
	return ""
}

// unpack takes JSON out of the string it was sent in (W1).
func (in *input) unpack(n node) node {
	text := strings.TrimSpace(n.Text())
	if n.Kind != jcs.String || text == "" || strings.IndexByte("[{", text[0]) < 0 {
		return n
	}
	v, err := jcs.Parse([]byte(text))
	if err != nil {
		return n
	}
	in.mend(n.at, "this was sent as a string with JSON in it", "it was read; send the JSON itself")
	return node{v, n.at}
}

// list reads each element, up to more than any list of ours may have.
func (in *input) list(n node, read func(node)) {
	n = in.unpack(n)
	if !in.is(n, jcs.Array, "") {
		return
	}
	for i, v := range n.Elements() {
		if i > askback.MaxOptions {
			in.wrong(n.at, fmt.Sprintf("%d entries are too many", len(n.Elements())), "send fewer")
			return
		}
		read(node{v, jcs.Pointer(n.at, fmt.Sprint(i))})
	}
}

// flag reads true or false, also in quotes (W9).
func (in *input) flag(into *bool) func(node) {
	return func(n node) {
		switch word := strings.ToLower(n.Text()); {
		case n.Kind == jcs.Bool:
			*into = n.Bool()
		case n.Kind == jcs.String && (word == "true" || word == "false"):
			*into = word == "true"
			in.mend(n.at, "this was sent in quotes", "it was read; send true or false")
		default:
			in.is(n, jcs.Bool, "")
		}
	}
}

func (in *input) unless(into *bool) func(node) {
	return func(n node) {
		yes := !*into
		in.flag(&yes)(n)
		*into = !yes
	}
}

// dropped leaves a field out and says why.
func (in *input) dropped(why string) func(node) {
	return func(n node) { in.mend(n.at, "this has no meaning here: "+why, "it was left out") }
}

// waits refuses a call whose answer should come some other way later.
func (in *input) waits(n node) {
	var how string
	in.text(&how)(n)
	if how != "" && how != "wait" {
		in.wrong(n.at, "the answer is the result of this call", "ask with wait, or leave it out")
	}
}

// refused refuses a field that says yes.
func (in *input) refused(detail, fix string) func(node) {
	return func(n node) {
		var yes bool
		in.flag(&yes)(n)
		if yes {
			in.wrong(n.at, detail, fix)
		}
	}
}

// options reads labels, or objects with these fields.
func (in *input) options(a *asked, names ...string) func(node) {
	return func(n node) {
		in.list(n, func(n node) {
			var o askback.Option
			var id string
			var advised bool
			all := map[string]func(node){
				"label": in.text(&o.Label), "value": in.text(&o.Label), "description": in.text(&o.Description),
				"id": in.text(&id), "recommended": in.flag(&advised),
			}
			for name := range all {
				if !slices.Contains(names, name) {
					delete(all, name)
				}
			}
			if n.Kind == jcs.String {
				o.Label = n.Text()
			} else {
				in.fields(n, all)
			}
			a.Options, a.ids = append(a.Options, o), append(a.ids, id)
			a.given = a.Options
			if advised {
				a.Default = append(a.Default, o.Label)
			}
		})
	}
}
