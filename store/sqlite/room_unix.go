//go:build linux || darwin

package sqlite

import (
	"path/filepath"
	"syscall"
)

// hasRoom reports whether the disk of the database has room for a reserve. If the free
// space cannot be read, it returns true.
func hasRoom(path string) bool {
	var s syscall.Statfs_t
	if syscall.Statfs(filepath.Dir(path), &s) != nil {
		return true
	}
	return int64(s.Bavail)*int64(s.Bsize) >= reserveSize
}
