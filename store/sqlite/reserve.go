package sqlite

import (
	"bytes"
	"errors"
	"os"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// A reserve is a file beside the database that takes room. SQLite needs some to open a
// database, though nothing is written to it: where the disk is full, the reserve is
// deleted for that. It is made again when there is room.

// reserveSize is enough for the index of a write-ahead log of 64 MB, and for what the
// process that opens the database writes beside it.
const reserveSize = 128 << 10

func reserve(path string) string { return path + "-reserve" }

// makeReserve makes the reserve if it is not there. That there is no room for it now
// is no error.
func makeReserve(path string) {
	name := reserve(path)
	if info, err := os.Stat(name); err == nil && info.Size() == reserveSize {
		return
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(bytes.Repeat([]byte("askback "), reserveSize/8))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(name) // half of one is of no use
	}
}

// useReserve deletes the reserve, and reports whether there was one.
func useReserve(path string) bool { return os.Remove(reserve(path)) == nil }

// isNoRoom reports whether a database could not be opened because the disk is full.
func isNoRoom(err error) bool {
	e := (*driver.Error)(nil)
	if errors.As(err, &e) {
		return e.Code()&0xff == codes.SQLITE_FULL || e.Code() == codes.SQLITE_IOERR_SHMSIZE
	}
	return errors.Is(err, syscall.ENOSPC)
}
