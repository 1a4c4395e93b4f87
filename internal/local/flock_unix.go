//go:build unix

package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// share waits for a lock that several processes can have at a time, none of which
// has [flock].
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
