// Package canon reads JSON strictly and gives it one canonical form and one digest.
//
// An approval is bound to a digest (wire.md section 2), so two readers must never
// see two different things in the same bytes. The scanner therefore takes exactly
// RFC 8259 and nothing that readers disagree about: no duplicate names, no invalid
// UTF-8, no lone surrogates. The canonical form is RFC 8785, and a number that would
// change on the way through a double is refused instead of rounded.
package canon

import "strings"

// MaxDepth is how deeply arrays and objects may be nested: the limit that wire.md
// section 1 sets for a request body.
const MaxDepth = 32

// Kind says which of the six JSON values a Value is.
type Kind uint8

// The kinds. The zero Value is of kind Missing: it stands for "not there".
const (
	Missing Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String names the kind with its article, ready for a sentence: "an array".
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "nothing"
}

// Value is one parsed JSON value. It is read-only: callers must not change the
// slices they get. Its strings share memory with one copy of the source.
type Value struct {
	Kind   Kind
	Offset int // of the first byte of the value in the source
	End    int // just behind its last byte

	yes      bool
	text     string
	children *children
}

// children keeps a Value small: an array of a million numbers is a common attack.
type children struct {
	elements []Value
	members  []Member
}

// Member is one name and value of an object.
type Member struct {
	Name   string // unescaped
	Offset int    // of the opening quote of the name in the source
	Value  Value
}

// Text returns the content of a string, unescaped, or the digits of a number as they
// stood in the source. For every other kind it is "".
func (v Value) Text() string { return v.text }

// Bool reports whether v is the literal true.
func (v Value) Bool() bool { return v.yes }

// Int returns the exact value of a number that is an integer of 64 bits. 1e2 and 5.0
// are integers, 5.5 is not.
func (v Value) Int() (int64, bool) {
	if v.Kind != Number {
		return 0, false
	}
	return parseDecimal(v.text).int64()
}

// Elements returns the elements of an array, or nil.
func (v Value) Elements() []Value {
	if v.children == nil {
		return nil
	}
	return v.children.elements
}

// Members returns the members of an object in source order, or nil.
func (v Value) Members() []Member {
	if v.children == nil {
		return nil
	}
	return v.children.members
}

// Get returns the member of that exact name. It compares name by name: to read many
// names of a large object, range over Members.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Raw returns the bytes of v in src, which must be the bytes v was parsed from.
func (v Value) Raw(src []byte) []byte { return src[v.Offset:v.End:v.End] }

// Pointer extends an RFC 6901 pointer by unescaped tokens:
// Pointer("/questions", "0", "a/b") is "/questions/0/a~1b".
func Pointer(base string, tokens ...string) string {
	var b strings.Builder
	b.WriteString(base)
	for _, t := range tokens {
		b.WriteByte('/')
		for i := range len(t) {
			switch t[i] {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteByte(t[i])
			}
		}
	}
	return b.String()
}
