// Package ids makes the names of things: a prefix and a ULID in lower case.
//
// A ULID (github.com/ulid/spec) is 48 bits of milliseconds and 80 random bits
// in Crockford's base32: ids sort by the time they were made and cannot be
// guessed.
package ids

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// The prefixes in use; wire.md §1 lists them.
const (
	Ask     = "ask_"
	Session = "ses_"
	Token   = "tok_"
	Grant   = "grt_"
)

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	length   = 26
)

// New returns an id that was made at a time, with randomness read from r.
// The error is r's.
func New(prefix string, at time.Time, r io.Reader) (string, error) {
	var b [16]byte
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(r, b[6:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + encode(b), nil
}

// encode writes 128 bits as 26 digits of five bits, the first two bits zero.
func encode(b [16]byte) string {
	hi, lo := word(b[:8]), word(b[8:])
	var out [length]byte
	for i := length - 1; i >= 0; i-- {
		out[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

func word(b []byte) uint64 {
	var w uint64
	for _, x := range b {
		w = w<<8 | uint64(x)
	}
	return w
}

// Swap gives an id another prefix. An ask without a session of its own naming
// gets the session id with its digits, so that one follows from the other.
func Swap(id, prefix string) string {
	_, digits, _ := strings.Cut(id, "_")
	return prefix + digits
}

// Valid says whether id has this prefix and the digits of a ULID.
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
