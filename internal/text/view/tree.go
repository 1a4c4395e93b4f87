package view

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// A Value is a JSON value for display as a tree. No part of the value is omitted.
type Value struct {
	Kind    ValueKind
	Text    Text     // for a string, decoded; for a number or a word, as it was sent
	Members []Member // for an object or an array, in order
	Size    Size     // size of a string

	raw string // raw text of a string
}

// A ValueKind is the type of a [Value].
type ValueKind string

// The kinds of values. A word is true, false or null.
const (
	ObjectValue ValueKind = "object"
	ArrayValue  ValueKind = "array"
	StringValue ValueKind = "string"
	NumberValue ValueKind = "number"
	WordValue   ValueKind = "word"
)

// A Member is a value in an array, or a value in an object with its name.
type Member struct {
	Name  Text
	Value Value

	raw string // the name
}

// maxInline is the maximum number of characters in an inline string, and in an array on one line. A longer
// string, or a string of several lines, is a separate block, which can be folded.
const maxInline = 72

// IsBlock reports whether a string has several lines or is long.
func (v Value) IsBlock() bool {
	return v.Kind == StringValue && (v.Size.Lines > 1 || v.Size.Characters > maxInline)
}

// IsFlat reports whether v is a short array of short values, which fits in a line.
func (v Value) IsFlat() bool {
	width := 0
	for _, m := range v.Members {
		if m.Value.Kind == ObjectValue || m.Value.Kind == ArrayValue || m.Value.IsBlock() {
			return false
		}
		width += utf8.RuneCountInString(m.Value.Text.String()) + 4
	}
	return v.Kind == ArrayValue && width <= maxInline
}

// SizeWords returns the size of a value: "2 items", or the size of its text.
func (v Value) SizeWords() string {
	switch v.Kind {
	case ObjectValue:
		return Count(len(v.Members), "field")
	case ArrayValue:
		return Count(len(v.Members), "item")
	}
	return v.Size.String()
}

// EmptySign returns the sign for an object without fields or an array without items.
func (v Value) EmptySign() string {
	if v.Kind == ArrayValue {
		return "[ ] empty list"
	}
	return "{ } empty"
}

// Limits of a tree that is shown. Larger arguments are shown only as text.
const (
	maxTreeValues = 400
	maxTreeDepth  = 12
)

// treeOf returns the tree of a JSON object that has members. It returns nil for another value, for a tree
// that is too large, and for JSON that programs could read in different ways.
func treeOf(raw json.RawMessage) *Value {
	if !json.Valid(raw) || !utf8.Valid(raw) || strings.Contains(strings.ToLower(string(raw)), `\ud`) {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	t := tree{decoder: d}
	v := t.value(0)
	if t.count > maxTreeValues || t.deep || v.Kind != ObjectValue || len(v.Members) == 0 {
		return nil
	}
	return &v
}

// A tree reads JSON into a [Value] and checks the limits.
type tree struct {
	decoder *json.Decoder
	count   int
	deep    bool
}

func (t *tree) value(depth int) Value {
	t.count++
	token, err := t.decoder.Token()
	if err != nil || t.count > maxTreeValues || depth > maxTreeDepth {
		t.deep = true
		return Value{}
	}
	switch token := token.(type) {
	case json.Delim:
		return t.container(token, depth)
	case string:
		s := safetext.Code(token)
		return Value{Kind: StringValue, Text: s, Size: SizeOf(s), raw: token}
	case json.Number:
		return Value{Kind: NumberValue, Text: safetext.Line(token.String())}
	case bool:
		if token {
			return Value{Kind: WordValue, Text: safetext.Line("true")}
		}
		return Value{Kind: WordValue, Text: safetext.Line("false")}
	}
	return Value{Kind: WordValue, Text: safetext.Line("null")}
}

func (t *tree) container(open json.Delim, depth int) Value {
	v := Value{Kind: ArrayValue}
	if open == '{' {
		v.Kind = ObjectValue
	}
	for t.decoder.More() && !t.deep {
		var m Member
		if v.Kind == ObjectValue {
			name, _ := t.decoder.Token()
			s, _ := name.(string)
			m.Name, m.raw = safetext.Code(s), s
		}
		m.Value = t.value(depth + 1)
		v.Members = append(v.Members, m)
	}
	if !t.deep {
		_, _ = t.decoder.Token() // the closing bracket
	}
	return v
}
