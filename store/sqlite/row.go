package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback/store"
)

// A row contains the parameters of the statements that write a record.
type row struct {
	args  [18]any
	isNew bool
	open  bool
}

func encode(r *store.Record) row {
	c := cellsOf(r)
	var fixedSum any // nil: keep the stored one
	if r.Fixed != nil {
		fixedSum = c.fixedSumOf()
	}
	due, _ := c.due.Value() // never fails
	return row{
		isNew: r.Version == 0,
		open:  r.Open,
		args: [...]any{
			r.Kind, r.ID, r.Version, r.Stream, textOrNull(r.Key), r.Open, r.Owner, r.Agent, r.Status, textOrNull(c.names.String),
			c.created, c.updated, due, r.State, r.Fixed, r.Unacked, c.sumOf(), fixedSum,
		},
	}
}

// cellsOf returns the columns of a record as they will be stored, with the next
// version.
func cellsOf(r *store.Record) cells {
	return cells{
		kind: r.Kind, id: r.ID, version: r.Version + 1, stream: r.Stream, key: sql.NullString{String: r.Key, Valid: r.Key != ""},
		open: r.Open, unacked: r.Unacked, owner: r.Owner, agent: r.Agent, status: r.Status, names: joinNames(r.To),
		created: r.Created.UnixMilli(), updated: r.Updated.UnixMilli(), due: dueOf(r.Due), state: r.State, fixed: r.Fixed,
	}
}

func dueOf(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// scanCells reads the columns of the current row. If they are malformed or do not match
// the checksums, the error is a store.DamagedError.
func scanCells(rows *sql.Rows) (c cells, err error) {
	err = rows.Scan(&c.kind, &c.id, &c.version, &c.stream, &c.key, &c.open, &c.owner, &c.agent, &c.status, &c.names,
		&c.created, &c.updated, &c.due, &c.state, &c.fixed, &c.unacked, &c.sum, &c.fixedSum)
	if err != nil || !c.matches() || c.names.Valid && !areNames(c.names.String) {
		return c, store.DamagedError{Kind: c.kind, ID: c.id}
	}
	return c, nil
}

func scanRecord(rows *sql.Rows) (store.Record, error) {
	c, err := scanCells(rows)
	if err != nil {
		return store.Record{}, err
	}
	r := store.Record{
		Kind: c.kind, ID: c.id, Version: c.version, Stream: c.stream, Key: c.key.String, Open: c.open, Unacked: c.unacked,
		Owner: c.owner, Agent: c.agent, Status: c.status, Created: instant(c.created), Updated: instant(c.updated),
		Fixed: c.fixed, State: c.state,
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
func scanEvent(rows *sql.Rows) (store.Event, error) {
	e, _, err := scanSummedEvent(rows)
	return e, err
}

// scanSummedEvent is like scanEvent, and also reports whether the row has a checksum.
func scanSummedEvent(rows *sql.Rows) (e store.Event, summed bool, err error) {
	var at int64
	var sum sql.NullInt64
	err = rows.Scan(&e.Seq, &e.Stream, &e.StreamSeq, &e.Subject, &e.Type, &at, &e.Data, &sum)
	if err != nil || sum.Valid && sum.Int64 != sumEvent(&e, e.Seq, e.StreamSeq, at) {
		return e, true, store.DamagedError{Kind: "event", ID: fmt.Sprintf("%d of %s", e.Seq, e.Stream)}
	}
	e.At = instant(at)
	return e, sum.Valid, nil
}

// instant returns the UTC time of a column, which is in milliseconds since 1970.
func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// The column "names" has one name per line. A line break is before the first and after
// the last, so that instr finds whole names only. A line break in a name is escaped as
// \n, a backslash as \\.
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
