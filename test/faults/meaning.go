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

// deepest is how many levels arguments may have.
const deepest = 32

// errMeaningless says that a text has no meaning everybody agrees about.
var errMeaningless = errors.New("not a text that everybody reads alike")

// A reader reads what a text means. It shares nothing with the reader of the
// product: it is somebody else's, and compares values instead of forms.
type reader struct {
	decoder jsontext.Decoder
	source  bytes.Reader
}

// A decimal is a number as it was written.
type decimal string

// read returns the value of a text: nil, bool, string, [decimal], []any or
// map[string]any. Names that stand twice, bad UTF-8, lone surrogates, too many
// levels and numbers that no double keeps are errors.
func (m *reader) read(raw []byte) (any, error) {
	m.source.Reset(raw)
	m.decoder.Reset(&m.source)
	v, err := m.value()
	if err != nil {
		return nil, err
	}
	if _, err := m.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errMeaningless
	}
	return v, nil
}

func (m *reader) value() (any, error) {
	t, err := m.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	if m.decoder.StackDepth() > deepest {
		return nil, errMeaningless
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
		if !d.kept() {
			return nil, errMeaningless
		}
		return d, nil
	case '[':
		return m.elements()
	}
	return m.members()
}

func (m *reader) elements() (any, error) {
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

func (m *reader) members() (any, error) {
	object := map[string]any{}
	for m.decoder.PeekKind() != '}' {
		name, err := m.decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next token, which takes its place
		if object[key], err = m.value(); err != nil {
			return nil, err
		}
	}
	_, err := m.decoder.ReadToken()
	return object, err
}

// alike says whether two values mean the same.
func alike(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, alike)
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
	return d == e || d.exact().Cmp(e.exact()) == 0
}

// exact is the number itself. Those with large exponents are not [decimal.kept],
// so that nobody asks for them, and zero is zero.
func (d decimal) exact() *big.Rat {
	mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(string(d))
	if !ok {
		panic("prove: jsontext takes " + string(d) + " for a number")
	}
	return r
}

// kept says whether the shortest text that gives the nearest double is the same
// number.
func (d decimal) kept() bool {
	const surely = 15 // digits of an integer that every double keeps
	if len(d) <= surely && !strings.ContainsAny(string(d), ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return false // too large
	}
	shortest := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	if f == 0 { // or so small that it became nothing
		mantissa, _, _ := strings.Cut(strings.ToLower(string(d)), "e")
		return strings.Trim(mantissa, "-0.") == ""
	}
	return shortest.equal(d)
}
