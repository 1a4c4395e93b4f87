package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// shape is what the page shows of a schema.
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

// oneOrMore is a string, or a list of them.
type oneOrMore []string

// UnmarshalJSON reads both.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(raw, &(*o)[0])
}

// field is one line of an outline.
type field struct {
	Name        string
	Is          []piece
	Needed      bool
	Description string
	Limits      string
	Fields      []field
}

// piece is a part of what a value is: words, a word of the wire, or a noun that
// stands elsewhere on the page.
type piece struct{ Text, Word, Noun string }

// fields are the lines of an object, and those of objects inside that have no
// name of their own.
func (s shape) fields() (out []field) {
	for _, m := range s.Properties {
		inner := m.value.fields()
		if len(inner) == 0 && m.value.Items != nil {
			inner = m.value.Items.fields()
		}
		out = append(out, field{
			m.name, m.value.pieces(), slices.Contains(s.Required, m.name), m.value.Description, m.value.limits(), inner,
		})
	}
	return out
}

// pieces say what a value is: "text or null", "list of Question".
func (s shape) pieces() []piece {
	switch {
	case s.Ref != "":
		return []piece{{Noun: strings.TrimPrefix(s.Ref, schemaPath)}}
	case s.Const != nil:
		return []piece{{Word: string(s.Const)}}
	case len(s.Enum) > 0:
		return joined(words(s.Enum))
	case len(s.AnyOf) > 0:
		return joined(s.choices())
	}
	var kinds [][]piece
	for _, t := range s.Type {
		kinds = append(kinds, s.kind(t))
	}
	return joined(kinds)
}

// choices are what a value may be, where it may be several things. Schemas that
// only say which fields go together are none.
func (s shape) choices() (out [][]piece) {
	for _, one := range s.AnyOf {
		if p := one.pieces(); len(p) > 0 {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		for _, t := range s.Type {
			out = append(out, s.kind(t))
		}
	}
	return out
}

func words(enum []any) (out [][]piece) {
	for _, v := range enum {
		if v == nil {
			v = "null"
		}
		out = append(out, []piece{{Word: fmt.Sprint(v)}})
	}
	return out
}

// kind is a type of JSON Schema in words.
func (s shape) kind(t string) []piece {
	switch t {
	case "string":
		if s.Format == "date-time" {
			return []piece{{Text: "time"}}
		}
		return []piece{{Text: "text"}}
	case "integer":
		return []piece{{Text: "whole number"}}
	case "boolean":
		return []piece{{Text: "true or false"}}
	case "array":
		if s.Items == nil {
			return []piece{{Text: "list"}}
		}
		return append([]piece{{Text: "list of "}}, s.Items.pieces()...)
	}
	return []piece{{Text: t}} // object, number, null
}

func joined(all [][]piece) (out []piece) {
	for i, p := range all {
		if i > 0 {
			out = append(out, piece{Text: " or "})
		}
		out = append(out, p...)
	}
	return out
}

// limits says how long and how many.
func (s shape) limits() string {
	var out []string
	say := func(n *int, form string) {
		if n != nil && *n > 0 {
			out = append(out, fmt.Sprintf(form, *n))
		}
	}
	say(s.Minimum, "at least %d")
	if s.MinItems != nil && s.MaxItems != nil {
		out = append(out, fmt.Sprintf("%d to %d of them", *s.MinItems, *s.MaxItems))
	} else {
		say(s.MaxItems, "at most %d of them")
	}
	say(s.MaxLength, "at most %d characters")
	if s.Default != nil {
		out = append(out, string(s.Default)+" unless said")
	}
	return strings.Join(out, ", ")
}

// example is the first example, written out.
func (s shape) example() string {
	if len(s.Examples) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, s.Examples[0], "", "  "); err != nil {
		return ""
	}
	return b.String()
}

// short is the first example in one line.
func (s shape) short() string {
	if len(s.Examples) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, s.Examples[0]); err != nil {
		return ""
	}
	return b.String()
}
