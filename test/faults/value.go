package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the maximum depth of nested arrays and objects in arguments.
const maxDepth = 32

// errAmbiguous is returned for JSON that parsers read in different ways.
var errAmbiguous = errors.New("not a text that all parsers read alike")

// A valueReader parses JSON to compare values. It uses another parser than Askback, so that the two parsers
// do not share a defect.
type valueReader struct {
	decoder jsontext.Decoder
	source  bytes.Reader
}

// A decimal is a number as it is written in JSON.
type decimal string

// read returns the value of a JSON text: nil, bool, string, [decimal], []any or
// map[string]any. Duplicate names, invalid UTF-8, lone surrogates, excessive depth and
// numbers that a double does not represent are errors.
func (m *valueReader) read(raw []byte) (any, error) {
	m.source.Reset(raw)
	m.decoder.Reset(&m.source)
	v, err := m.value()
	if err != nil {
		return nil, err
	}
	if _, err := m.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errAmbiguous
	}
	return v, nil
}

func (m *valueReader) value() (any, error) {
	t, err := m.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	if m.decoder.StackDepth() > maxDepth {
		return nil, errAmbiguous
	}
	switch t.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return t.Bool(), nil
	case '"':
		return t.String(), nil
	case '0':
		d := decimal(t.String())
		if !d.representable() {
			return nil, errAmbiguous
		}
		return d, nil
	case '[':
		return m.elements()
	}
	return m.members()
}

func (m *valueReader) elements() (any, error) {
	list := []any{}
	for m.decoder.PeekKind() != ']' {
		v, err := m.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := m.decoder.ReadToken()
	return list, err
}

func (m *valueReader) members() (any, error) {
	object := map[string]any{}
	for m.decoder.PeekKind() != '}' {
		name, err := m.decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // valid until the next token is read
		if object[key], err = m.value(); err != nil {
			return nil, err
		}
	}
	_, err := m.decoder.ReadToken()
	return object, err
}

// equalValues reports whether two results of [valueReader.read] are equal. Numbers are
// compared by value.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalValues)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalValues)
	case decimal:
		b, ok := b.(decimal)
		return ok && a.equal(b)
	}
	switch b.(type) {
	case []any, map[string]any, decimal:
		return false
	}
	return a == b
}

func (d decimal) equal(e decimal) bool {
	return d == e || d.rational().Cmp(e.rational()) == 0
}

// rational returns the exact number. Except for zero, d must be
// [decimal.representable], because a large exponent would need too much memory.
func (d decimal) rational() *big.Rat {
	mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(string(d))
	if !ok {
		panic("faults: jsontext accepts " + string(d) + " for a number")
	}
	return r
}

// representable reports whether the shortest decimal of the nearest double is the same
// number.
func (d decimal) representable() bool {
	const exactDigits = 15 // a double represents every integer with as many digits
	if len(d) <= exactDigits && !strings.ContainsAny(string(d), ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return false // too large
	}
	shortest := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	if f == 0 { // or the number was rounded to zero
		mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
		return strings.Trim(mantissa, "-0.") == ""
	}
	return shortest.equal(d)
}
