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
// object whose properties are strings, numbers, booleans or choices. A choice and the text property for
// another answer to it are one question (see [otherFields]).
type Form struct {
	Questions []askback.Question
	fields    []field // the fields of the questions, in the same order
	isMessage bool    // the message of the form is the text of the only question, and header its header
	header    string
}

// A field is a property of the input.
type field struct {
	name, kind string
	options    []askback.Option
	values     []string // the values of the options, in the same order
	other      string   // the property for an answer that is not an option, or ""
}

// ReadForm returns the form of a schema. It returns false if the schema has no properties, or a property that
// cannot be asked.
func ReadForm(schema json.RawMessage) (Form, bool) {
	v, err := jcs.Parse(schema)
	if err != nil {
		return Form{}, false
	}
	properties, _ := v.Get("properties")
	list, _ := v.Get("required")
	required := func(name string) bool {
		return slices.ContainsFunc(list.Elements(), func(r jcs.Value) bool { return r.Text() == name })
	}
	others, isOther := otherFields(properties, required)
	var f Form
	for _, m := range properties.Members() {
		if isOther[m.Name] {
			continue
		}
		q, one, ok := questionOf(m.Name, m.Value)
		if !ok {
			return Form{}, false
		}
		q.Optional = !required(m.Name)
		if one.other = others[m.Name]; one.other != "" {
			one.allowOther(&q, m.Value)
		}
		f.Questions = append(f.Questions, q)
		f.fields = append(f.fields, one)
	}
	if len(f.fields) == 1 && f.fields[0].other != "" {
		first, _ := properties.Get(f.fields[0].name)
		f.isMessage, f.header = text(first, "description", "") == "", text(first, "title", "")
	}
	return f, len(f.fields) > 0
}

// SetTitle sets the title and the questions of the request r: the title to message, and the questions to the
// questions of the form. A message that is too long for a title is also part of the first question, so that
// people see the whole message.
func (f Form) SetTitle(r *askback.Request, message string) {
	r.Questions = slices.Clone(f.Questions)
	if q := &r.Questions[0]; f.isMessage && message != "" {
		*q = withHeader(*q, f.header, message)
		return
	}
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
	options, values, ok := choices(of)
	f.values = values
	switch f.kind {
	case "boolean":
		options, f.values = askback.Options("Yes", "No"), []string{"true", "false"}
	case "array":
		ok = ok && len(options) > 0
	case "string":
		ok = ok && (len(options) == 0 || q.Format == "")
	case "number", "integer":
		ok = ok && len(options) == 0
	default:
		ok = false
	}
	if len(options) > 0 {
		q.Options, q.NoOther, f.options = options, true, options
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

// choices returns the options and the values of a property with oneOf, anyOf, or enum, with or without
// enumNames and enumDescriptions. ok is false if a label or a value is blank. Without choices, ok is true.
func choices(v jcs.Value) (options []askback.Option, values []string, ok bool) {
	add := func(value jcs.Value, o askback.Option) {
		options, values = append(options, o), append(values, value.Text())
	}
	for _, way := range []string{"oneOf", "anyOf"} {
		titled, _ := v.Get(way)
		for _, o := range titled.Elements() {
			value, _ := o.Get("const")
			add(value, askback.Option{
				Label: text(o, "title", value.Text()), Description: text(o, "description", ""), Preview: preview(o),
			})
		}
	}
	plain, _ := v.Get("enum")
	named, _ := v.Get("enumNames")
	described, _ := v.Get("enumDescriptions")
	for i, value := range plain.Elements() {
		o := askback.Option{Label: value.Text()}
		if n := named.Elements(); i < len(n) {
			o.Label = n[i].Text()
		}
		if n := described.Elements(); i < len(n) {
			o.Description = n[i].Text()
		}
		add(value, o)
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	return options, values, !slices.ContainsFunc(values, blank) &&
		!slices.ContainsFunc(options, func(o askback.Option) bool { return blank(o.Label) })
}

// preview returns the preview of an option of Claude Code's questions, or "".
func preview(option jcs.Value) string {
	meta, _ := option.Get("_meta")
	claude, _ := meta.Get("_claude/askUserQuestionOption")
	return text(claude, "preview", "")
}

// Accepted returns the content for the answers of a person, which is {} if every field is optional and was
// left empty. It returns false if the ask was not answered, or if the form cannot contain the answer. A form
// without properties for other answers has no place for a comment and for notes, and without them the agent
// would misunderstand the person.
func (f Form) Accepted(ask askback.Ask) (json.RawMessage, bool) {
	if ask.Outcome.Status != askback.Answered || len(ask.Questions) != len(f.Questions) ||
		len(ask.Outcome.Answers) != len(f.fields) {
		return nil, false
	}
	remark := f.remarkField()
	out := map[string]any{}
	for i, a := range ask.Outcome.Answers {
		comment := ""
		if i == remark {
			comment = ask.Outcome.Comment
		}
		if a.ID != ask.Questions[i].ID || !f.fields[i].fill(out, ask.Questions[i], a, comment) {
			return nil, false
		}
	}
	b, err := json.Marshal(out)
	return b, err == nil && (ask.Outcome.Comment == "" || remark >= 0)
}

// fill adds an answer to the content of a form, with the type of its field, unless the field was left empty.
// It returns false if the answer is not valid for the field, if a required field has no answer, or if there
// is no property for the notes and for the comment on the whole form.
func (f field) fill(out map[string]any, q askback.Question, a askback.QuestionAnswer, comment string) bool {
	chosen := []string{}
	for _, label := range a.Selected {
		i := slices.IndexFunc(f.options, func(o askback.Option) bool { return o.Label == label })
		if i < 0 {
			return false
		}
		chosen = append(chosen, f.values[i])
	}
	switch {
	case f.other != "":
		chosen = f.fillOther(out, chosen, a, comment)
	case a.Notes != "":
		return false
	case a.Other != "":
		chosen = append(chosen, a.Other)
	}
	switch {
	case len(chosen) == 0:
		return q.Optional
	case f.kind == "array":
		out[f.name] = chosen
	case f.kind == "boolean":
		out[f.name] = chosen[0] == "true"
	case f.kind == "string":
		out[f.name] = chosen[0]
	default:
		number, ok := f.number(strings.TrimSpace(chosen[0]))
		out[f.name] = number
		return ok
	}
	return true
}

// number returns an answer as a JSON number. ok is false if the answer is not a number, or if the field is an
// integer and the answer is not.
func (f field) number(digits string) (value json.RawMessage, ok bool) {
	v, err := jcs.Parse([]byte(digits))
	if err != nil || v.Kind != jcs.Number {
		return nil, false
	}
	if f.kind == "integer" {
		n, whole := v.Int()
		return json.RawMessage(strconv.FormatInt(n, 10)), whole
	}
	return json.RawMessage(digits), true
}
