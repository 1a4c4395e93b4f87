//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs says whether a file belongs to this user.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// isShared says whether others can do anything with a file.
func isShared(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
