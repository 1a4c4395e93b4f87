package hook

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// A Form has a question for each property of a JSON schema. As in MCP elicitations, the schema describes an
// object whose properties are strings, numbers, booleans or choices.
type Form struct {
	Questions []askback.Question
	fields    []field // the fields of the questions, in the same order
}

// A field is a property of the input.
type field struct {
	name, kind string
	values     []string // the values of the options, in the same order
}

// ReadForm returns the form of a schema. It returns false if the schema has no properties, or a property that
// cannot be asked.
func ReadForm(schema json.RawMessage) (Form, bool) {
	v, err := jcs.Parse(schema)
	if err != nil {
		return Form{}, false
	}
	properties, _ := v.Get("properties")
	required, _ := v.Get("required")
	var f Form
	for _, m := range properties.Members() {
		q, one, ok := questionOf(m.Name, m.Value)
		if !ok {
			return Form{}, false
		}
		q.Optional = !slices.ContainsFunc(required.Elements(), func(r jcs.Value) bool { return r.Text() == m.Name })
		f.Questions = append(f.Questions, q)
		f.fields = append(f.fields, one)
	}
	return f, len(f.fields) > 0
}

// SetTitle sets the title and the questions of the request r: the title to message, and the questions to the
// questions of the form. A message that is too long for a title is also part of the first question, so that
// people see the whole message.
func (f Form) SetTitle(r *askback.Request, message string) {
	r.Questions = slices.Clone(f.Questions)
	if r.Title = Title(message); r.Title != message {
		r.Questions[0].Text = message + "\n\n" + r.Questions[0].Text
	}
}

// Title returns message, cut to the maximum length of a title.
func Title(message string) string {
	title := []rune(message)
	if len(title) > limits.MaxName {
		title = append(title[:limits.MaxName-1], '…')
	}
	return string(title)
}

func questionOf(name string, v jcs.Value) (askback.Question, field, bool) {
	q := askback.Question{Text: text(v, "title", name)}
	if d := text(v, "description", ""); d != "" {
		q.Text += "\n\n" + d
	}
	f := field{name: name, kind: text(v, "type", "")}
	format, supported := formatOf(f.kind, v)
	if q.Format = format; format != "" {
		q.Text += "\n\n(" + q.Expects() + ")"
	}
	of := v
	if f.kind == "array" {
		of, _ = v.Get("items")
		q.MultiSelect = true
	}
	labels, values, ok := choices(of)
	f.values = values
	switch f.kind {
	case "boolean":
		labels, f.values = []string{"Yes", "No"}, []string{"true", "false"}
	case "array":
		ok = ok && len(labels) > 0
	case "string":
		ok = ok && (len(labels) == 0 || q.Format == "")
	case "number", "integer":
		ok = ok && len(labels) == 0
	default:
		ok = false
	}
	if len(labels) > 0 {
		q.Options, q.NoOther = askback.Options(labels...), true
	}
	q.Default = defaultOf(q, f, v)
	return q, f, ok && supported
}

// formatOf returns the format of the answers to a property. It returns false if the schema has a rule that no
// format can express. People could then answer with a value that the schema rejects.
func formatOf(kind string, v jcs.Value) (format string, ok bool) {
	for _, rule := range []string{
		"pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "maxItems", "uniqueItems",
	} {
		if _, has := v.Get(rule); has {
			return "", false
		}
	}
	if v, has := v.Get("minItems"); has {
		if n, ok := v.Int(); !ok || n > 1 {
			return "", false
		}
	}
	low, high := "minimum", "maximum"
	switch kind {
	case "integer", "number":
		format = kind
	case "string":
		low, high = "minLength", "maxLength"
		format = text(v, "format", "")
	}
	from, _ := v.Get(low)
	to, _ := v.Get(high)
	if from.Kind != jcs.Number && to.Kind != jcs.Number {
		return format, slices.Contains([]string{"", "integer", "number", "date", "date-time", "email", "uri"}, format)
	}
	bounds := " " + numberText(from) + ".." + numberText(to)
	switch format {
	case "integer", "number":
		return format + bounds, true
	case "":
		return "text" + bounds, kind == "string"
	}
	return "", false
}

// numberText returns a number as JSON writes it, or "".
func numberText(v jcs.Value) string {
	if v.Kind != jcs.Number {
		return ""
	}
	b, err := v.Canonical()
	if err != nil {
		return ""
	}
	return string(b)
}

