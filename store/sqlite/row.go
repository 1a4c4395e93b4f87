package sqlite

import (
	"database/sql"
	"strings"
	"time"

	"github.com/askback/askback/store"
)

// A row is a record as the parameters of the statements that write it.
type row struct {
	args  [16]any
	isNew bool
	open  bool
}

func encode(r *store.Record) row {
	return row{
		isNew: r.Version == 0,
		open:  r.Open,
		args: [...]any{
			r.Kind, r.ID, r.Version, r.Stream, orNull(r.Key), r.Open, r.Owner, r.Agent, r.Status, joinNames(r.To),
			r.Created.UnixMilli(), r.Updated.UnixMilli(), dueOrNull(r.Due), r.State, r.Fixed,
			r.Untold,
		},
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func dueOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// scanner is what *sql.Row and *sql.Rows have in common.
type scanner interface{ Scan(dest ...any) error }

// scanRecord reads columns, in their order.
func scanRecord(s scanner) (r store.Record, err error) {
	var (
		key, names       sql.NullString
		created, updated int64
		due              sql.NullInt64
	)
	err = s.Scan(&r.Kind, &r.ID, &r.Version, &r.Stream, &key, &r.Open, &r.Owner, &r.Agent, &r.Status, &names,
		&created, &updated, &due, &r.State, &r.Fixed, &r.Untold)
	if err != nil {
		return store.Record{}, err
	}
	r.Key = key.String
	r.Created, r.Updated = instant(created), instant(updated)
	if due.Valid {
		r.Due = instant(due.Int64)
	}
	if names.Valid {
		r.To = splitNames(names.String)
	}
	return r, nil
}

func scanEvent(s scanner) (e store.Event, err error) {
	var at int64
	if err := s.Scan(&e.Seq, &e.Stream, &e.StreamSeq, &e.Subject, &e.Type, &at, &e.Data); err != nil {
		return store.Event{}, err
	}
	e.At = instant(at)
	return e, nil
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Names stand each on a line of its own, with a line break before the first
// and after the last, so that one of them is found with instr and nothing is
// found that runs over two. A line break in a name is written \n.
var (
	escapeName   = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	unescapeName = strings.NewReplacer(`\\`, "\\", `\n`, "\n")
)

func joinNames(names []string) any {
	if len(names) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, n := range names {
		b.WriteString(escapeName.Replace(n))
		b.WriteByte('\n')
	}
	return b.String()
}

func splitNames(s string) []string {
	names := strings.Split(s[1:len(s)-1], "\n")
	for i, n := range names {
		names[i] = unescapeName.Replace(n)
	}
	return names
}

// nameLine is what instr looks for.
func nameLine(name string) string { return "\n" + escapeName.Replace(name) + "\n" }
