package doctor

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/store"
)

// readDirectory reads the record with the people, groups and routes of the API, if it exists, and
// the names of the people with a token.
func (i *inspection) readDirectory(ctx context.Context, db *sql.DB) (err error) {
	rows, err := db.QueryContext(ctx, "select kind, id, fixed, state from records where kind in (?, ?)",
		engine.KindDirectory, auth.KindToken)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Kind, &r.ID, &r.Fixed, &r.State); err != nil {
			return err
		}
		if r.Kind == engine.KindDirectory {
			i.directory = r
		} else if name, valid := auth.PersonOf(r, time.Now()); valid {
			i.people = append(i.people, name)
		}
	}
	return rows.Err()
}

// checkDirectory reports the people, groups and routes of the API that have no effect, because the settings
// have the same names or addresses. It also reports unknown people in the groups and routes. A route whose
// confirmations no person may approve is a failure.
func (d *doctor) checkDirectory(row store.Record, tokens []string) {
	const check = "directory"
	about, err := engine.InspectDirectory(d.program.EngineSettings(d.file), row, tokens, d.recipients())
	if err != nil {
		d.Fail(check, "asks are rejected until this can be read: use the version that wrote it, or restore a backup",
			"the people, groups and routes of the API: %v", err)
		return
	}
	for _, warning := range about.Warnings {
		d.Warn(check, "change the settings or the people, groups and routes of the API", "%s", warning)
	}
	for _, p := range about.Problems {
		where := "in the settings file"
		if p.Source == askback.SourceAPI {
			where = "with askback route set or askback group add"
		}
		if p.Refuses {
			d.Fail(check, "add the missing people, or correct the keys approvers, to or quorum in the agent's "+
				"definition or "+where, "%s", p.Text)
			continue
		}
		d.Warn(check, "add the person, create a token for the person, or remove the name "+where, "%s", p.Text)
	}
	if row.ID != "" && len(about.Warnings) == 0 {
		d.OK(check, "added over the API: people %d, groups %d, routes %d", about.People, about.Groups, about.Routes)
	}
}
