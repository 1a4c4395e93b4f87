package sqlite

import (
	"database/sql"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/askback/askback/store"
)

// castagnoli is the table for CRC-32C, the checksum of a row. A checksum detects changes by a disk or another
// program. It is not a signature, because a program can write a matching checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cells contains the columns of a record as they are stored.
type cells struct {
	kind, id, stream, owner, agent, status string
	key, names                             sql.NullString
	version, created, updated              int64
	due                                    sql.NullInt64
	open, unacked, recent                  bool // the writer sets the field recent
	state, fixed                           []byte

	// These are null in rows of older versions. If a change keeps fixed, its fixedSum is also null.
	sum, fixedSum sql.NullInt64
}

// buffers contains reusable buffers, because every read computes a checksum.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// checksum returns the checksum of the bytes that fill appends, followed by last.
func checksum(last []byte, fill func([]byte) []byte) int64 {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = fill((*b)[:0])
	return int64(crc32.Update(crc32.Checksum(*b, castagnoli), castagnoli, last))
}

// sumOf returns the checksum of all columns except fixed, recent and the checksums. A row must not be read to
// change recent, which can be computed from other columns.
func (c *cells) sumOf() int64 {
	return checksum(c.state, func(b []byte) []byte {
		b = appendTexts(b, c.kind, c.id, c.stream, c.owner, c.agent, c.status)
		for _, s := range [...]sql.NullString{c.key, c.names} {
			b = append(b, bit(s.Valid))
			b = appendTexts(b, s.String)
		}
		for _, n := range [...]int64{c.version, c.created, c.updated, c.due.Int64} {
			b = binary.AppendVarint(b, n)
		}
		return append(b, bit(c.due.Valid), bit(c.open), bit(c.unacked))
	})
}

// fixedSumOf returns the checksum of the columns fixed, kind and id.
func (c *cells) fixedSumOf() int64 {
	return checksum(c.fixed, func(b []byte) []byte { return appendTexts(b, c.kind, c.id) })
}

// matches reports whether the checksums of a row are correct. A checksum that is null is not checked.
func (c *cells) matches() bool {
	return (!c.sum.Valid || c.sum.Int64 == c.sumOf()) && (!c.fixedSum.Valid || c.fixedSum.Int64 == c.fixedSumOf())
}

// summed reports whether a row has both checksums.
func (c *cells) summed() bool { return c.sum.Valid && c.fixedSum.Valid }

// sumEvent returns the checksum of an event. The arguments are its Seq, its StreamSeq n, and its time at in
// milliseconds since 1970.
func sumEvent(e *store.Event, seq, n, at int64) int64 {
	return checksum(e.Data, func(b []byte) []byte {
		b = appendTexts(b, e.Stream, e.Subject, e.Type)
		for _, n := range [...]int64{seq, n, at} {
			b = binary.AppendVarint(b, n)
		}
		return b
	})
}

func appendTexts(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}
