// Package ids generates the ids of records: a prefix and a ULID in lower case.
//
// A ULID (github.com/ulid/spec) has 48 bits of milliseconds and 80 random bits, in
// Crockford's base32. Ids sort by time of creation and cannot be guessed.
package ids

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"
)

// The prefixes of ids (wire.md §1).
const (
	Ask      = "ask_"
	Session  = "ses_"
	Token    = "tok_"
	Grant    = "grt_"
	Endpoint = "whe_"
	Contact  = "ctc_"

	ContactCode = "code_" // is in no reply
	JoinedKey   = "key_"  // is in no reply
)

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	length   = 26
)

// New returns a new id for the time at, with random bits from r. Its error wraps
// that of r.
func New(prefix string, at time.Time, r io.Reader) (string, error) {
	var b [16]byte
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(r, b[6:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return encode(prefix, b), nil
}

// encode returns prefix followed by the 128 bits of b as 26 digits of five bits. The first
// digit has only three.
func encode(prefix string, b [16]byte) string {
	hi, lo := bigEndian(b[:8]), bigEndian(b[8:])
	var digits [length]byte
	for i := length - 1; i >= 0; i-- {
		digits[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return prefix + string(digits[:])
}

// bigEndian decodes b as a big-endian integer.
func bigEndian(b []byte) uint64 {
	var w uint64
	for _, x := range b {
		w = w<<8 | uint64(x)
	}
	return w
}

// Swap returns id with another prefix. The session of a single ask has the same digits as
// the ask.
func Swap(id, prefix string) string {
	_, digits, _ := strings.Cut(id, "_")
	return prefix + digits
}

// Valid reports whether id is prefix followed by the digits of a ULID in lower case.
func Valid(prefix, id string) bool {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok || len(digits) != length || digits[0] > '7' {
		return false
	}
	for _, c := range digits {
		if !strings.ContainsRune(alphabet, c) {
			return false
		}
	}
	return true
}

// Time returns the time of creation of an id, which must be valid.
func Time(id string) time.Time {
	_, digits, _ := strings.Cut(id, "_")
	ms := int64(0)
	for _, c := range digits[:10] { // 50 bits, of which the first two are 0
		ms = ms<<5 | int64(strings.IndexRune(alphabet, c))
	}
	return time.UnixMilli(ms)
}

// Bytes returns the 128 bits of an id with this prefix, and reports whether it is one.
func Bytes(prefix, id string) (b [16]byte, ok bool) {
	if !Valid(prefix, id) {
		return b, false
	}
	var hi, lo uint64
	for _, c := range id[len(prefix):] {
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(strings.IndexRune(alphabet, c))
	}
	binary.BigEndian.PutUint64(b[:8], hi)
	binary.BigEndian.PutUint64(b[8:], lo)
	return b, true
}

// FromBytes returns the id with this prefix and these 128 bits.
func FromBytes(prefix string, b [16]byte) string { return encode(prefix, b) }
