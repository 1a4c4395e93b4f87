package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Reader reads one JSON value from its first byte to its last. Its methods read the next
// value; null gives the zero value. After an error they do nothing and return zero values.
//
// Strings without escapes share memory with one copy of the source.
type Reader struct {
	source string
	in     bytes.Buffer
	json   *jsontext.Decoder
	err    error
}

// readers has decoders with their memory, which is most of what a decoder costs.
var readers = sync.Pool{New: func() any { return &Reader{json: jsontext.NewDecoder(&bytes.Buffer{})} }}

// Read calls read with a reader of raw, which must be one JSON value. It returns the first
// error, with the JSON pointer of the value that could not be read.
func Read(raw []byte, read func(*Reader)) error { return readWith(raw, read, false) }

// ReadStored is like [Read], but accepts duplicate names, invalid UTF-8 and lone surrogates.
// Earlier releases stored values that have some.
func ReadStored(raw []byte, read func(*Reader)) error { return readWith(raw, read, true) }

// Valid reports whether raw is one JSON value that [Read] accepts: in UTF-8, without lone
// surrogates and duplicate names.
func Valid(raw []byte) bool { return jsontext.Value(raw).IsValid() }

func readWith(raw []byte, read func(*Reader), lenient bool) error {
	r := readers.Get().(*Reader)
	defer r.release()
	r.source = string(raw)
	r.in = *bytes.NewBuffer(raw)
	r.json.Reset(&r.in, jsontext.AllowDuplicateNames(lenient), jsontext.AllowInvalidUTF8(lenient))
	read(r)
	if r.err == nil {
		switch _, err := r.json.ReadToken(); err {
		case io.EOF:
		case nil:
			r.failf("expected the end of the text")
		default:
			r.fail(err)
		}
	}
	return r.err
}

func (r *Reader) release() {
	*r = Reader{json: r.json}
	r.json.Reset(&r.in)
	readers.Put(r)
}

// fail keeps the first error. An error of jsontext has the offset and the pointer.
func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Reader) failf(format string, args ...any) {
	r.fail(fmt.Errorf("JSON at %q: %s", string(r.json.StackPointer()), fmt.Sprintf(format, args...)))
}

// next reads a value of the wanted kind. It returns nil for null, for another kind, which
// is an error, and after an error.
func (r *Reader) next(want jsontext.Kind) jsontext.Value {
	if r.err != nil {
		return nil
	}
	v, err := r.json.ReadValue()
	if err != nil {
		r.fail(err)
		return nil
	}
	switch v.Kind() {
	case want:
		return v
	case 'n':
	default:
		r.failf("expected %s, got %s", kindName(want), kindName(v.Kind()))
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	}
	return k.String()
}

// Object begins to read an object, whose members [Reader.Member] returns. It reports
// false if there is none: for null and for an error.
func (r *Reader) Object() bool { return r.begin('{') }

// Array begins to read an array, for whose elements [Reader.Element] reports true. It
// reports false if there is none: for null and for an error.
func (r *Reader) Array() bool { return r.begin('[') }

func (r *Reader) begin(want jsontext.Kind) bool {
	if r.err != nil {
		return false
	}
	t, err := r.json.ReadToken()
	switch {
	case err != nil:
		r.fail(err)
	case t.Kind() == want:
		return true
	case t.Kind() != 'n':
		r.failf("expected %s, got %s", kindName(want), kindName(t.Kind()))
	}
	return false
}

// Member returns the name of the next member of an object. After the last one it ends the
// object and reports false.
func (r *Reader) Member() (name string, ok bool) {
	if !r.Element() {
		return "", false
	}
	return r.String(), r.err == nil
}

// Element reports whether the array has another element. After the last one it ends the
// array and reports false.
func (r *Reader) Element() bool {
	if r.err != nil {
		return false
	}
	switch r.json.PeekKind() {
	case '}', ']', 0: // 0 is an error, which ReadToken returns
		if _, err := r.json.ReadToken(); err != nil {
			r.fail(err)
		}
		return false
	}
	return true
}

// String reads a string and returns it without its quotes and escapes. Unlike the String
// method of a [fmt.Stringer], it consumes a value.
func (r *Reader) String() string {
	v := r.next('"')
	if v == nil {
		return ""
	}
	end := int(r.json.InputOffset())
	inside := r.source[end-len(v)+1 : end-1]
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		r.fail(err)
	}
	return string(text)
}

// Strings reads an array of strings. An empty array gives nil.
func (r *Reader) Strings() (list []string) {
	if r.Array() {
		for r.Element() {
			list = append(list, r.String())
		}
	}
	return list
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.err != nil {
		return false
	}
	switch r.json.PeekKind() {
	case 't':
		r.next('t')
		return true
	default:
		r.next('f')
		return false
	}
}

// Int reads a signed integer of 64 bits, without a fraction or an exponent.
func (r *Reader) Int() int64 {
	v := r.next('0')
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		r.failf("expected an integer of 64 bits")
	}
	return n
}

// Float reads a number.
func (r *Reader) Float() float64 {
	v := r.next('0')
	if v == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		r.failf("expected a number of 64 bits")
	}
	return f
}

// Time reads a time in RFC 3339 format. An empty string gives the zero time.
func (r *Reader) Time() time.Time {
	s := r.String()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		r.failf("expected a time in RFC 3339 format")
	}
	return t.UTC()
}

// Millis reads a time in milliseconds since 1970. 0 gives the zero time.
func (r *Reader) Millis() time.Time {
	ms := r.Int()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Raw reads any value and returns a copy of its bytes. null gives nil.
func (r *Reader) Raw() json.RawMessage {
	if r.err != nil {
		return nil
	}
	v, err := r.json.ReadValue()
	if err != nil {
		r.fail(err)
		return nil
	}
	if v.Kind() == 'n' {
		return nil
	}
	return json.RawMessage(bytes.Clone(v))
}

// Kind returns the kind of the next value without reading it.
func (r *Reader) Kind() jsontext.Kind {
	if r.err != nil {
		return 0
	}
	return r.json.PeekKind()
}

// Skip reads and discards a value of any kind.
func (r *Reader) Skip() {
	if r.err != nil {
		return
	}
	if err := r.json.SkipValue(); err != nil {
		r.fail(err)
	}
}
