//go:build unix

package service

import (
	"os"
	"syscall"
)

// owner returns the user id of the owner of a directory. It returns false if the directory does not exist or
// belongs to root.
func owner(dir string) (uid int, ok bool) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return 0, false
	}
	return int(stat.Uid), true
}