// defaultOf returns the default of a property as the answer that people see. It returns nil if there is no
// default, or if the default is not a valid answer to the question.
func defaultOf(q askback.Question, f field, v jcs.Value) []string {
	d, has := v.Get("default")
	if !has || d.Kind == jcs.Null || f.kind == "array" {
		return nil
	}
	value := d.Text()
	switch d.Kind {
	case jcs.Bool, jcs.Number:
		b, err := d.Canonical()
		if err != nil {
			return nil
		}
		value = string(b)
	}
	if at := slices.Index(f.values, value); at >= 0 && at < len(q.Options) {
		return []string{q.Options[at].Label}
	}
	if len(q.Options) > 0 || strings.TrimSpace(value) == "" || !q.Fits(value) {
		return nil
	}
	return []string{value}
}

func text(v jcs.Value, name, otherwise string) string {
	if t, ok := v.Get(name); ok && t.Kind == jcs.String {
		return t.Text()
	}
	return otherwise
}

// choices returns the labels and the values of a property with oneOf, anyOf, or enum, with or without
// enumNames. ok is false if a label or a value is blank. Without choices, ok is true.
func choices(v jcs.Value) (labels, values []string, ok bool) {
	for _, way := range []string{"oneOf", "anyOf"} {
		titled, _ := v.Get(way)
		for _, o := range titled.Elements() {
			value, _ := o.Get("const")
			labels, values = append(labels, text(o, "title", value.Text())), append(values, value.Text())
		}
	}
	plain, _ := v.Get("enum")
	named, _ := v.Get("enumNames")
	for i, value := range plain.Elements() {
		label := value.Text()
		if n := named.Elements(); i < len(n) {
			label = n[i].Text()
		}
		labels, values = append(labels, label), append(values, value.Text())
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	return labels, values, !slices.ContainsFunc(labels, blank) && !slices.ContainsFunc(values, blank)
}

// Accepted returns the content for the answers of a person, which is {} if every field is optional and was
// left empty. It returns false if the ask was not answered, or if the form cannot contain the answer. A form
// has no place for a comment and for notes, and without them the agent would misunderstand the person.
func (f Form) Accepted(ask askback.Ask) (json.RawMessage, bool) {
	if ask.Outcome.Status != askback.Answered || ask.Outcome.Comment != "" || len(ask.Questions) != len(f.Questions) {
		return nil, false
	}
	out := map[string]any{}
	for i, a := range ask.Outcome.Answers {
		if i >= len(f.fields) || a.ID != ask.Questions[i].ID {
			return nil, false
		}
		value, given, ok := f.fields[i].value(ask.Questions[i], a)
		if !ok {
			return nil, false
		}
		if given {
			out[f.fields[i].name] = value
		}
	}
	b, err := json.Marshal(out)
	return b, err == nil && len(ask.Outcome.Answers) == len(f.fields)
}

// value returns an answer with the type of its field. given is false if the field was left empty. ok is false
// if the answer is not valid for the field or has notes. ok is also false if a required field has no answer.
func (f field) value(q askback.Question, a askback.QuestionAnswer) (value any, given, ok bool) {
	chosen := []string{}
	for _, label := range a.Selected {
		i := slices.IndexFunc(q.Options, func(o askback.Option) bool { return o.Label == label })
		if i < 0 {
			return nil, false, false
		}
		chosen = append(chosen, f.values[i])
	}
	if a.Other != "" {
		chosen = append(chosen, a.Other)
	}
	switch {
	case a.Notes != "":
		return nil, false, false
	case len(chosen) == 0:
		return nil, false, q.Optional
	case f.kind == "array":
		return chosen, true, true
	case f.kind == "boolean":
		return chosen[0] == "true", true, true
	case f.kind == "string":
		return chosen[0], true, true
	}
	return f.number(strings.TrimSpace(chosen[0]))
}

// number returns an answer as a JSON number. ok is false if the answer is not a number, or if the field is an
// integer and the answer is not.
func (f field) number(digits string) (value any, given, ok bool) {
	v, err := jcs.Parse([]byte(digits))
	if err != nil || v.Kind != jcs.Number {
		return nil, false, false
	}
	if f.kind == "integer" {
		n, whole := v.Int()
		return json.RawMessage(strconv.FormatInt(n, 10)), true, whole
	}
	return json.RawMessage(digits), true, true
}
