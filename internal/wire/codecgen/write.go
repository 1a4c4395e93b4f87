package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// A writer writes Go source.
type writer struct{ bytes.Buffer }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.Buffer, format, args...)
	w.WriteByte('\n')
}

// formatted returns the source as gofmt formats it.
func (w *writer) formatted() ([]byte, error) {
	out, err := format.Source(w.Bytes())
	if err != nil {
		return nil, fmt.Errorf("generated code: %w\n%s", err, w.Bytes())
	}
	return out, nil
}

// A form is a form of the nouns: the JSON of the API, of the store, or of the bodies of requests.
type form struct {
	key      string                         // the key of the tags
	appendOf func(structName string) string // returns the function that appends a struct of this name
	readOf   func(structName string) string // returns the function that reads into a pointer to the struct
	// omitsZero is set if a zero value is omitted unless its option is keep. Otherwise a zero value is
	// omitted only with omitempty.
	omitsZero bool
	millis    bool // times are integers, not strings
	formats   bool // there are several formats; see the options follows and usual
}

func (f form) omits(m member) bool {
	return m.kind != nothing && (f.omitsZero && !m.is("keep") || m.is("omitempty"))
}

// appendMembers writes the statements that append the members and the closing brace of an object. definite is
// true if the object certainly has a member already. variable is the name of the variable with the struct.
func (f form) appendMembers(w *writer, variable string, definite bool, members []member) {
	for i, m := range members {
		value := variable + "." + m.path
		omits := f.omits(m)
		switch {
		case f.formats && m.is("follows"):
			omits = true
			w.line("if format < shortFormat {")
		case f.formats && m.option("usual") != "":
			omits = true
			w.line("if format < shortFormat || %s != %s {", value, m.literal(m.option("usual")))
		case omits:
			w.line("if %s {", notZero(m, value))
		}
		switch {
		case definite:
			w.line("b = append(b, `,%q:`...)", m.name)
		case i == 0:
			w.line("b = append(b, `%q:`...)", m.name)
		default:
			w.line("b = codec.AppendName(b, %q)", m.name)
		}
		f.appendValue(w, m, value)
		if omits {
			w.line("}")
		}
		definite = definite || !omits
	}
	w.line("return append(b, '}'), nil")
}

// appendValue writes the statements that append one value.
func (f form) appendValue(w *writer, m member, value string) {
	switch m.kind {
	case nothing:
		w.line("b = append(b, `[]`...)")
	case text:
		if m.is("null") {
			w.line("b = codec.AppendStringOrNull(b, %s)", value)
		} else {
			w.line("b = codec.AppendString(b, %s)", value)
		}
	case boolean:
		if m.is("not") {
			value = "!" + value
		}
		w.line("b = strconv.AppendBool(b, %s)", value)
	case integer:
		w.line("b = strconv.AppendInt(b, int64(%s), 10)", value)
	case number:
		w.line("b = codec.AppendFloat(b, %s)", value)
	case instant:
		if f.millis {
			w.line("b = codec.AppendMillis(b, %s)", value)
		} else {
			w.line("b = codec.AppendTime(b, %s)", value)
		}
	case duration:
		w.line("b = codec.AppendDuration(b, %s)", value)
	case texts:
		if m.is("custom") {
			w.line("b = %s.append%s(b)", strings.TrimSuffix(value, "."+m.goName), m.goName)
		} else {
			w.line("b = codec.AppendStrings(b, %s)", value)
		}
	default:
		f.appendFallible(w, m, value)
	}
}

func (f form) appendFallible(w *writer, m member, value string) {
	switch m.kind {
	case raw:
		absent := "null"
		if m.is("object") {
			absent = "{}"
		}
		w.line("if b, err = codec.AppendRaw(b, %s, `%s`); err != nil {", value, absent)
	case object:
		w.line("if b, err = %s(%s, b); err != nil {", f.appendOf(m.elem), value)
	case pointer:
		w.line("if b, err = codec.AppendPointer(b, %s, %s); err != nil {", value, f.appendOf(m.elem))
	case list:
		w.line("if b, err = codec.AppendList(b, %s, %s); err != nil {", value, f.appendOf(m.elem))
	}
	w.line("return b, err")
	w.line("}")
}

// notZero returns the condition that a value is not the zero value of its type.
func notZero(m member, value string) string {
	switch m.kind {
	case text:
		return value + ` != ""`
	case boolean:
		return value
	case integer, number, duration:
		return value + " != 0"
	case instant:
		return "!" + value + ".IsZero()"
	case pointer:
		return value + " != nil"
	case raw, texts, list:
		return "len(" + value + ") > 0"
	}
	return "true"
}
