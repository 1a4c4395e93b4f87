package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A shape has the members of a schema that the page shows.
type shape struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Type        oneOrMore         `json:"type"`
	Format      string            `json:"format"`
	Enum        []any             `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Properties  ordered[shape]    `json:"properties"`
	Required    []string          `json:"required"`
	Items       *shape            `json:"items"`
	AnyOf       []shape           `json:"anyOf"`
	Minimum     *int              `json:"minimum"`
	MaxLength   *int              `json:"maxLength"`
	MinItems    *int              `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	Examples    []json.RawMessage `json:"examples"`
}

// A oneOrMore is a list of strings, which JSON may give as a single string.
type oneOrMore []string

// UnmarshalJSON decodes a string or a list of strings.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(raw, &(*o)[0])
}

// A field is a row in the page's list of fields.
type field struct {
	Name        string
	Type        []typePart
	Required    bool
	Description string
	Limits      string
	Fields      []field
}

// A typePart is a part of the type of a value: text, a literal of the API, or the name of a schema.
type typePart struct{ Text, Literal, Schema string }

// fields returns the fields of an object. It includes the fields of nested objects and of objects in lists,
// unless these objects have a named schema.
func (s shape) fields() (out []field) {
	for _, m := range s.Properties {
		inner := m.value.fields()
		if len(inner) == 0 && m.value.Items != nil {
			inner = m.value.Items.fields()
		}
		out = append(out, field{
			m.name, m.value.typeParts(), slices.Contains(s.Required, m.name), m.value.Description, m.value.limits(),
			inner,
		})
	}
	return out
}

// typeParts describes the type of a value, such as "text or null" or "list of Question".
func (s shape) typeParts() []typePart {
	switch {
	case s.Ref != "":
		return []typePart{{Schema: strings.TrimPrefix(s.Ref, schemaPath)}}
	case s.Const != nil:
		return []typePart{{Literal: string(s.Const)}}
	case len(s.Enum) > 0:
		return joined(literals(s.Enum))
	}
	var kinds [][]typePart
	for _, one := range s.AnyOf {
		if p := one.typeParts(); len(p) > 0 { // p is empty if the alternative only requires fields
			kinds = append(kinds, p)
		}
	}
	if len(kinds) == 0 {
		for _, t := range s.Type {
			kinds = append(kinds, s.kind(t))
		}
	}
	return joined(kinds)
}

func literals(enum []any) (out [][]typePart) {
	for _, v := range enum {
		if v == nil {
			v = "null"
		}
		out = append(out, []typePart{{Literal: fmt.Sprint(v)}})
	}
	return out
}

// kind describes a JSON Schema type for readers: "text" for "string", or "list of Question"
// for an "array".
func (s shape) kind(t string) []typePart {
	switch t {
	case "string":
		if s.Format == "date-time" {
			return []typePart{{Text: "time"}}
		}
		return []typePart{{Text: "text"}}
	case "integer":
		return []typePart{{Text: "whole number"}}
	case "boolean":
		return []typePart{{Text: "true or false"}}
	case "array":
		if s.Items == nil {
			return []typePart{{Text: "list"}}
		}
		return append([]typePart{{Text: "list of "}}, s.Items.typeParts()...)
	}
	return []typePart{{Text: t}} // object, number, null
}

func joined(all [][]typePart) (out []typePart) {
	for i, p := range all {
		if i > 0 {
			out = append(out, typePart{Text: " or "})
		}
		out = append(out, p...)
	}
	return out
}

// limits describes the limits of a value, such as its length, and its default.
func (s shape) limits() string {
	var out []string
	add := func(n *int, form string) {
		if n != nil && *n > 0 {
			out = append(out, fmt.Sprintf(form, *n))
		}
	}
	add(s.Minimum, "at least %d")
	if s.MinItems != nil && s.MaxItems != nil {
		out = append(out, fmt.Sprintf("%d to %d of them", *s.MinItems, *s.MaxItems))
	} else {
		add(s.MaxItems, "at most %d of them")
	}
	add(s.MaxLength, "at most %d characters")
	if s.Default != nil {
		out = append(out, "default "+string(s.Default))
	}
	return strings.Join(out, ", ")
}

// example returns the first example, indented, or "" if the schema has no example.
func (s shape) example() string {
	var b bytes.Buffer
	if len(s.Examples) > 0 {
		_ = json.Indent(&b, s.Examples[0], "", "  ") // cannot fail: the example is valid JSON
	}
	return b.String()
}

// short returns the first example on one line, or "" if the schema has no example.
func (s shape) short() string {
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(s.example()))
	return b.String()
}
