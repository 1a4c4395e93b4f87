//go:build !unix

package instance

import (
	"errors"
	"os"
)

// flock returns an error, because Askback cannot open a database on this system.
func flock(*os.File) error {
	return errors.New("this system cannot open a database; use a remote server")
}

// share returns the same error as flock.
func share(f *os.File) error { return flock(f) }
