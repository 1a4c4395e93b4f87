package sqlite

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"time"

	codes "modernc.org/sqlite/lib"
)

// The reserve is a file next to the database that only takes up space. SQLite needs some space to open a
// database even if it writes nothing. If the disk is full, the reserve is deleted to free this space. The
// reserve is created again when the disk has room.

// reserveSize is the size of the reserve in bytes. It is enough for the index of a
// write-ahead log of 64 MB and for the small files of the process.
const reserveSize = 128 << 10

// probeSuffix is added to the path of a database for the file that checks whether the disk has room.
const probeSuffix = "-room"

// reservePath returns the path of the reserve of a database.
func reservePath(path string) string { return path + "-reserve" }

// makeReserve creates the reserve, unless it exists with its full size. If it cannot be
// written, makeReserve leaves no file.
func makeReserve(path string) {
	_ = os.Remove(path + probeSuffix) // a process that was killed may have left the file
	name := reservePath(path)
	if info, err := os.Stat(name); err == nil && info.Size() == reserveSize {
		return
	}
	if err := fillFile(name); err != nil {
		_ = os.Remove(name) // a part of the reserve would be useless
	}
}

// fillFile writes a file of reserveSize bytes, and returns once it is on the disk.
func fillFile(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte("askback "), reserveSize/8))
	return errors.Join(err, f.Sync(), f.Close())
}

// roomCheckInterval is the minimum time between two checks for room on a full disk.
const roomCheckInterval = time.Second

// checkRoom tests whether a full disk has room for a reserve again, at most once per roomCheckInterval. If
// the disk has room, checkRoom resets w.full and creates the reserve.
func (w *writer) checkRoom() {
	full := w.full.Load()
	last, now := w.lastCheck.Load(), time.Now().UnixNano()
	if full == nil || now-last < int64(roomCheckInterval) || !w.lastCheck.CompareAndSwap(last, now) {
		return
	}
	probe := w.path + probeSuffix
	err := fillFile(probe)
	_ = os.Remove(probe)
	if err == nil && w.full.CompareAndSwap(full, nil) {
		w.log.Info("there is room on the disk again")
		makeReserve(w.path)
	}
}

// deleteReserve deletes the reserve and reports whether it succeeded.
func deleteReserve(path string) bool { return os.Remove(reservePath(path)) == nil }

// FreeReserve deletes the reserve, a file that only takes up disk space, and reports whether it succeeded. A
// server can call FreeReserve to start on a full disk.
func (s *Store) FreeReserve() bool { return deleteReserve(s.writer.path) }

// isNoRoom reports whether err means that a database could not be opened because the disk is full.
func isNoRoom(err error) bool {
	return primaryCode(err) == codes.SQLITE_FULL || codeOf(err) == codes.SQLITE_IOERR_SHMSIZE ||
		errors.Is(err, syscall.ENOSPC)
}
