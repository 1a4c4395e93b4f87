//go:build unix

package instance

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// share waits for a shared lock on f.
func share(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return err
	}
}

// lockTemp locks a temporary file while it is written.
func lockTemp(f *os.File) error { return flock(f) }

// removeHeld removes a locked file, and closes it.
func removeHeld(f *os.File, path string) error { return errors.Join(os.Remove(path), f.Close()) }

// flock takes an exclusive lock on f without waiting. It returns [ErrHeld] if another
// process, or another open file of this process, has a lock on the same file.
func flock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
