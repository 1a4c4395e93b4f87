package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Reader reads one JSON value from its first byte to its last. Each method reads the next value. For null,
// a method returns the zero value. After an error, methods do nothing and return zero values. Strings without
// escapes share memory with one copy of the source.
type Reader struct {
	source    string // a copy of the text, or "" if no strings are read
	unescaped []byte // memory for the content of a string with escapes
	scanner
}

// readers keeps Readers and their memory for later values.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Read calls read with a reader of raw, which must be one JSON value. It returns the first
// error, with the JSON pointer of the value that could not be read.
func Read(raw []byte, read func(*Reader)) error { return readWith(raw, read, false) }

// ReadStored is like [Read], but accepts duplicate names, invalid UTF-8 and lone surrogates. Earlier releases
// stored values with such defects.
func ReadStored(raw []byte, read func(*Reader)) error { return readWith(raw, read, true) }

// Valid reports whether raw is one JSON value that [Read] accepts: in UTF-8, without lone
// surrogates and duplicate names.
func Valid(raw []byte) bool {
	r := readers.Get().(*Reader)
	defer r.release()
	r.start(raw)
	r.skip()
	r.end()
	return r.err == nil
}

func readWith(raw []byte, read func(*Reader), lenient bool) error {
	r := readers.Get().(*Reader)
	defer r.release()
	r.source = string(raw)
	r.start(raw)
	r.repeats, r.anyBytes = lenient, lenient
	read(r)
	r.end()
	return r.err
}

// release keeps the memory of r for the next value, unless the memory is large.
func (r *Reader) release() {
	const most = 16 << 10
	if r.source = ""; cap(r.unescaped) > most {
		r.unescaped = nil
	}
	r.reset()
	readers.Put(r)
}

// next goes to the next value and reports whether the value has the wanted kind. It skips null and any value
// of another kind. A value of another kind is an error.
func (r *Reader) next(want byte) bool {
	r.value = r.pos
	got := r.kind()
	if got == want {
		return true
	}
	if r.skip(); got != 'n' {
		r.failAt(r.value, "expected "+kindName(want)+", got "+kindName(got))
	}
	return false
}

func kindName(kind byte) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return "true or false"
}

// Object begins to read an object, whose members [Reader.Member] returns. It returns false for null, and
// after an error.
func (r *Reader) Object() bool {
	if !r.next('{') {
		return false
	}
	r.open()
	r.openNames()
	return true
}

// Array begins to read an array. [Reader.Element] then reports whether there is an element. Array returns
// false for null, and after an error.
func (r *Reader) Array() bool {
	if !r.next('[') {
		return false
	}
	r.open()
	return true
}

// Member returns the name of the next member of an object. After the last member, it ends the object and
// returns false.
func (r *Reader) Member() (name string, ok bool) {
	n, ok := r.member()
	if !ok {
		return "", false
	}
	return r.text(n), r.err == nil
}

// Element reports whether the array has another element. After the last element, it ends the array and
// returns false.
func (r *Reader) Element() bool { return r.more(']') }

// String reads a string and returns it without its quotes and escapes. Unlike the String
// method of a [fmt.Stringer], it consumes a value.
func (r *Reader) String() string {
	if !r.next('"') {
		return ""
	}
	return r.text(r.str())
}

// text returns the content of a string.
func (r *Reader) text(s span) string {
	if r.err != nil {
		return ""
	}
	inside := r.source[s.from:s.to]
	if !s.escaped {
		return inside
	}
	var ok bool
	if r.unescaped, ok = appendUnescaped(r.unescaped[:0], inside); !ok {
		r.failAt(s.from-1, "expected UTF-8 without lone surrogates")
		return ""
	}
	return string(r.unescaped)
}

// Strings reads an array of strings. For null and an empty array, it returns nil.
func (r *Reader) Strings() []string {
	if !r.Array() {
		return nil
	}
	var few [8]string // most lists fit, so that they are allocated once
	list := few[:0]
	for r.Element() {
		list = append(list, r.String())
	}
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list)
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	want := byte('f')
	if r.peek() == 't' {
		want = 't'
	}
	if !r.next(want) {
		return false
	}
	r.skip()
	return want == 't' && r.err == nil
}

// Int reads a signed integer of 64 bits, without a fraction or an exponent.
func (r *Reader) Int() int64 {
	text := r.number()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.failAt(r.value, "expected an integer of 64 bits")
	}
	return n
}

// Float reads a number.
func (r *Reader) Float() float64 {
	text := r.number()
	if text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.failAt(r.value, "expected a number of 64 bits")
	}
	return f
}

// number reads a number and returns its text. It returns "" for null and for an error.
func (r *Reader) number() string {
	if !r.next('0') {
		return ""
	}
	if r.skip(); r.err != nil {
		return ""
	}
	return r.source[r.value:r.pos]
}

// Time reads a time in RFC 3339 format. For an empty string, it returns the zero time.
func (r *Reader) Time() time.Time {
	s := r.String()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		r.failAt(r.value, "expected a time in RFC 3339 format")
	}
	return t.UTC()
}

// Millis reads a time in milliseconds since 1970. For 0, it returns the zero time.
func (r *Reader) Millis() time.Time {
	ms := r.Int()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Raw reads any value and returns a copy of its bytes. For null, it returns nil.
func (r *Reader) Raw() json.RawMessage {
	start := r.pos
	if r.skip(); r.err != nil || r.in[start] == 'n' {
		return nil
	}
	return bytes.Clone(r.in[start:r.pos])
}

// Kind returns the kind of the next value without reading the value. The kind is '0' for a number. For
// another value, it is the first byte: '{', '[', '"', 't', 'f' or 'n'. At the end of the text, the kind is 0.
func (r *Reader) Kind() byte { return r.kind() }

// Skip reads and discards a value of any kind.
func (r *Reader) Skip() { r.skip() }
