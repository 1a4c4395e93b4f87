//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to this user.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// isShared reports whether other users have any access to a file.
func isShared(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
