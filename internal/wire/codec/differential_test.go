package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/wire/codec"
)

// A numberForm is the type in which the tests read numbers.
type numberForm int

const (
	asText numberForm = iota
	asInt
	asFloat
)

// A tree reads a value with a Reader and writes each part of the value to log.
type tree struct {
	numbers numberForm
	log     strings.Builder
}

func (w *tree) read(r *codec.Reader) {
	switch r.Kind() {
	case '{':
		w.log.WriteString("{")
		r.Object()
		for name, ok := r.Member(); ok; name, ok = r.Member() {
			fmt.Fprintf(&w.log, "%q:", name)
			w.read(r)
		}
		w.log.WriteString("}")
	case '[':
		w.log.WriteString("[")
		r.Array()
		for r.Element() {
			w.read(r)
		}
		w.log.WriteString("]")
	case '"':
		fmt.Fprintf(&w.log, "%q ", r.String())
	case '0':
		w.readNumber(r)
	case 't', 'f':
		fmt.Fprintf(&w.log, "%t ", r.Bool())
	default:
		r.Skip()
		w.log.WriteString("null ")
	}
}

func (w *tree) readNumber(r *codec.Reader) {
	switch w.numbers {
	case asInt:
		fmt.Fprintf(&w.log, "%d ", r.Int())
	case asFloat:
		fmt.Fprintf(&w.log, "%g ", r.Float())
	default:
		fmt.Fprintf(&w.log, "%s ", r.Raw())
	}
}

