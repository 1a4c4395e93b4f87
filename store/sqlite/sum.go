package sqlite

import (
	"database/sql"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/askback/askback/store"
)

// A checksum is the CRC-32C of the columns of a row, each with its length before it. It
// detects changes by a disk or another program. It is not a signature: a program can
// write a matching one.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cells has the columns of a record as they are stored.
type cells struct {
	kind, id, stream, owner, agent, status string
	key, names                             sql.NullString
	version, created, updated              int64
	due                                    sql.NullInt64
	open, unacked                          bool
	state, fixed                           []byte

	sum, fixedSum sql.NullInt64 // not valid in rows of older versions
}

// buffers has the buffers for checksums, since every read computes one.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// sumOf returns the checksum of all columns except fixed.
func (c *cells) sumOf() int64 {
	held := buffers.Get().(*[]byte)
	b := (*held)[:0]
	for _, s := range [...]string{c.kind, c.id, c.stream, c.owner, c.agent, c.status} {
		b = appendText(b, s)
	}
	for _, s := range [...]sql.NullString{c.key, c.names} {
		b = append(b, bit(s.Valid))
		b = appendText(b, s.String)
	}
	for _, n := range [...]int64{c.version, c.created, c.updated, c.due.Int64} {
		b = binary.AppendVarint(b, n)
	}
	b = append(b, bit(c.due.Valid), bit(c.open), bit(c.unacked))
	sum := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, c.state)
	*held = b
	buffers.Put(held)
	return int64(sum)
}

// fixedSumOf returns the checksum of the columns fixed, kind and id.
func (c *cells) fixedSumOf() int64 {
	held := buffers.Get().(*[]byte)
	b := appendText(appendText((*held)[:0], c.kind), c.id)
	sum := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, c.fixed)
	*held = b
	buffers.Put(held)
	return int64(sum)
}

// matches reports whether a row matches the checksums that it has.
func (c *cells) matches() bool {
	return (!c.sum.Valid || c.sum.Int64 == c.sumOf()) && (!c.fixedSum.Valid || c.fixedSum.Int64 == c.fixedSumOf())
}

// summed reports whether a row has both checksums.
func (c *cells) summed() bool { return c.sum.Valid && c.fixedSum.Valid }

// sumEvent returns the checksum of an event. The time at is in milliseconds since 1970.
func sumEvent(e *store.Event, seq, n, at int64) int64 {
	held := buffers.Get().(*[]byte)
	b := (*held)[:0]
	for _, s := range [...]string{e.Stream, e.Subject, e.Type} {
		b = appendText(b, s)
	}
	for _, n := range [...]int64{seq, n, at} {
		b = binary.AppendVarint(b, n)
	}
	sum := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, e.Data)
	*held = b
	buffers.Put(held)
	return int64(sum)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}
