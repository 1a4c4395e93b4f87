//go:build !linux

package instance

import "os"

// lockInode locks nothing. On BSD and macOS, SQLite would wait for the lock.
func lockInode(*os.File) (locked bool, err error) { return false, nil }
