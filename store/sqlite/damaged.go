package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/askback/askback/store"
)

// maxDamages is the maximum number of damaged rows that a store records, and that a
// [Verification] names.
const maxDamages = 100

// damages contains the first damaged rows that were read since the database was opened.
type damages struct {
	log *slog.Logger

	mu   sync.Mutex
	rows []store.DamagedError
}

// add records and logs a damaged row, unless it is recorded already or there are
// maxDamages.
func (d *damages) add(row store.DamagedError) {
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
	Without int64    // rows without a checksum, written by older versions
	Damaged int64    // rows that do not match their checksum
	Names   []string // the first damaged rows, such as "ask ask_01…" or "event 17 of ses_01…"
}

// Verify compares all records, events and effects of a database with their checksums.
// Damaged rows are counted in v and are not an error.
func Verify(ctx context.Context, db *sql.DB) (v Verification, err error) {
	err = v.each(ctx, db, "select "+columns+" from records not indexed", func(rows *sql.Rows) (bool, error) {
		c, err := scanCells(rows)
		return c.summed(), err
	})
	if err != nil {
		return v, err
	}
	err = v.each(ctx, db, "select "+eventColumns+" from history not indexed", func(rows *sql.Rows) (bool, error) {
		_, summed, err := scanSummedEvent(rows)
		return summed, err
	})
	if err != nil {
		return v, err
	}
	err = v.each(ctx, db, "select "+effectColumns+" from effects not indexed", func(rows *sql.Rows) (bool, error) {
		_, err := scanEffect(rows)
		return true, err
	})
	return v, err
}

func (v *Verification) each(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) (summed bool, err error)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
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
	return rows.Err()
}