// readJSONText does the same as read, but with jsontext.
func (w *tree) readJSONText(d *jsontext.Decoder) error {
	switch kind := d.PeekKind(); kind {
	case '{', '[':
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		w.log.WriteString(kind.String())
		for d.PeekKind() != '}' && d.PeekKind() != ']' {
			if kind == '{' {
				name, err := readText(d)
				if err != nil {
					return err
				}
				fmt.Fprintf(&w.log, "%q:", name)
			}
			if err := w.readJSONText(d); err != nil {
				return err
			}
		}
		t, err := d.ReadToken()
		w.log.WriteString(t.Kind().String())
		return err
	case '"':
		text, err := readText(d)
		fmt.Fprintf(&w.log, "%q ", text)
		return err
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == '0' {
		return w.number(v, d.StackPointer())
	}
	fmt.Fprintf(&w.log, "%s ", v)
	return nil
}

// readText reads a string. A string without escapes may have bytes that are not UTF-8, if
// the decoder accepts them.
func readText(d *jsontext.Decoder) (string, error) {
	v, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	if !bytes.Contains(v, []byte(`\`)) {
		return string(v[1 : len(v)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err
}

// A valueError is an error about a value in valid JSON. A Reader must return an error with the same message.
type valueError string

func (e valueError) Error() string { return string(e) }

func (w *tree) number(v jsontext.Value, at jsontext.Pointer) (err error) {
	var number any = string(v)
	wanted := ""
	switch w.numbers {
	case asInt:
		number, err = strconv.ParseInt(string(v), 10, 64)
		wanted = "an integer"
	case asFloat:
		number, err = strconv.ParseFloat(string(v), 64)
		wanted = "a number"
	}
	if err != nil {
		return valueError(fmt.Sprintf("JSON at %q: expected %s of 64 bits", at, wanted))
	}
	fmt.Fprint(&w.log, number, " ")
	return nil
}

// agree requires that a Reader accepts the same texts as jsontext, and reads the same values.
func agree(t rapid.TB, src []byte) {
	t.Helper()
	for _, lenient := range []bool{false, true} {
		read := codec.Read
		if lenient {
			read = codec.ReadStored
		}
		options := []jsontext.Options{jsontext.AllowDuplicateNames(lenient), jsontext.AllowInvalidUTF8(lenient)}
		valid := jsontext.Value(src).IsValid(options...)
		if err := read(src, (*codec.Reader).Skip); (err == nil) != valid {
			t.Fatalf("%q, lenient %t: got %v, and jsontext returns valid = %t", src, lenient, err, valid)
		}
		if !lenient && codec.Valid(src) != valid {
			t.Fatalf("%q: got valid = %t, and jsontext returns %t", src, !valid, valid)
		}
		for numbers := asText; numbers <= asFloat; numbers++ {
			ours, theirs := tree{numbers: numbers}, tree{numbers: numbers}
			d := jsontext.NewDecoder(bytes.NewBuffer(src), options...)
			want := theirs.readJSONText(d)
			if want == nil {
				if _, want = d.ReadToken(); want == io.EOF {
					want = nil
				} else {
					want = errors.New("more text")
				}
			}
			got := read(src, ours.read)
			var inText valueError
			switch {
			case (got == nil) != (want == nil), got == nil && ours.log.String() != theirs.log.String():
				t.Fatalf("%q, lenient %t: got %v, %s, and jsontext has %v, %s", src, lenient, got, ours.log.String(),
					want, theirs.log.String())
			case !lenient && errors.As(want, &inText) && len(inText) < 100 && got.Error() != want.Error():
				t.Fatalf("%q: got %v, want %v", src, got, want)
			}
		}
	}
	agreeOnForm(t, src)
}

// agreeOnForm requires that the compact form of a value equals its compact form by jsontext. It also requires
// that Raw returns the bytes of the value.
func agreeOnForm(t rapid.TB, src []byte) {
	t.Helper()
	got, err := codec.AppendRaw([]byte("x"), src, "")
	want, wantErr := jsontext.AppendFormat([]byte("x"), src, jsontext.AllowDuplicateNames(true),
		jsontext.PreserveRawStrings(true))
	if len(src) > 0 && (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
		t.Fatalf("%q: got %s, %v, and jsontext has %s, %v", src, got, err, want, wantErr)
	}
	var raw json.RawMessage
	if err := codec.Read(src, func(r *codec.Reader) { raw = r.Raw() }); err != nil {
		return
	}
	if want := bytes.Trim(src, " \t\r\n"); string(raw) != string(want) && string(want) != "null" {
		t.Fatalf("%q: got %s", src, raw)
	}
}

// pieces are the parts, valid and invalid, from which the tests generate texts.
var pieces = []string{
	"{", "}", "[", "]", ",", ":", `"`, `""`, `"a"`, `"a":1`, `"b" : [ ]`, `"\u0061":{}`, `"é":null`,
	`"😀 long enough for two words"`, "0", "-0", "12", "-1.5e+300", "1e999", "9223372036854775807",
	"9223372036854775808", "01", "1.", ".5", "-", "1e", "+1",
	"true", "false", "null", "nul", "truely", " ", "\t\r\n", "\v", "\x00", "\x7f", "\ufeff", "//",
	`"\n\"\\\/\b\f\r\t"`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud800\u0041"`, `"\ud800\uzzzz"`,
	`"\ud800xudc00"`, `"\u12"`, `"\x"`, `"\`, `\`,
	"\"\xff\"", "\"\\n\xff\"", "\xc3", "\xed\xa0\x80", "\"\x1f\"", "\"1234567\x01\"", `"~/":[{"x":"1"}]`,
}

// texts generates texts that are JSON or almost JSON.
func texts() *rapid.Generator[string] {
	piece := rapid.SampledFrom(pieces)
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			if depth == 0 || kind > 7 {
				return piece.Draw(t, "piece")
			}
			items := rapid.SliceOfN(value(depth-1), 0, 5).Draw(t, "items")
			if kind < 4 {
				return "[" + strings.Join(items, ", ") + "]"
			}
			for i := range items {
				items[i] = rapid.SampledFrom([]string{`"a"`, `"\u0061"`, `"b"`, `"created_at"`, `""`, `"é~/"`}).Draw(t,
					"name") + ": " + items[i]
			}
			return "{" + strings.Join(items, ",") + "}"
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		b := []byte(value(3).Draw(t, "text"))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			i := rapid.IntRange(0, len(b)).Draw(t, "at")
			j := min(len(b), i+rapid.IntRange(0, 2).Draw(t, "cut"))
			b = append(b[:i:i], append([]byte(piece.Draw(t, "piece")), b[j:]...)...)
		}
		return string(b)
	})
}

func TestReaderAgreesWithJSONText(t *testing.T) {
	for _, p := range pieces {
		agree(t, []byte(p))
		agree(t, []byte("["+p+"]"))
		agree(t, []byte(`{"a":`+p+`}`))
		agree(t, []byte(`{"a":0,`+p+`}`))
	}
	rapid.Check(t, func(t *rapid.T) { agree(t, []byte(texts().Draw(t, "src"))) })
}

func FuzzReader(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte) { agree(t, src) })
}
