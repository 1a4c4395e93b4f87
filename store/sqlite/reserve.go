package sqlite

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"time"

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
	if err := takeRoom(name); err != nil {
		_ = os.Remove(name) // half of one is of no use
	}
}

// takeRoom writes a file of the size of a reserve.
func takeRoom(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte("askback "), reserveSize/8))
	return errors.Join(err, f.Sync(), f.Close())
}

// lookPause is the time between two looks for room on a full disk.
const lookPause = time.Second

// lookForRoom finds out whether there is room again on a disk that was full: as much as
// the reserve takes.
func (w *writer) lookForRoom() {
	full := w.full.Load()
	last, now := w.looked.Load(), time.Now().UnixNano()
	if full == nil || now-last < int64(lookPause) || !w.looked.CompareAndSwap(last, now) {
		return
	}
	probe := w.path + "-room"
	err := takeRoom(probe)
	_ = os.Remove(probe)
	if err == nil && w.full.CompareAndSwap(full, nil) {
		w.log.Info("there is room on the disk again")
		makeReserve(w.path)
	}
}

// useReserve deletes the reserve, and reports whether there was one.
func useReserve(path string) bool { return os.Remove(reserve(path)) == nil }

// FreeReserve gives up the room that is reserved for opening the database, and reports
// whether there was any: for a process that needs a little more to serve it.
func (s *Store) FreeReserve() bool { return useReserve(s.writer.path) }

// isNoRoom reports whether a database could not be opened because the disk is full.
func isNoRoom(err error) bool {
	e := (*driver.Error)(nil)
	if errors.As(err, &e) {
		return e.Code()&0xff == codes.SQLITE_FULL || e.Code() == codes.SQLITE_IOERR_SHMSIZE
	}
	return errors.Is(err, syscall.ENOSPC)
}
