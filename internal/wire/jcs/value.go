// Package jcs parses JSON strictly, and computes its canonical form and digest.
//
// An approval is bound to a digest (wire.md section 2), so no two parsers may understand the same bytes
// differently. This parser accepts RFC 8259 without the parts that parsers handle differently: duplicate
// names, invalid UTF-8 and lone surrogates. The canonical form is defined by RFC 8785. A number that changes
// when it is read as a double has no canonical form: it is not rounded.
package jcs

import "strings"

// MaxDepth is the maximum number of levels of nested arrays and objects. It is the limit of
// a request body (wire.md section 1).
const MaxDepth = 32

// A Kind is the kind of a JSON value.
type Kind uint8

// The kinds. The zero Value has the kind Missing, for a value that does not exist.
const (
	Missing Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{
	Missing: "nothing", Null: "null", Bool: "true or false", Number: "a number", String: "a string", Array: "an array",
	Object: "an object",
}

// String returns the kind as it is named in errors, such as "an array".
func (k Kind) String() string { return kindNames[k] }

// A Value is one parsed JSON value. It is read-only: callers must not change the slices
// that its methods return. Its strings share memory with one copy of the source.
//
// A Value is small, because attackers send arrays of a million numbers.
type Value struct {
	Kind   Kind
	yes    bool
	index  uint32 // 0, or 1 + the index of the text or list of this value in doc
	Offset int    // offset of the first byte of the value in the source
	End    int    // offset after the last byte of the value
	doc    *document
}

// A document has the memory that the values of one text share.
type document struct {
	src     string
	texts   []string   // the content of strings with escapes
	arrays  [][]Value  // the elements of arrays that are not empty
	objects [][]Member // the members of objects that are not empty

	firstArrays  [4][]Value // memory of arrays and objects, enough for an ordinary ask
	firstObjects [8][]Member
}

// A Member is one name and value of an object.
type Member struct {
	Name   string // unescaped
	Offset int    // offset of the opening quote of the name in the source
	Value  Value
}

// Text returns the unescaped content of a string, or the text of a number in the source.
// For every other kind it returns "".
func (v Value) Text() string {
	switch {
	case v.Kind == Number:
		return v.doc.src[v.Offset:v.End]
	case v.Kind != String:
		return ""
	case v.index > 0:
		return v.doc.texts[v.index-1]
	}
	return v.doc.src[v.Offset+1 : v.End-1]
}

// Bool reports whether v is the literal true.
func (v Value) Bool() bool { return v.yes }

// Int returns the exact value of a number. It returns 0 and false if v is not a number, or not an integer of
// 64 bits. The numbers 1e2 and 5.0 are integers, and 5.5 is not.
func (v Value) Int() (int64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	return parseDecimal(v.Text()).int64()
}

// Elements returns the elements of an array, or nil.
func (v Value) Elements() []Value {
	if v.Kind != Array || v.index == 0 {
		return nil
	}
	return v.doc.arrays[v.index-1]
}

// Members returns the members of an object in source order, or nil.
func (v Value) Members() []Member {
	if v.Kind != Object || v.index == 0 {
		return nil
	}
	return v.doc.objects[v.index-1]
}

// Get returns the value of the member with exactly this name. It returns false if there is no such member. It
// compares the names one by one: to read many members of a large object, range over Members.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Raw returns the bytes of v in src, from which v must have been parsed.
func (v Value) Raw(src []byte) []byte { return src[v.Offset:v.End:v.End] }

// Pointer returns the RFC 6901 pointer base, extended by tokens, which it escapes. For
// example, Pointer("/questions", "0", "a/b") returns "/questions/0/a~1b".
func Pointer(base string, tokens ...string) string {
	for _, t := range tokens {
		base += "/" + escapeToken.Replace(t)
	}
	return base
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")
