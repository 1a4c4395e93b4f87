package main

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

	"github.com/askback/askback/store/sqlite"
)

// stored looks into the database, without writing to it.
func (d *doctor) stored(ctx context.Context) {
	const check = "database"
	if d.database == "" {
		return // said before
	}
	info, err := os.Stat(d.database)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok(check, "%s is not there yet; the first command makes it", d.database)
		return
	case err != nil:
		d.fail(check, "let this user read it", "%v", err)
		return
	}
	if info.Size() == 0 {
		d.ok(check, "%s is empty; the next command fills it", d.database)
		return
	}
	if isShared(info) || !isOurs(info) {
		d.fail(check, "chown it to this user, and chmod 600 "+d.database, "%s belongs to another user, or other users can read it", d.database)
		return
	}
	about, err := inspect(ctx, d.database, d.held)
	if err != nil {
		d.fail(check, "stop what uses it, and put a backup in its place", "%s: %v", d.database, err)
		return
	}
	d.schema(about, info.Size())
	d.disk(info.Size())
	d.clock(about.newest, time.Now())
}

// schema compares what the file has with what this program knows.
func (d *doctor) schema(about inspection, size int64) {
	const check = "database"
	switch {
	case about.broken != "":
		d.fail(check, "stop what uses it, and put a backup in its place", "%s is damaged: %s", d.database, about.broken)
	case about.version > sqlite.SchemaVersion:
		d.fail(check, "install that version, or restore a backup made before it",
			"%s was written by a newer askback: schema %d, and this one knows %d", d.database, about.version, sqlite.SchemaVersion)
	case about.version < sqlite.SchemaVersion:
		d.warn(check, "make a backup: the next command brings it up to date", "%s has schema %d of %d", d.database, about.version, sqlite.SchemaVersion)
	case about.rows.Damaged > 0:
		d.fail(check, "what is damaged is not used, and a backup has it whole", "%s is damaged: %d of %d records and lines of history read otherwise than they were written: %s",
			d.database, about.rows.Damaged, about.rows.Rows, named(about.rows))
	default:
		without := ""
		if n := about.rows.Without; n > 0 {
			without = fmt.Sprintf("; %d of %d records and lines of history are from before there were checksums", n, about.rows.Rows)
		}
		d.ok(check, "%s is whole: schema %d, %s%s", d.database, about.version, inBytes(size), without)
	}
}

// named are the damaged rows that a line has room for.
func named(v sqlite.Verification) string {
	const room = 10
	names := strings.Join(v.Names[:min(room, len(v.Names))], ", ")
	if v.Damaged > room {
		names += fmt.Sprintf(" and %d more", v.Damaged-room)
	}
	return names
}

// tight is how much room a busy server may want before somebody looks again.
const tight = 100 << 20

func (d *doctor) disk(size int64) {
	free, known := freeBytes(filepath.Dir(d.database))
	switch {
	case !known:
		d.ok("disk", "free space cannot be measured on this system")
	case free < max(tight, size/10):
		d.warn("disk", "make room: with a full disk, nothing can be asked or answered", "%s free", inBytes(free))
	default:
		d.ok("disk", "%s free", inBytes(free))
	}
}

// skew is how far clocks of one network may be apart.
const skew = 5 * time.Second

// clock compares this machine with what it wrote: time never runs backwards in the
// database, so a clock that was set back makes deadlines pass late.
func (d *doctor) clock(newest, now time.Time) {
	behind := newest.Sub(now)
	if behind > skew {
		d.fail("clock", "set the clock: deadlines pass late until then",
			"it is %s behind what was written last", behind.Round(time.Second))
		return
	}
	d.ok("clock", "it is not behind the last time in the database")
}

// inspection is what a database says of itself.
type inspection struct {
	version int64
	broken  string // the first thing that is wrong
	rows    sqlite.Verification
	newest  time.Time
}

// applicationID marks our files: a database of another program is not looked into.
const applicationID = 0x41736b42

var errOtherFile = errors.New("this file belongs to another program")

// inspect reads a database. One that nobody has open, and that was closed well, is read
// as a plain file: then SQLite makes no files beside it either.
func inspect(ctx context.Context, path string, held bool) (out inspection, err error) {
	if err := isAskback(path); err != nil {
		return out, err
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(5000)"}}
	if info, err := os.Stat(path + "-wal"); !held && (err != nil || info.Size() == 0) {
		query.Set("immutable", "1")
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return out, out.read(ctx, db)
}

func (i *inspection) read(ctx context.Context, db *sql.DB) error {
	if err := db.QueryRowContext(ctx, "select max(version_id) from goose_db_version").Scan(&i.version); err != nil {
		return err
	}
	if i.version > sqlite.SchemaVersion {
		return nil // its tables may be others
	}
	var check string
	// All of it, with the indexes: what an index lost would be looked for in vain.
	if err := db.QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		i.broken = check
		return nil
	}
	if i.version == sqlite.SchemaVersion {
		var err error
		if i.rows, err = sqlite.Verify(ctx, db); err != nil {
			return err
		}
	}
	var at int64
	// The last line of the history is as young as anything there is.
	err := db.QueryRowContext(ctx, "select at from history order by seq desc limit 1").Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	i.newest = time.UnixMilli(at)
	return err
}

// isAskback reads the header itself: opening a foreign file might change it.
func isAskback(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var header [100]byte
	_, err = io.ReadFull(f, header[:])
	switch {
	case err == nil && string(header[:16]) == "SQLite format 3\x00" && binary.BigEndian.Uint32(header[68:]) == applicationID:
		return nil
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return err
	}
	return errOtherFile
}

// inBytes writes a size for people.
func inBytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d kB", (n+1023)>>10)
}
