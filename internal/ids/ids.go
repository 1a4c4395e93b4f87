// Package ids generates the ids of records: a prefix and a ULID in lower case. A ULID (github.com/ulid/spec)
// has 48 bits of milliseconds and 80 random bits, in Crockford's base32. Ids sort by time of creation and
// cannot be guessed. The ids of one [Generator] also sort within a millisecond.
package ids

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync"
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

	ContactCode = "code_" // no reply of the API has such an id
	JoinedKey   = "key_"  // no reply of the API has such an id
)

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	length   = 26
)

// New returns a new id for the time at, with random bits from r. Its error wraps the error of r.
func New(prefix string, at time.Time, r io.Reader) (string, error) {
	b, err := newBits(at, r)
	if err != nil {
		return "", err
	}
	return encode(prefix, b), nil
}

// newBits returns the 128 bits of a new id.
func newBits(at time.Time, r io.Reader) (b [16]byte, err error) {
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(r, b[6:]); err != nil {
		return b, fmt.Errorf("make an id: %w", err)
	}
	return b, nil
}

// A Generator makes ids that sort by creation, even within a millisecond. It is safe for concurrent use.
type Generator struct {
	rand io.Reader
	mu   sync.Mutex
	last [16]byte
}

// NewGenerator returns a [Generator] with random bits from r, which must be safe for concurrent
// use.
func NewGenerator(r io.Reader) *Generator { return &Generator{rand: r} }

// New returns a new id for the time at. Its error wraps the error of the random reader. The first id of a
// millisecond has random bits. Each further id is larger by a random number of 64 bits, so that the id cannot
// be guessed. After tens of thousands of ids in a millisecond, the bits overflow. New random bits are then
// drawn, and the order begins again.
func (g *Generator) New(prefix string, at time.Time) (string, error) {
	b, err := newBits(at, g.rand)
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if next, ok := after(g.last, b); ok {
		b = next
	} else {
		b[6] &= 0x7f // with this bit cleared, there is room for the next ids
	}
	g.last = b
	return encode(prefix, b), nil
}

// after returns the id that follows last: the sum of last, the last 64 bits of random, and one. If the
// milliseconds of last and random differ, or the sum overflows into the milliseconds, ok is false.
func after(last, random [16]byte) (next [16]byte, ok bool) {
	if [6]byte(last[:6]) != [6]byte(random[:6]) {
		return next, false
	}
	lo, carry := bits.Add64(bigEndian(last[8:]), bigEndian(random[8:]), 1)
	hi, over := bits.Add64(bigEndian(last[:8]), 0, carry)
	binary.BigEndian.PutUint64(next[:8], hi)
	binary.BigEndian.PutUint64(next[8:], lo)
	return next, over == 0 && [6]byte(next[:6]) == [6]byte(last[:6])
}

// encode returns prefix followed by the 128 bits of b as 26 digits. The first digit has three bits, each
// other digit five.
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

// Swap returns the digits of id with another prefix. The session of a single ask has the same digits as the
// ask.
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

// Bytes returns the 128 bits of id. ok is false if id is not a valid id with this prefix.
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
