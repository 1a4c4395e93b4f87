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

// maxDamages is how many damaged rows are remembered, and named by [Verify].
const maxDamages = 100

// damages are the rows that were found to be damaged since the database was opened.
type damages struct {
	log *slog.Logger

	mu    sync.Mutex
	known []store.DamagedError
}

// note remembers a damaged row, and logs it once.
func (d *damages) note(row store.DamagedError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) == maxDamages || slices.Contains(d.known, row) {
		return
	}
	d.known = append(d.known, row)
	d.log.Error("the database is damaged, and what is damaged is left out; restore a backup", "damaged", row.Kind+" "+row.ID)
}

func (d *damages) names() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range d.known {
		names = append(names, row.Kind+" "+row.ID)
	}
	return names
}

// A Verification is what [Verify] found.
type Verification struct {
	Rows    int64    // records and lines of history
	Without int64    // of these, written before there were checksums
	Damaged int64    // of these, read otherwise than they were written
	Names   []string // the first that are damaged, as in "ask ask_01…" or "line 17 of ses_01…"
}

// Verify reads all records and all history of a database with this schema, and compares
// them with their checksums.
func Verify(ctx context.Context, db *sql.DB) (v Verification, err error) {
	err = v.each(ctx, db, "select "+columns+" from records not indexed", func(rows *sql.Rows) (bool, error) {
		c, err := scanCells(rows)
		return c.summed(), err
	})
	if err != nil {
		return v, err
	}
	err = v.each(ctx, db, "select seq, stream, n, subject, type, at, data, sum from history not indexed", func(rows *sql.Rows) (bool, error) {
		_, summed, err := scanLine(rows)
		return summed, err
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
