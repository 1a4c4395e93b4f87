//go:build linux || darwin

package sqlite

import (
	"path/filepath"
	"syscall"
)

// hasRoom reports whether this user can still write as much as a reserve to the
// disk of a database, as far as the system knows.
func hasRoom(path string) bool {
	var s syscall.Statfs_t
	if syscall.Statfs(filepath.Dir(path), &s) != nil {
		return true
	}
	return int64(s.Bavail)*int64(s.Bsize) >= reserveSize
}
