// Package local is the agreement between the commands of one machine: which of
// them holds the database.
package local

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld says that another process holds the database.
var ErrHeld = errors.New("another askback holds the database")

// A Lock is held on a database for as long as a process has it open.
type Lock struct{ file *os.File }

// Hold takes the lock of a database, or returns [ErrHeld]. The file stands
// beside the database and is never deleted: a lock on a deleted file would keep
// nobody out. The system frees it when the process ends, however it ends.
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
