package decode

import (
	"fmt"
	"path"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// flat is the form of one question without a list around it (C1, C2).
type flat struct {
	question     askback.Question
	descriptions []string
	described    bool
	standard     node
	seen         bool
}

func (r *reader) flatFields(f *flat, fields map[string]func(node)) {
	own := r.questionFields(&f.question, &f.standard)
	own["descriptions"] = func(n node) { f.described, f.descriptions = true, r.described(n) }
	for name, read := range own {
		fields[name] = func(n node) {
			f.seen = true
			read(n)
		}
	}
}

// questionFields are what a question can have, flat or not, with the names
// that other tools have for it.
func (r *reader) questionFields(q *askback.Question, standard *node) map[string]func(node) {
	options := func(n node) {
		if q.Options != nil {
			r.wrong(n.at, "the options are given twice", `keep "options"`)
			return
		}
		q.Options = r.options(n)
	}
	several := r.loose(&q.MultiSelect)
	return map[string]func(node){
		"question":     r.text(&q.Text),
		"header":       r.cosmetic(&q.Header),
		"options":      options,
		"choices":      r.also("options", options),
		"multiSelect":  several,
		"multi_select": several,
		"multiple":     r.also("multiSelect", several),
		"allow_custom": r.not(&q.NoOther),
		"required":     r.not(&q.Optional),
		"default":      func(n node) { *standard = n },
	}
}

// described reads a list of strings in which null says nothing.
func (r *reader) described(n node) (out []string) {
	n, ok := r.unwrap(n)
	if !ok {
		return nil
	}
	r.each(n, `["…"]`, func(n node) {
		var s string
		if n.Kind != jcs.Null {
			r.text(&s)(n)
		}
		out = append(out, s)
	})
	return out
}

func (r *reader) unflatten(f flat) askback.Question {
	q := f.question
	if f.described && len(f.descriptions) != len(q.Options) {
		r.wrong("/descriptions", fmt.Sprintf("%d descriptions for %d options", len(f.descriptions), len(q.Options)),
			"describe each option, with null where there is nothing to say")
		return q
	}
	for i, d := range f.descriptions {
		if d != "" {
			q.Options[i].Description = d
		}
	}
	q.Default = r.standard(f.standard, q)
	r.lint("/question", q)
	return q
}

func (r *reader) questions(n node) []askback.Question {
	out := []askback.Question{}
	n, ok := r.unwrap(n)
	switch {
	case !ok:
	case n.Kind == jcs.Object:
		r.mend(n.at, "this is one question; expected a list of them", "it was read as the only one; send it in a list")
		out = append(out, r.question(n.in("0", n.Value)))
	case r.few(n, "questions", askback.MaxQuestions):
		r.each(n, `[{"question": "Which database?"}]`, func(n node) { out = append(out, r.question(n)) })
	}
	return out
}

// few keeps a list that is far too long from being read. One that is a little
// too long is read, so that everything that is wrong can be said at once.
func (r *reader) few(n node, what string, most int) bool {
	const far = 2 * askback.MaxOptions
	if len(n.Elements()) > far {
		r.wrong(n.at, fmt.Sprintf("%d %s; at most %d", len(n.Elements()), what, most), "send fewer")
		return false
	}
	return true
}

func (r *reader) question(n node) askback.Question {
	var q askback.Question
	var standard node
	n, ok := r.unwrap(n)
	if !ok {
		return q
	}
	fields := r.questionFields(&q, &standard)
	fields["id"] = func(id node) { r.clientID(id, n.at) }
	r.spoken(n, `{"question": "Which database?"}`, fields)
	q.Default = r.standard(standard, q)
	r.lint(jcs.Pointer(n.at, "question"), q)
	return q
}

// clientID reads an id that a client gave the question at a pointer, as ask tools of
// other programs require. It changes nothing: answers are found by the text of their
// question. Only the repair keeps it, unless it is the id that the question has anyway.
func (r *reader) clientID(id node, at string) {
	i, err := strconv.Atoi(path.Base(at))
	if err == nil && id.Kind == jcs.String && id.Text() == fmt.Sprintf("q%d", i+1) {
		return
	}
	detail := "this id is not kept"
	if id.Kind == jcs.String || id.Kind == jcs.Number {
		detail = "the id " + shown(id) + " is not kept"
	}
	r.mend(id.at, detail, "the answer is found by the text of its question; leave it out")
}

// options reads labels, or objects with a label.
func (r *reader) options(n node) []askback.Option {
	out := []askback.Option{}
	n, ok := r.unwrap(n)
	if !ok || !r.few(n, "options", askback.MaxOptions) {
		return out
	}
	r.each(n, `["PostgreSQL", "SQLite"]`, func(n node) { out = append(out, r.option(n)) })
	return out
}

func (r *reader) option(n node) askback.Option {
	var o askback.Option
	n = r.optionObject(n)
	if n.Kind == jcs.String {
		n, tail := r.withoutTail(n, "label")
		if len(tail) > 0 {
			r.wrong(n.at, "this label swallowed what came behind it", "send each field by itself")
		}
		o.Label = n.Text()
		return o
	}
	by := map[string]func(node){
		"label":       r.text(&o.Label),
		"description": r.cosmetic(&o.Description),
		"preview":     r.cosmetic(&o.Preview),
	}
	if name := otherLabel(n.Value); name != "" {
		by[name] = r.also("label", by["label"])
	}
	r.spoken(n, `{"label": "SQLite"}`, by)
	return o
}

// optionObject takes an object out of its string (W3), but only if it has a
// label: a label may look like JSON too.
func (r *reader) optionObject(n node) node {
	if n.Kind != jcs.String || n.strings == maxStrings || !packed(n.Text()) {
		return n
	}
	if v, err := jcs.Parse([]byte(n.Text())); err != nil || v.Kind != jcs.Object {
		return n
	} else if _, ok := v.Get("label"); !ok {
		return n
	}
	n, _ = r.unwrap(n)
	return n
}

// otherLabel gives the name that an option without a label has for it, if it
// has one string that can be meant.
func otherLabel(v jcs.Value) (name string) {
	if _, ok := v.Get("label"); ok {
		return ""
	}
	for _, m := range v.Members() {
		switch m.Name {
		case "text", "value", "name", "title":
			if m.Value.Kind != jcs.String || name != "" {
				return ""
			}
			name = m.Name
		}
	}
	return name
}

// standard reads a default: a label or text, the place of an option counted
// from 0, or a list of them.
func (r *reader) standard(n node, q askback.Question) []string {
	switch n.Kind {
	case jcs.Missing:
		return nil
	case jcs.Array:
		out := []string{}
		r.each(n, "", func(n node) { out = append(out, r.standard(n, q)...) })
		return out
	case jcs.Number:
		i, ok := n.Int()
		if !ok || i < 0 || i >= int64(len(q.Options)) {
			r.wrong(n.at, fmt.Sprintf("there is not an option %s; they are counted from 0", n.Text()), "name the label instead")
			return nil
		}
		return []string{q.Options[i].Label}
	}
	var s string
	r.text(&s)(n)
	return []string{s}
}
