package jcs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"
)

// Canonical returns the canonical form of a JSON text by RFC 8785 (JCS). The error is a *SyntaxError if raw
// is not strict JSON. It is a *NumberError if a number is not equal to the shortest form of its nearest
// double, because different numbers could otherwise have the same form.
func Canonical(raw []byte) ([]byte, error) {
	v, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return v.Canonical()
}

// Canonical is like the function [Canonical], for a value that is already parsed. Pointers
// in errors start at v. A value of the kind Missing is an error.
func (v Value) Canonical() ([]byte, error) {
	return v.appendCanonical(make([]byte, 0, v.End-v.Offset))
}

func (v Value) appendCanonical(b []byte) ([]byte, error) {
	w := writer{out: b}
	err := w.value(v)
	if err, ok := err.(*NumberError); ok {
		slices.Reverse(w.path)
		err.Pointer = pointer(w.path)
	}
	if err != nil {
		return nil, err
	}
	return w.out, nil
}

// Marshal is like json.Marshal, but does not escape <, > and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ConfirmationDigest returns the digest to which an approval is bound: the SHA-256 of the
// canonical form of {"agent", "server", "tool_name", "input"} (wire.md section 2). Without
// a server, server is "". Pointers in errors start at the input. Names must be UTF-8.
func ConfirmationDigest(agent, server, toolName string, input []byte) (string, error) {
	for _, s := range []string{agent, server, toolName} {
		if !utf8.ValidString(s) {
			return "", errors.New("the name of an agent, server or tool is not UTF-8")
		}
	}
	v, err := Parse(input)
	if err != nil {
		return "", err
	}
	const names = `{"agent":"","input":,"server":"","tool_name":""}` // the names are in canonical order
	b := make([]byte, 0, len(names)+len(agent)+len(input)+len(server)+len(toolName))
	b = appendString(append(b, `{"agent":`...), agent)
	if b, err = v.appendCanonical(append(b, `,"input":`...)); err != nil {
		return "", err
	}
	b = appendString(append(b, `,"server":`...), server)
	b = appendString(append(b, `,"tool_name":`...), toolName)
	return digest(append(b, '}')), nil
}

func digest(canonical []byte) string {
	const prefix = "sha256:"
	sum := sha256.Sum256(canonical)
	b := make([]byte, 0, len(prefix)+hex.EncodedLen(len(sum)))
	return string(hex.AppendEncode(append(b, prefix...), sum[:]))
}

type writer struct {
	out  []byte
	path []step // the path to an error, from the innermost level
}

func (w *writer) value(v Value) error {
	switch v.Kind {
	case Null:
		w.out = append(w.out, "null"...)
	case Bool:
		if v.yes {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
	case Number:
		return w.number(v)
	case String:
		w.out = appendString(w.out, v.Text())
	case Array:
		return w.array(v.Elements())
	case Object:
		return w.object(v.Members())
	default:
		return errors.New("there is no value to write")
	}
	return nil
}

func (w *writer) number(v Value) error {
	text := v.Text()
	if isCanonicalInteger(text) {
		w.out = append(w.out, text...)
		return nil
	}
	d, exact := parseDecimal(text).double()
	if !exact {
		return &NumberError{
			Offset: v.Offset,
			Detail: "the number " + excerpt(text,
				maxQuoted) + " changes when it is read as a double: send it as a string",
		}
	}
	w.out = d.append(w.out)
	return nil
}

func (w *writer) array(elements []Value) error {
	w.out = append(w.out, '[')
	for i, e := range elements {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(e); err != nil {
			return w.at(step{index: i}, err)
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *writer) object(members []Member) error {
	byName := func(a, b Member) int { return compareUTF16(a.Name, b.Name) }
	if !slices.IsSortedFunc(members, byName) {
		members = slices.Clone(members)
		slices.SortFunc(members, byName)
	}
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendString(w.out, m.Name), ':')
		if err := w.value(m.Value); err != nil {
			return w.at(step{name: m.Name, index: -1}, err)
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// at adds a step to the path of err.
func (w *writer) at(s step, err error) error {
	w.path = append(w.path, s)
	return err
}

// compareUTF16 compares names in the order of RFC 8785 section 3.2.3. This order differs from the order of
// code points only for code points above U+FFFF. They are surrogate pairs (D800 to DFFF) and sort before
// U+E000.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			if (x > 0xFFFF) != (y > 0xFFFF) && min(x, y) >= 0xE000 {
				return cmp.Compare(y, x)
			}
			return cmp.Compare(x, y)
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}
