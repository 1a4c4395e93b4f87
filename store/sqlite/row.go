package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// cellsOf returns the columns of a record as they will be stored, with the next version and the checksums. If
// r.Fixed is nil, fixed and fixedSum are null, so that the stored Fixed is kept.
func cellsOf(r *store.Record) cells {
	c := cells{
		kind: r.Kind, id: r.ID, version: r.Version + 1, stream: r.Stream,
		key: sql.NullString{String: r.Key, Valid: r.Key != ""}, open: r.Open, unacked: r.Unacked, owner: r.Owner,
		agent: r.Agent, status: r.Status, names: joinNames(r.To), created: r.Created.UnixMilli(),
		updated: r.Updated.UnixMilli(), due: dueOf(r.Due), state: r.State, fixed: r.Fixed,
	}
	c.sum = sql.NullInt64{Int64: c.sumOf(), Valid: true}
	if r.Fixed != nil {
		c.fixedSum = sql.NullInt64{Int64: c.fixedSumOf(), Valid: true}
	}
	return c
}

func dueOf(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// scanCells reads the columns of the current row. If the columns are malformed or do not match the checksums,
// the error is a store.DamagedError.
func scanCells(row *sqlite3.Stmt) (c cells, err error) {
	r := scanner{row: row}
	c = cells{
		kind: r.text(), id: r.text(), version: r.number(), stream: r.text(), key: r.nullText(), open: r.flag(),
		owner: r.text(), agent: r.text(), status: r.text(), names: r.nullText(), created: r.number(),
		updated: r.number(), due: r.nullNumber(), state: r.bytes(), fixed: r.bytes(), unacked: r.flag(),
		recent: r.flag(), sum: r.nullNumber(), fixedSum: r.nullNumber(),
	}
	if r.bad || !c.matches() || c.names.Valid && !areNames(c.names.String) {
		return c, store.DamagedError{Kind: c.kind, ID: c.id}
	}
	return c, nil
}

func scanRecord(row *sqlite3.Stmt) (store.Record, error) {
	c, err := scanCells(row)
	if err != nil {
		return store.Record{}, err
	}
	r := store.Record{
		Kind: c.kind, ID: c.id, Version: c.version, Stream: c.stream, Key: c.key.String, Open: c.open,
		Unacked: c.unacked, Owner: c.owner, Agent: c.agent, Status: c.status, Created: instant(c.created),
		Updated: instant(c.updated), Fixed: c.fixed, State: c.state,
	}
	if c.due.Valid {
		r.Due = instant(c.due.Int64)
	}
	if c.names.Valid {
		r.To = splitNames(c.names.String)
	}
	return r, nil
}

// scanEvent reads an event from the current row. If the row is malformed or does not
// match its checksum, the error is a store.DamagedError.
func scanEvent(row *sqlite3.Stmt) (store.Event, error) {
	e, _, err := scanSummedEvent(row)
	return e, err
}

// scanSummedEvent reads an event from the current row, as scanEvent does. It also reports whether the row has
// a checksum.
func scanSummedEvent(row *sqlite3.Stmt) (e store.Event, summed bool, err error) {
	r := scanner{row: row}
	e.Seq, e.Stream, e.StreamSeq, e.Subject, e.Type = r.number(), r.text(), r.number(), r.text(), r.text()
	if e.Subject == ofStream {
		e.Subject = e.Stream
	}
	at := r.number()
	e.Data = r.bytes()
	sum := r.nullNumber()
	if r.bad || sum.Valid && sum.Int64 != sumEvent(&e, e.Seq, e.StreamSeq, at) {
		return e, true, store.DamagedError{Kind: "event", ID: fmt.Sprintf("%d of %s", e.Seq, e.Stream)}
	}
	e.At = instant(at)
	return e, sum.Valid, nil
}

// instant returns the UTC time of a column, which is in milliseconds since 1970.
func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// The column "names" has one name per line. A line break is before the first name and after the last name, so
// that instr finds whole names only. A line break in a name is escaped as \n, a backslash as \\.
var (
	escapeName   = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	unescapeName = strings.NewReplacer(`\\`, "\\", `\n`, "\n")
)

func joinNames(names []string) sql.NullString {
	if len(names) == 0 {
		return sql.NullString{}
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, n := range names {
		b.WriteString(escapeName.Replace(n))
		b.WriteByte('\n')
	}
	return sql.NullString{String: b.String(), Valid: true}
}

// areNames reports whether s begins and ends with a line break, like the result of
// joinNames.
func areNames(s string) bool { return len(s) >= 2 && s[0] == '\n' && s[len(s)-1] == '\n' }

func splitNames(s string) []string {
	names := strings.Split(s[1:len(s)-1], "\n")
	for i, n := range names {
		names[i] = unescapeName.Replace(n)
	}
	return names
}

// nameLine returns a name as a line of the column "names", with both line breaks.
func nameLine(name string) string { return "\n" + escapeName.Replace(name) + "\n" }
