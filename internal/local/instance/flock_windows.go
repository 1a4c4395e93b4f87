package instance

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is the high half of the position of the byte that is locked. It is beyond the content of every file,
// because other processes could not read a locked byte.
const lockOffset = 1 << 30

// share waits for a shared lock on f.
func share(f *os.File) error { return lockFile(f, 0) }

// flock takes an exclusive lock on f without waiting. It returns [ErrHeld] if another process, or another open file
// of this process, has a lock on the same file.
func flock(f *os.File) error {
	// A shared lock of the same open file would prevent an exclusive one. Without a lock, this fails.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	err := lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	return err
}

func lockFile(f *os.File, flags uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// lockTemp locks nothing: an open file could not be renamed. [RemoveLeftovers] cannot remove a file that is open in
// another process.
func lockTemp(*os.File) error { return errors.ErrUnsupported }

// removeHeld closes a file and removes it. It is kept if another process has it open.
func removeHeld(f *os.File, path string) error { return errors.Join(f.Close(), os.Remove(path)) }
