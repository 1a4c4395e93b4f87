package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "zombiezen.com/go/sqlite"
)

// applicationID is the application id in the header of a database of Askback, "AskB"
// (sqlite.org/fileformat.html §1.3.13).
const applicationID = 0x41736b42

var (
	// ErrForeign is the error of [Open] for a file of another program.
	ErrForeign = errors.New("this file belongs to another program; choose another path for the database")
	// ErrNewer is the error of [Open] for a database of a newer version of Askback.
	ErrNewer = errors.New(
		"it was written by a newer version of Askback; install that version, or restore a backup made before it",
	)
)

// settings are the pragmas of every connection of an open store. SQLite keeps most of them per connection.
var settings = []string{
	// A backup or a shell may hold the lock for a moment. Askback itself has only one writer.
	"busy_timeout(10000)",
	"journal_mode(WAL)",
	// An acknowledged change survives a power cut only with FULL, because NORMAL syncs only at checkpoints.
	"synchronous(FULL)",
	// On macOS a plain fsync does not reach the disk. On other systems these settings have no effect.
	"fullfsync(1)",
	"checkpoint_fullfsync(1)",
	// This is the default. A larger value may seem faster, but in a benchmark 16000 was
	// slower by a fifth.
	"wal_autocheckpoint(1000)",
	"foreign_keys(1)",
	"trusted_schema(0)",
}

// connect opens a connection with the settings. If readOnly is set, SQLite rejects writes.
func connect(path string, readOnly bool) (*sqlite3.Conn, error) {
	// 16 MB of pages for the connection that writes. After a commit that moved pages, SQLite scans the whole
	// table of its cache. With 64 MB, the benchmark of a cycle took a twentieth more processor time.
	extra := []string{"cache_size(-16384)"}
	if readOnly {
		extra = []string{"cache_size(-8192)", "query_only(1)"}
	}
	conn, err := sqlite3.OpenConn(absolute(path), sqlite3.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Concat(settings, extra) {
		if err := execute(conn, "pragma "+s); err != nil {
			_ = conn.Close() // the caller returns the first error
			return nil, err
		}
	}
	return conn, nil
}

// connectSQL returns a database/sql pool of one connection with the settings, which goose
// requires.
func connectSQL(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, settings...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		_ = db.Close() // the caller returns the first error
		return nil, err
	}
	return db, nil
}

func dsn(path string, pragmas ...string) string {
	return URI(path, url.Values{"_pragma": pragmas})
}

// URI returns the address of a database file, with parameters, as SQLite reads it (sqlite.org/uri.html).
func URI(path string, parameters url.Values) string {
	path = filepath.ToSlash(absolute(path))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x on Windows
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	return u.String()
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// claimFile creates the file if it does not exist, and writes the application id to an empty file. For a file
// of another program the error is [ErrForeign]. claimFile reads the header itself, because opening a database
// in WAL mode may change the file.
func claimFile(path string) error {
	isNew, err := checkHeader(path)
	if err != nil {
		return err
	}
	// A process that was killed while it wrote the application id has left a journal. SQLite undoes the write
	// when the file is opened. So the file is opened and checked again.
	if _, err := os.Stat(path + "-journal"); err == nil {
		if err := executeOnFile(path, "select count(*) from sqlite_schema"); err != nil {
			return err
		}
		if isNew, err = checkHeader(path); err != nil {
			return err
		}
	}
	if isNew {
		// executeOnFile uses the rollback journal mode. In WAL mode, a kill might leave the id only in the
		// write-ahead log.
		return executeOnFile(path, fmt.Sprintf("pragma application_id = %d", applicationID))
	}
	return nil
}

// checkHeader creates the file at path if it does not exist, and reports whether it is empty. For a file of
// another program the error is [ErrForeign].
func checkHeader(path string) (isNew bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, withoutPath(err)
	}
	defer f.Close()
	var header [100]byte
	switch _, err := io.ReadFull(f, header[:]); {
	case err == io.EOF:
		return true, nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return false, withoutPath(err)
	}
	if string(header[:16]) != "SQLite format 3\x00" || binary.BigEndian.Uint32(header[68:]) != applicationID {
		return false, ErrForeign
	}
	return false, nil
}

// executeOnFile opens the file without the pragmas that Open sets, such as the WAL mode, and runs statement.
func executeOnFile(path, statement string) error {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

// withoutPath returns the error in an fs.PathError, and any other err unchanged. Open adds the path to every
// error.
func withoutPath(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

//go:embed migrations/*.sql
var migrations embed.FS

func migrate(ctx context.Context, path string, db *sql.DB, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read its schema version: %w", err)
	case have > want:
		return fmt.Errorf("its schema has version %d, and this program supports versions up to %d: %w", have, want,
			ErrNewer)
	case have == want:
		return nil
	case have >= firstIndex && have < lastIndex:
		if err := emptyIndex(path); err != nil {
			return fmt.Errorf("create the index for searches again: %w", err)
		}
	}
	done, err := p.Up(ctx)
	for _, m := range done {
		if have > 0 { // the migrations of a new database are not logged
			log.Info("database migrated", "version", m.Source.Version, "took", m.Duration)
		}
	}
	if err != nil {
		return fmt.Errorf("migrate its schema: %w", err)
	}
	if have == 0 {
		log.Info("database created", "version", want)
	}
	return nil
}
