package doctor

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// checkDatabase checks the database and writes nothing. If the database can be read, it also checks the free
// disk space and the clock.
func (d *doctor) checkDatabase(ctx context.Context) {
	const check = "database"
	if d.database == "" {
		return // checkHolder has reported the reason
	}
	info, err := os.Stat(d.database)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.OK(check, "%s does not exist yet; the first command creates it", d.database)
		d.checkDirectory(store.Record{}, nil)
		return
	case err != nil:
		d.Fail(check, "give this user read access", "%v", err)
		return
	}
	if info.Size() == 0 {
		d.OK(check, "%s is empty; the next command sets it up", d.database)
		d.checkDirectory(store.Record{}, nil)
		return
	}
	if isShared(info) || !isOwn(info) {
		d.Fail(check, "chown it to this user, and chmod 600 "+d.database,
			"%s belongs to another user, or other users can read it", d.database)
		return
	}
	if err := (instance.Place{Database: d.database}).CheckNames(); err != nil {
		d.Fail(check, "stop all askback processes, and delete all names of the file but one", "%v", err)
		return
	}
	about, err := inspect(ctx, d.database, d.locked)
	if ctx.Err() != nil { // the database may be intact
		d.Warn(check, "run doctor again, and let it finish: it reads the whole database",
			"%s was not checked to the end", d.database)
		return
	}
	if err != nil {
		d.Fail(check, "stop all askback processes, and restore a backup", "%s: %v", d.database, err)
		return
	}
	d.checkContent(about, info.Size())
	d.checkDisk(info.Size())
	d.checkClock(about.newest, time.Now())
	d.checkSecrets(about.withSecrets)
	d.checkDirectory(about.directory, about.people)
}

// checkContent reports whether the database is damaged, and whether this version uses its schema.
func (d *doctor) checkContent(about inspection, size int64) {
	const check = "database"
	switch {
	case about.broken != "":
		d.Fail(check, "stop all askback processes, and restore a backup", "%s is damaged: %s", d.database, about.broken)
	case about.version > sqlite.SchemaVersion:
		d.Fail(check, "install that version, or restore an older backup",
			"%s was written by a newer askback: its schema is %d, and this version supports up to %d", d.database,
			about.version, sqlite.SchemaVersion)
	case about.version < sqlite.SchemaVersion:
		d.Warn(check, "make a backup: the next command upgrades it", "%s has schema %d; this version uses %d",
			d.database, about.version, sqlite.SchemaVersion)
	case about.rows.Damaged > 0:
		d.Fail(check, "damaged records are not used; restore them from a backup",
			"%s is damaged: the checksums of %d of %d records and events do not match: %s",
			d.database, about.rows.Damaged, about.rows.Rows, damagedNames(about.rows))
	case about.search != "":
		d.Warn(check, "no action is needed: once a search or a change reads the damaged part, it is filled again",
			"%s is intact, except the search index: %s", d.database, about.search)
	default:
		without := ""
		if n := about.rows.Without; n > 0 {
			without = fmt.Sprintf("; %d of %d records and events have no checksum, since an older version wrote them",
				n, about.rows.Rows)
		}
		d.OK(check, "%s is intact: schema %d, %s%s", d.database, about.version, formatSize(size), without)
	}
}

// damagedNames returns the names of the first damaged rows, and how many more there are.
func damagedNames(v sqlite.Verification) string {
	const most = 10
	names := strings.Join(v.Names[:min(most, len(v.Names))], ", ")
	if v.Damaged > most {
		names += fmt.Sprintf(" and %d more", v.Damaged-most)
	}
	return names
}

// minFree is the free space in bytes below which doctor warns, even for a small database. A busy server can
// fill that space within days.
const minFree = 100 << 20

func (d *doctor) checkDisk(size int64) {
	free, known := freeBytes(filepath.Dir(d.database))
	switch {
	case !known:
		d.OK("disk", "free space cannot be measured on this system")
	case free < max(minFree, size/10):
		d.Warn("disk", "free some space: with a full disk, nothing can be asked or answered", "%s free",
			formatSize(free))
	default:
		d.OK("disk", "%s free", formatSize(free))
	}
}

// maxSkew is how far the clock may be behind the latest time in the database.
const maxSkew = 5 * time.Second

// checkClock compares the clock with the latest time in the database. Times there never decrease, so after a
// clock was set back, deadlines pass late.
func (d *doctor) checkClock(newest, now time.Time) {
	behind := newest.Sub(now)
	if behind > maxSkew {
		d.Fail("clock", "set the clock; until then, deadlines pass late",
			"the clock is %s behind the latest time in the database", behind.Round(time.Second))
		return
	}
	d.OK("clock", "the clock is not behind the latest time in the database")
}

