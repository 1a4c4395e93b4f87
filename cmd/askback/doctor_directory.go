package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
)

// readDirectory reads the record with the people, groups and routes of the API, if it exists.
func (i *inspection) readDirectory(ctx context.Context, db *sql.DB) error {
	r := store.Record{Kind: engine.KindDirectory}
	err := db.QueryRowContext(ctx, "select id, state from records where kind = ?", r.Kind).Scan(&r.ID, &r.State)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	i.directory = &r
	return err
}

// checkDirectory reports which people, groups and routes of the API have no effect, because the
// settings have the same names or addresses.
func (d *doctor) checkDirectory(r *store.Record) {
	const check = "directory"
	if r == nil {
		return
	}
	about, err := engine.InspectDirectory(engineSettings(d.file), *r)
	if err != nil {
		d.fail(check, "asks are refused until it can be read: use the version that wrote it, or restore a backup", "the people, groups and routes of the API: %v", err)
		return
	}
	for _, warning := range about.Warnings {
		d.warn(check, "change the settings, or what was made over the API", "%s", warning)
	}
	if len(about.Warnings) == 0 {
		d.ok(check, "made over the API: people %d, groups %d, routes %d", about.People, about.Groups, about.Routes)
	}
}
