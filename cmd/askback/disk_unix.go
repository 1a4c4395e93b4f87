//go:build linux || darwin

package main

import "syscall"

// freeBytes returns how much this user can still write to a folder.
func freeBytes(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
