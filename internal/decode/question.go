package decode

import (
	"fmt"
	"path"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// flat has the fields of a single question that was sent without a list (C1, C2).
type flat struct {
	question     askback.Question
	descriptions []string
	described    bool // descriptions were sent
	defaultNode  node
	seen         bool // a field of the flat form was sent
}

func (r *reader) flatFields(f *flat, fields map[string]func(node)) {
	own := r.questionFields(&f.question, &f.defaultNode)
	own["descriptions"] = func(n node) { f.described, f.descriptions = true, r.descriptions(n) }
	for name, read := range own {
		fields[name] = func(n node) {
			f.seen = true
			read(n)
		}
	}
}

// questionFields returns the functions that read the fields of a question, also under the
// names that other tools use.
func (r *reader) questionFields(q *askback.Question, defaultNode *node) map[string]func(node) {
	options := func(n node) {
		if q.Options != nil {
			r.problem(n.pointer, "the options were sent twice", `keep "options"`)
			return
		}
		q.Options = r.options(n)
	}
	several := r.lenientFlag(&q.MultiSelect)
	return map[string]func(node){
		"question":     r.text(&q.Text),
		"header":       r.optionalText(&q.Header),
		"options":      options,
		"choices":      r.alias("options", options),
		"multiSelect":  several,
		"multi_select": several,
		"multiple":     r.alias("multiSelect", several),
		"allow_custom": r.negatedFlag(&q.NoOther),
		"required":     r.negatedFlag(&q.Optional),
		"default":      func(n node) { *defaultNode = n },
	}
}

// descriptions reads an array of strings and nulls.
func (r *reader) descriptions(n node) (out []string) {
	n, ok := r.unpack(n)
	if !ok {
		return nil
	}
	r.elements(n, `["…"]`, func(n node) {
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
		r.problem("/descriptions", fmt.Sprintf("%d descriptions for %d options", len(f.descriptions), len(q.Options)),
			"send one description for each option, or null")
		return q
	}
	for i, d := range f.descriptions {
		if d != "" {
			q.Options[i].Description = d
		}
	}
	q.Default = r.readDefault(f.defaultNode, q)
	r.warnSeveralQuestions("/question", q)
	return q
}

func (r *reader) questions(n node) []askback.Question {
	out := []askback.Question{}
	n, ok := r.unpack(n)
	switch {
	case !ok:
	case n.Kind == jcs.Object:
		r.warn(n.pointer, "expected a list of questions, got one question", "it was read as the only question; send it in a list")
		out = append(out, r.question(n.in("0", n.Value)))
	case r.checkLength(n, "questions", askback.MaxQuestions):
		r.elements(n, `[{"question": "Which database?"}]`, func(n node) { out = append(out, r.question(n)) })
	}
	return out
}

// checkLength reports whether a list is short enough to read, and adds a problem if it is
// not. A list that is only slightly too long is read, so that all its problems are
// reported.
func (r *reader) checkLength(n node, what string, limit int) bool {
	const maxRead = 2 * askback.MaxOptions
	if len(n.Elements()) > maxRead {
		r.problem(n.pointer, fmt.Sprintf("%d %s; at most %d", len(n.Elements()), what, limit), "send fewer")
		return false
	}
	return true
}

func (r *reader) question(n node) askback.Question {
	var q askback.Question
	var defaultNode node
	n, ok := r.unpack(n)
	if !ok {
		return q
	}
	fields := r.questionFields(&q, &defaultNode)
	fields["id"] = func(id node) { r.clientID(id, n.pointer) }
	r.modelFields(n, `{"question": "Which database?"}`, fields)
	q.Default = r.readDefault(defaultNode, q)
	r.warnSeveralQuestions(jcs.Pointer(n.pointer, "question"), q)
	return q
}

// clientID handles the id field of the question at pointer, which the ask tools of other
// programs require. The id is ignored with a warning, because answers are matched by the
// text of the question. There is no warning if it is the id that Askback gives to this
// question, such as q1 for the first.
func (r *reader) clientID(id node, pointer string) {
	i, err := strconv.Atoi(path.Base(pointer))
	if err == nil && id.Kind == jcs.String && id.Text() == fmt.Sprintf("q%d", i+1) {
		return
	}
	detail := "this id is ignored"
	if id.Kind == jcs.String || id.Kind == jcs.Number {
		detail = "the id " + excerpt(id) + " is ignored"
	}
	r.warn(id.pointer, detail, "answers are matched by the text of the question; leave the id out")
}

// options reads an array of labels, or of objects with a label.
func (r *reader) options(n node) []askback.Option {
	out := []askback.Option{}
	n, ok := r.unpack(n)
	if !ok || !r.checkLength(n, "options", askback.MaxOptions) {
		return out
	}
	r.elements(n, `["PostgreSQL", "SQLite"]`, func(n node) { out = append(out, r.option(n)) })
	return out
}

func (r *reader) option(n node) askback.Option {
	var o askback.Option
	n = r.optionObject(n)
	if n.Kind == jcs.String {
		n, tail := r.removeMarkup(n, "label")
		if len(tail) > 0 {
			r.problem(n.pointer, "this label contains other parameters of the call", "send each field separately")
		}
		o.Label = n.Text()
		return o
	}
	readers := map[string]func(node){
		"label":       r.text(&o.Label),
		"description": r.optionalText(&o.Description),
		"preview":     r.optionalText(&o.Preview),
	}
	if name := labelAlias(n.Value); name != "" {
		readers[name] = r.alias("label", readers["label"])
	}
	r.modelFields(n, `{"label": "SQLite"}`, readers)
	return o
}

// optionObject parses an option that was sent as JSON inside a string (W3). A string
// without a "label" in it is returned unchanged: it is a label that looks like JSON.
func (r *reader) optionObject(n node) node {
	if n.Kind != jcs.String || n.strings == maxStrings || !looksLikeJSON(n.Text()) {
		return n
	}
	if v, err := jcs.Parse([]byte(n.Text())); err != nil || v.Kind != jcs.Object {
		return n
	} else if _, ok := v.Get("label"); !ok {
		return n
	}
	n, _ = r.unpack(n)
	return n
}

// labelAlias returns the other name under which an option without "label" has its label. It
// returns "" unless there is exactly one such name, and its value is a string.
func labelAlias(v jcs.Value) (name string) {
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

// readDefault reads a default: a label or text, the index of an option from 0, or an array
// of them.
func (r *reader) readDefault(n node, q askback.Question) []string {
	switch n.Kind {
	case jcs.Missing:
		return nil
	case jcs.Array:
		out := []string{}
		r.elements(n, "", func(n node) { out = append(out, r.readDefault(n, q)...) })
		return out
	case jcs.Number:
		i, ok := n.Int()
		if !ok || i < 0 || i >= int64(len(q.Options)) {
			r.problem(n.pointer, fmt.Sprintf("there is no option %s; options are counted from 0", n.Text()), "send the label instead")
			return nil
		}
		return []string{q.Options[i].Label}
	}
	var s string
	r.text(&s)(n)
	return []string{s}
}