// An inspection is the result of [inspect].
type inspection struct {
	version int64
	broken  string // the first error of the integrity check
	search  string // the error in the search index
	rows    sqlite.Verification
	newest  time.Time // the latest time of all events and records, or zero

	withSecrets []store.Record // the endpoints and contacts, which may have encrypted secrets
	directory   store.Record   // the people, groups and routes of the API; without an id if none were added
	people      []string       // the people with a valid token
}

// applicationID is the application id in the header of an Askback database.
const applicationID = 0x41736b42

var errOtherFile = errors.New("this file belongs to another program")

// inspect reads a database. If no process has the database open and it was closed properly, inspect opens it
// as immutable, so that SQLite creates no other files.
func inspect(ctx context.Context, path string, locked bool) (out inspection, err error) {
	if err := isAskback(path); err != nil {
		return out, err
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(5000)"}}
	if info, err := os.Stat(path + "-wal"); !locked && (err != nil || info.Size() == 0) {
		query.Set("immutable", "1")
	}
	address := sqlite.URI(path, query)
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return out, out.read(ctx, db, address)
}

func (i *inspection) read(ctx context.Context, db *sql.DB, uri string) error {
	if err := db.QueryRowContext(ctx, "select max(version_id) from goose_db_version").Scan(&i.version); err != nil {
		return err
	}
	if i.version > sqlite.SchemaVersion {
		return nil // the tables of a newer version may differ
	}
	if err := i.checkIntegrity(ctx, db); err != nil || i.broken != "" {
		return err
	}
	if i.version == sqlite.SchemaVersion {
		var err error
		if i.rows, err = sqlite.Verify(ctx, uri); err != nil {
			return err
		}
		if err = errors.Join(i.readSecrets(ctx, db), i.readDirectory(ctx, db)); err != nil {
			return err
		}
	}
	return i.readNewest(ctx, db)
}

// readNewest sets i.newest. It reads all times. After the clock was set back, the last event may have an
// earlier time than the events before.
func (i *inspection) readNewest(ctx context.Context, db *sql.DB) error {
	var at sql.NullInt64
	const newest = `select max(at) from (select max(at) as at from history union all select max(max(created, updated)) from records)`
	if err := db.QueryRowContext(ctx, newest).Scan(&at); err != nil || !at.Valid {
		return err
	}
	i.newest = time.UnixMilli(at.Int64)
	return nil
}

// checkIntegrity sets i.broken and i.search. The full check includes the indexes, because a row that is
// missing from an index cannot be found. If damage to the search index makes the check fail, checkIntegrity
// checks the other tables one by one.
func (i *inspection) checkIntegrity(ctx context.Context, db *sql.DB) error {
	err := i.checkPart(ctx, db, "pragma integrity_check")
	if err == nil || !isAboutSearch(err.Error()) {
		return err
	}
	i.search = err.Error()
	var tables string
	const names = `select coalesce(group_concat(name), '') from sqlite_schema where type = 'table' and name not like 'search%'`
	if err := db.QueryRowContext(ctx, names).Scan(&tables); err != nil {
		return err
	}
	for _, table := range strings.Split(tables, ",") {
		if err := i.checkPart(ctx, db, `pragma integrity_check("`+table+`")`); err != nil || i.broken != "" {
			return err
		}
	}
	return nil
}

// isAboutSearch reports whether a message of SQLite is about the search index.
func isAboutSearch(message string) bool { return strings.Contains(strings.ToLower(message), "fts5") }

// checkPart runs an integrity check. It sets i.search, or i.broken to the first other error.
func (i *inspection) checkPart(ctx context.Context, db *sql.DB, check string) (err error) {
	rows, err := db.QueryContext(ctx, check)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for i.broken == "" && rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		switch {
		case line == "ok":
		case isAboutSearch(line):
			i.search = line
		default:
			i.broken = line
		}
	}
	return rows.Err()
}

// isAskback returns an error unless the file is an Askback database. It reads the header
// itself, because SQLite could change the file of another program.
func isAskback(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var header [100]byte
	_, err = io.ReadFull(f, header[:])
	switch {
	case err == nil && string(header[:16]) == "SQLite format 3\x00" &&
		binary.BigEndian.Uint32(header[68:]) == applicationID:
		return nil
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return err
	}
	return errOtherFile
}

// formatSize formats a number of bytes in kB, MB or GB.
func formatSize(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d kB", (n+1023)>>10)
}
