package compat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// An aguiSchema has the parts of an interrupt's responseSchema that a person can fill in.
type aguiSchema struct {
	kind     string // the type in the schema, or "" without a schema
	fields   []aguiField
	required []string
	edits    bool // an approval may have editedArgs
	closed   bool // the schema allows no other properties
}

// An aguiField is a property of the schema, or the schema itself, with the name "".
type aguiField struct {
	name, kind, about string
	values            []string // the values of an enum
}

// aguiSchema reads a JSON Schema.
func (r *reader) aguiSchema(n Node) (s aguiSchema) {
	if !r.require(n, jcs.Object, "") {
		return s
	}
	root := r.aguiField(n, "")
	_, nested := n.Get("properties")
	switch {
	case root.kind == "" && nested:
		root.kind = "object"
	case root.kind == "" && len(root.values) > 0:
		root.kind = "string"
	case root.kind == "":
		r.Problem(n.Pointer, "a schema without a type is not supported", "set type, or leave the schema out")
	}
	s.kind = root.kind
	if s.kind != "object" {
		s.fields, s.required = []aguiField{root}, []string{""}
		return s
	}
	if v, ok := child(n, "additionalProperties"); ok && v.Kind == jcs.Bool {
		s.closed = !v.Bool()
	}
	if list, ok := child(n, "required"); ok && r.require(list, jcs.Array, "") {
		for _, v := range list.Elements() {
			s.required = append(s.required, v.Text())
		}
	}
	properties, ok := child(n, "properties")
	if !ok || !r.require(properties, jcs.Object, "") {
		return s
	}
	for _, m := range properties.Members() {
		at := Node{m.Value, jcs.Pointer(properties.Pointer, m.Name)}
		if m.Name == "editedArgs" {
			s.edits = true
			continue
		}
		s.fields = append(s.fields, r.aguiField(at, m.Name))
	}
	return s
}

// aguiField reads the type, the values and the description of a schema.
func (r *reader) aguiField(n Node, name string) aguiField {
	f := aguiField{name: name}
	kind, _ := child(n, "type")
	f.kind = kind.Text()
	at := n
	if items, ok := child(n, "items"); f.kind == "array" && ok {
		at = items
	}
	if list, ok := child(at, "enum"); ok && r.require(list, jcs.Array, "") {
		for _, v := range list.Elements() {
			if v.Kind == jcs.String {
				f.values = append(f.values, v.Text())
			}
		}
		if len(f.values) < len(list.Elements()) {
			r.Problem(list.Pointer, "the values are not strings", "")
		}
	}
	for _, from := range []string{"description", "title"} {
		if v, ok := child(n, from); ok && f.about == "" {
			f.about = v.Text()
		}
	}
	return f
}

func (s aguiSchema) field(name string) (aguiField, bool) {
	i := slices.IndexFunc(s.fields, func(f aguiField) bool { return f.name == name })
	if i < 0 {
		return aguiField{}, false
	}
	return s.fields[i], true
}

// isApproval reports whether the answer is yes or no.
func (s aguiSchema) isApproval(reason string) bool {
	_, approves := s.field("approved")
	return s.kind == "" && reason == "confirmation" || s.kind == "boolean" || s.kind == "object" && approves
}

// takesReason reports whether the payload may have a reason.
func (s aguiSchema) takesReason() bool {
	_, named := s.field("reason")
	return named || s.kind == "object" && !s.closed
}

// checkApproval adds a problem if an answer by the schema s cannot be a decision, or requires fields besides
// the decision.
func (r *reader) checkApproval(at Node, s aguiSchema) {
	pointer := jcs.Pointer(at.Pointer, "responseSchema")
	approved, ok := s.field("approved")
	switch {
	case s.kind == "" || s.kind == "boolean":
	case s.kind != "object" || !ok || approved.kind != "boolean":
		r.Problem(pointer, "a person could not approve this",
			`use {"type": "object", "properties": {"approved": {"type": "boolean"}}}`)
	}
	for _, name := range s.required {
		if !slices.Contains([]string{"", "approved"}, name) {
			r.Problem(pointer, "the answer is a decision without other fields", "require only approved")
		}
	}
}

