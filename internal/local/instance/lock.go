// Package instance decides which process on a machine opens the database. With this package, the other
// processes find and verify the server of that process.
package instance

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld is returned if another process holds the lock of a database.
var ErrHeld = errors.New("another askback process holds the database")

// errHeldElsewhere matches [ErrHeld]. It is returned if the lock file is free, but not the database.
var errHeldElsewhere = fmt.Errorf(
	"%w: it opened the file under another path, or its lock file was moved or deleted; end that process first", ErrHeld,
)

// A Lock is the exclusive lock that a process holds while it has a database open.
type Lock struct {
	path string // path of the database
	file *os.File

	// database is the open database file. If inode is set, the file itself is locked, too. A lock that [Hold]
	// returned has no database file.
	database *os.File
	inode    bool
}

// Hold takes the lock of a path, or returns [ErrHeld]. On a system without such locks, the error is
// [errors.ErrUnsupported]. The lock file is never deleted: one process could otherwise lock the deleted file
// and another process a new file. The system releases the lock when the process ends in any way.
func Hold(path string) (*Lock, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{path: path, file: f}, nil
}

// HoldDatabase takes the lock of a database, as [Hold] does. It creates an empty file if the database does
// not exist. The lock file depends on the path, so HoldDatabase also locks the database file itself if the
// system can. It rejects a file with several names, because hard links in other folders have other
// write-ahead logs.
func HoldDatabase(path string) (*Lock, error) {
	l, err := Hold(path)
	if err != nil {
		return nil, err
	}
	if err := l.holdFile(); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// holdFile opens and locks the database file. A file that cannot be opened is not an error here, because the
// store returns a better error for it.
func (l *Lock) holdFile() (err error) {
	if err := checkNames(l.path); err != nil {
		return err
	}
	if l.database, err = os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil
	}
	l.inode, err = lockInode(l.database)
	if errors.Is(err, ErrHeld) {
		return errHeldElsewhere
	}
	return err
}

// IsHeld reports whether another process has a database open. It creates no files, but takes a free lock for
// a moment. It returns false if the database does not exist or cannot be read.
func IsHeld(path string) (bool, error) {
	if _, err := os.Stat(path + ".lock"); err == nil {
		lock, err := Hold(path)
		switch {
		case errors.Is(err, ErrHeld):
			return true, nil
		case err != nil:
			return false, err
		}
		defer func() { _ = lock.Release() }()
	}
	f, err := os.Open(path)
	if err != nil {
		return false, nil // there is no database, or the caller detects that the database cannot be read
	}
	defer f.Close()
	_, err = lockInode(f)
	return err != nil, nil
}

// Check returns an error if this process no longer holds the database of its path. This is the case if the
// file was replaced or deleted, or if another process took the lock after the lock file was moved. If only
// the lock file is missing, Check makes it again.
func (l *Lock) Check() error {
	if l.database != nil && isMoved(l.database, l.path) {
		return fmt.Errorf(
			"%s was moved, replaced or deleted while it was open; stop the server before you change the file", l.path,
		)
	}
	if !isMoved(l.file, l.path+".lock") {
		return nil
	}
	again, err := Hold(l.path)
	if err != nil {
		return fmt.Errorf("%s.lock was moved or deleted: %w", l.path, err)
	}
	_ = l.file.Close()
	l.file = again.file
	return nil
}

// Release frees the lock.
func (l *Lock) Release() error {
	var err error
	if l.database != nil {
		err = l.database.Close()
	}
	return errors.Join(err, l.file.Close())
}

// isMoved reports whether the path of the open file f now has another file, or no file.
func isMoved(f *os.File, path string) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(info, there)
}

// checkNames returns an error if a database has more than one name.
func checkNames(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if n := names(info); n > 1 {
		return fmt.Errorf("%s has %d names (hard links), and processes that open it by different names would damage "+
			"it: delete all names but one", path, n)
	}
	return nil
}

// CheckNames returns an error if the database file has more than one name.
func (p Place) CheckNames() error { return checkNames(p.Database) }
