//go:build !unix

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
