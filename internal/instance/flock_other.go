//go:build !unix

package instance

import (
	"errors"
	"os"
)

// flock returns an error: on this system Askback is only a client of other servers.
func flock(*os.File) error {
	return errors.New("this system cannot hold a database; use a server elsewhere")
}

// share returns the same error as flock.
func share(f *os.File) error { return flock(f) }
