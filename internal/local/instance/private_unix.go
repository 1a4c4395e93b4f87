//go:build unix

package instance

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openPrivate opens a regular file that belongs to this user, and that only this user can read or write. For
// any other file, and for a symbolic link, it returns an error.
func openPrivate(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !isOwn(info)) {
		err = fmt.Errorf("%s does not belong to this user alone, and is not trusted", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// names returns the number of hard links of a file.
func names(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// isOwn reports whether a file belongs to this user, and only this user can read or write it.
func isOwn(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// isRunning reports whether there may be a process with an id.
func isRunning(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
