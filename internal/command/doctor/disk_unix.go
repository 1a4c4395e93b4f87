//go:build linux || darwin

package doctor

import "syscall"

// freeBytes returns how many bytes this user can still write to a folder. known is false if
// the system returns an error.
func freeBytes(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
