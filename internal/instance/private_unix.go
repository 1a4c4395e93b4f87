//go:build unix

package instance

import (
	"fmt"
	"os"
	"syscall"
)

// readPrivate reads a file, or returns an error unless it belongs to this user and no other
// user can read or write it. With the server.json of another user, the token would be
// sent to that user's server.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is not this user's alone, and is not trusted", path)
	}
	return readAll(f)
}
