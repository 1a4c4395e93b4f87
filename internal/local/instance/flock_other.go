//go:build !unix && !windows

package instance

import (
	"errors"
	"fmt"
	"os"
)

// flock returns [errors.ErrUnsupported], because Askback cannot open a database on this system.
func flock(*os.File) error {
	return fmt.Errorf("this system cannot open a database; use a remote server: %w", errors.ErrUnsupported)
}

// share returns the same error as flock.
func share(f *os.File) error { return flock(f) }

// lockTemp returns the same error as flock.
func lockTemp(f *os.File) error { return flock(f) }

// removeHeld closes and removes a file.
func removeHeld(f *os.File, path string) error { return errors.Join(f.Close(), os.Remove(path)) }
