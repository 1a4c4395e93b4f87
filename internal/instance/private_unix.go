//go:build unix

package instance

import (
	"fmt"
	"os"
	"syscall"
)

// readPrivate reads a file. It returns an error for a symbolic link, a file of another
// user, and a file that other users can read or write. A server.json of another user could
// direct the token to the server of that user.
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
