package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// maxDamages is the maximum number of damaged rows that a store records, and that a
// [Verification] names.
const maxDamages = 100

// damages contains the first damaged rows that were read since the database was opened.
type damages struct {
	log  *slog.Logger
	page atomic.Bool // whether errPage was added

	mu   sync.Mutex
	rows []store.DamagedError
}

// add records and logs a damaged row. It does nothing if the row is already recorded, or if maxDamages rows
// are recorded.
func (d *damages) add(row store.DamagedError) {
	if row == errPage {
		d.page.Store(true)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.rows) == maxDamages || slices.Contains(d.rows, row) {
		return
	}
	d.rows = append(d.rows, row)
	d.log.Error("the database has a damaged row, which is omitted; restore a backup", "row", row.Kind+" "+row.ID)
}

func (d *damages) names() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range d.rows {
		names = append(names, row.Kind+" "+row.ID)
	}
	return names
}

// A Verification is the result of [Verify].
type Verification struct {
	Rows    int64    // number of records, events and effects
	Without int64    // undamaged rows that lack a checksum, because older versions wrote them
	Damaged int64    // rows that are malformed or do not match their checksum
	Names   []string // the first damaged rows, such as "ask ask_01…" or "event 17 of ses_01…"
}

// verifyRecords selects all records. The last column compares the column recent of a record with the place of
// the record before or after the boundary. It is 0 for an open or unacked record if the two differ. Such a
// record is in the wrong indices by owner.
const verifyRecords = `select ` + columns + `,
	not (open or unacked) or recent = (id > coalesce((select b.id from boundaries b where b.kind = records.kind), ''))
	from records not indexed`

// Verify compares all records, events and effects of a database with their checksums. The uri has the form of
// sqlite.org/uri.html. Damaged rows are counted in v and do not cause an error.
func Verify(ctx context.Context, uri string) (v Verification, err error) {
	conn, err := sqlite3.OpenConn(uri, sqlite3.OpenReadOnly, sqlite3.OpenURI)
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	conn.SetBusyTimeout(5 * time.Second)
	conn.SetInterrupt(ctx.Done())
	err = cmp.Or(
		v.each(conn, verifyRecords, func(row *sqlite3.Stmt) (bool, error) {
			c, err := scanCells(row)
			if err == nil && row.ColumnInt64(row.ColumnCount()-1) == 0 {
				err = store.DamagedError{Kind: c.kind, ID: c.id}
			}
			return c.summed(), err
		}),
		v.each(conn, "select "+eventColumns+" from history not indexed", func(row *sqlite3.Stmt) (bool, error) {
			_, summed, err := scanSummedEvent(row)
			return summed, err
		}),
		v.each(conn, "select "+effectColumns+" from effects not indexed", func(row *sqlite3.Stmt) (bool, error) {
			_, err := scanEffect(row)
			return true, err
		}),
		ctx.Err(),
	)
	return v, errors.Join(err, conn.Close())
}

func (v *Verification) each(conn *sqlite3.Conn, query string, scan func(*sqlite3.Stmt) (summed bool, err error)) error {
	rows, err := conn.Prepare(query)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	for {
		row, err := rows.Step()
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if !row {
			return rows.Reset()
		}
		v.Rows++
		summed, err := scan(rows)
		if damaged, ok := err.(store.DamagedError); ok {
			v.Damaged++
			if len(v.Names) < maxDamages {
				v.Names = append(v.Names, damaged.Kind+" "+damaged.ID)
			}
		} else if !summed {
			v.Without++
		}
	}
}
