package decode

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// An input is a question that is being read.
type input struct {
	askback.Question
	flagSeen    bool // multiSelect was sent, under any of its names
	defaultNode node // the default, which is read after the options
}

// flat has the fields of a single question that was sent without a list (C1, C2).
type flat struct {
	input
	descriptions []string
	described    bool // descriptions were sent
	seen         bool // a field of the flat form was sent
}

// The names of the fields of a question, including the names that other tools use.
var (
	inputNames = slices.Concat(questionNames, []string{"choices", "multi_select", "multiple"})
	flatNames  = slices.Concat(inputNames, []string{"descriptions"})
	listNames  = slices.Concat(inputNames, []string{"id"}) // the names of the fields of a question in a list
)

func (r *reader) flatMember(f *flat, name string, n node) bool {
	switch {
	case name == "descriptions":
		f.described, f.descriptions = true, r.descriptions(n)
		return true
	case name == "question" && (n.Kind == jcs.Array || n.Kind == jcs.Object):
		r.problem(fmt.Sprintf("expected a string, got %s", n.Kind), `did you mean "questions"?`)
		return true
	}
	return r.inputMember(&f.input, name, n)
}

func (r *reader) inputMember(q *input, name string, n node) bool {
	switch name {
	case "choices":
		r.warnAlias("options")
		r.optionsOnce(q, n)
	case "options":
		r.optionsOnce(q, n)
	case "multiple":
		r.warnAlias("multiSelect")
		r.lenientFlag(n, &q.MultiSelect, &q.flagSeen)
	case "multiSelect", "multi_select":
		r.lenientFlag(n, &q.MultiSelect, &q.flagSeen)
	case "default":
		q.defaultNode = n
	default:
		return r.questionMember(&q.Question, name, n)
	}
	return true
}

func (r *reader) optionsOnce(q *input, n node) {
	if q.Options != nil {
		r.problem("the options were sent twice", `keep "options"`)
		return
	}
	q.Options = r.options(n)
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
			r.text(n, &s)
		}
		out = append(out, s)
	})
	return out
}

func (r *reader) unflatten(f *flat) askback.Question {
	if r.err() != nil {
		return f.Question
	}
	if f.described && len(f.descriptions) != len(f.Options) {
		r.problemAt("/descriptions", fmt.Sprintf("%d descriptions for %d options", len(f.descriptions), len(f.Options)),
			"send one description for each option, or null")
		return f.Question
	}
	for i, d := range f.descriptions {
		if d != "" {
			f.Options[i].Description = d
		}
	}
	return r.complete(&f.input)
}

// complete reads the default of a question whose other members were read, and returns the
// question.
func (r *reader) complete(q *input) askback.Question {
	r.enter("default")
	q.Default = r.readDefault(q.defaultNode, q.Options)
	r.leave()
	r.warnSeveralQuestions(&q.Question)
	return q.Question
}

func (r *reader) questions(n node) []askback.Question {
	n, ok := r.unpack(n)
	switch {
	case !ok:
	case n.Kind == jcs.Object:
		r.warn("expected a list of questions, got one question", "it was read as the only question; send it in a list")
		r.enter("0")
		defer r.leave()
		return []askback.Question{r.question(n)}
	case r.checkLength(n, "questions", limits.MaxQuestions):
		out := make([]askback.Question, 0, len(n.Elements()))
		r.elements(n, `[{"question": "Which database?"}]`, func(n node) { out = append(out, r.question(n)) })
		return out
	}
	return []askback.Question{}
}

// checkLength reports whether a list is short enough to read. It adds a problem if the list is too long. Up
// to maxRead elements are read even if the limit is lower, so that all their problems are reported.
func (r *reader) checkLength(n node, what string, limit int) bool {
	const maxRead = 2 * limits.MaxOptions
	if len(n.Elements()) > maxRead {
		r.problem(fmt.Sprintf("%d %s are too many; at most %d are allowed", len(n.Elements()), what, limit),
			"send fewer")
		return false
	}
	return true
}

func (r *reader) question(n node) askback.Question {
	n, ok := r.unpack(n)
	if !ok {
		return askback.Question{}
	}
	var q input
	r.modelMembers(n, `{"question": "Which database?"}`, listNames, func(name string, n node) bool {
		if name == "id" {
			r.clientID(n)
			return true
		}
		return r.inputMember(&q, name, n)
	})
	return r.complete(&q)
}

// clientID reads the id that a client gave to a question in a list, as tools of other programs require. The
// id is ignored, because answers are matched by the text of the question. It adds a warning, unless the id
// equals the id that Askback gives to the question, such as q1 for the first question.
func (r *reader) clientID(id node) {
	i, err := strconv.Atoi(r.path[len(r.path)-2]) // the last token is id
	if err == nil && id.Kind == jcs.String && id.Text() == fmt.Sprintf("q%d", i+1) {
		return
	}
	detail := "this id is ignored"
	if id.Kind == jcs.String || id.Kind == jcs.Number {
		detail = "the id " + excerpt(id) + " is ignored"
	}
	r.warn(detail, "answers are matched by the text of the question; leave the id out")
}

// options reads an array of labels, or of objects with a label.
func (r *reader) options(n node) []askback.Option {
	n, ok := r.unpack(n)
	if !ok || !r.checkLength(n, "options", limits.MaxOptions) {
		return []askback.Option{}
	}
	out := make([]askback.Option, 0, len(n.Elements()))
	r.elements(n, `["PostgreSQL", "SQLite"]`, func(n node) { out = append(out, r.option(n)) })
	return out
}

func (r *reader) option(n node) askback.Option {
	var o askback.Option
	n = r.optionObject(n)
	if n.Kind == jcs.String {
		n, tail := r.removeMarkup(n, "label")
		if len(tail) > 0 {
			r.problem("this label contains other parameters of the call", "send each field separately")
		}
		o.Label = r.stringOf(n)
		return o
	}
	names, alias := optionNames, labelAlias(n.Value)
	if alias != "" {
		names = append(slices.Clip(names), alias)
	}
	r.modelMembers(n, `{"label": "SQLite"}`, names, func(name string, n node) bool {
		if alias != "" && name == alias {
			r.warnAlias("label")
			name = "label"
		}
		return r.optionMember(&o, name, n)
	})
	return o
}

// optionObject parses an option that was sent as JSON inside a string (W3). If the JSON has no "label", the
// string is returned unchanged, because it is a label that looks like JSON.
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

// labelAlias returns the other name under which an option without "label" has its label. It returns "" unless
// there is exactly one such name and its value is a string.
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

// readDefault reads a default: a label, a text, the index of an option from 0, or an array of defaults.
func (r *reader) readDefault(n node, options []askback.Option) []string {
	switch n.Kind {
	case jcs.Missing:
		return nil
	case jcs.Array:
		out := make([]string, 0, len(n.Elements()))
		r.elements(n, "", func(n node) { out = append(out, r.readDefault(n, options)...) })
		return out
	case jcs.Number:
		i, ok := n.Int()
		if !ok || i < 0 || i >= int64(len(options)) {
			r.problem(fmt.Sprintf("there is no option %s; options are counted from 0", n.Text()),
				"send the label instead")
			return nil
		}
		return []string{options[i].Label}
	}
	var s string
	r.text(n, &s)
	return []string{s}
}