// aguiForm returns a call with a question for each property of the schema. Without a schema, the call has a
// question whose answer is a text.
func (r *reader) aguiForm(at Node, i aguiInterrupt) (c Call) {
	fields, required := i.schema.fields, i.schema.required
	if i.schema.kind == "" {
		fields, required = []aguiField{{kind: "string"}}, []string{""}
	}
	pointer := jcs.Pointer(at.Pointer, "responseSchema")
	if n := len(fields); n == 0 || n > limits.MaxQuestions || i.schema.edits {
		r.Problem(pointer, fmt.Sprintf("a person answers 1 to %d properties", limits.MaxQuestions), "")
		return c
	}
	for _, f := range fields {
		q, ok := f.question()
		if !ok {
			r.Problem(pointer, "a person cannot fill in the type "+strconv.Quote(f.kind),
				"use string, number, integer, boolean, or an array of an enum")
		}
		q.Optional = !slices.Contains(required, f.name)
		if len(fields) == 1 {
			q.Text = i.message
			if f.about != "" {
				q.Text += "\n\n" + f.about
			}
		}
		c.questions = append(c.questions, ClientQuestion{Question: q, Key: f.name})
		c.Request.Questions = append(c.Request.Questions, q)
	}
	if len(fields) > 1 {
		more := struct {
			Message  string          `json:"message"`
			Metadata json.RawMessage `json:"metadata,omitempty"`
		}{i.message, i.context}
		c.Request.Context, _ = jcs.Marshal(more) // both members can be encoded
	}
	c.reply = func(all []ClientAnswer, ask askback.Ask) (any, error) { return i.form(fields, all, ask) }
	return c
}

// question returns the question for a property. It returns false if a person cannot answer it.
func (f aguiField) question() (q askback.Question, ok bool) {
	q.Text = f.name
	if f.about != "" {
		q.Text = f.about
	}
	q.Options = askback.Options(f.values...)
	q.NoOther = len(f.values) > 0
	switch f.kind {
	case "string", "number", "integer":
		return q, f.kind == "string" || len(f.values) == 0
	case "boolean":
		q.Options, q.NoOther = askback.Options("Yes", "No"), true
		return q, len(f.values) == 0
	case "array":
		q.MultiSelect = true
		return q, len(f.values) > 0
	}
	return q, f.kind == "" && len(f.values) > 0
}

// form returns the entry with the answers to the questions, or a cancelled entry without answers. If an
// answer does not have the type of its property, the error is an *[Unanswered].
func (i aguiInterrupt) form(fields []aguiField, all []ClientAnswer, ask askback.Ask) (any, error) {
	if AnsweredOnly(ask) != nil {
		return i.entry(ask, nil), nil
	}
	payload := map[string]any{}
	for n, a := range all {
		if len(a.Values()) == 0 && a.Optional {
			continue
		}
		value, ok := fields[n].value(a)
		if !ok {
			return nil, &Unanswered{ask.Status, "The answer " + Quoted(a.String()) + " is not of the type " +
				fields[n].kind + ". Ask again, with another key."}
		}
		payload[fields[n].name] = value
	}
	if i.schema.kind != "object" {
		return i.entry(ask, payload[""]), nil
	}
	return i.entry(ask, payload), nil
}

// value returns an answer as the type of the property. It returns false if the answer does not have this
// type.
func (f aguiField) value(a ClientAnswer) (any, bool) {
	text := a.String()
	switch f.kind {
	case "boolean":
		return text == "Yes", true
	case "array":
		return append([]string{}, a.Values()...), true
	case "number", "integer":
		number := json.Number(text)
		if _, err := number.Int64(); err == nil {
			return number, json.Valid([]byte(text))
		}
		_, err := number.Float64()
		return number, err == nil && f.kind == "number" && json.Valid([]byte(text))
	}
	return text, true
}
