//go:build !unix

package local

import (
	"errors"
	"os"
)

// flock refuses: here Askback is a client of a server elsewhere.
func flock(*os.File) error {
	return errors.New("this system cannot hold a database; use a server elsewhere")
}

// share refuses too.
func share(f *os.File) error { return flock(f) }
