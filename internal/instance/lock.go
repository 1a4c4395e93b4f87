// Package instance decides which process on a machine opens the database, and lets the
// others find the server of that process and verify it.
package instance

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld is returned if another process holds the lock of a database.
var ErrHeld = errors.New("another askback process holds the database")

// A Lock is the exclusive lock that a process holds while it has a database open.
type Lock struct{ file *os.File }

// Hold takes the lock of a database, or returns [ErrHeld]. On a system without such locks, the error is
// [errors.ErrUnsupported]. The lock file is never deleted:
// one process could otherwise lock the deleted file and another a new one. The system
// releases the lock when the process ends in any way.
func Hold(database string) (*Lock, error) {
	f, err := os.OpenFile(database+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", database, err)
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// Release frees the lock.
func (l *Lock) Release() error { return l.file.Close() }
