//go:build !unix

package doctor

import "io/fs"

// isOwn returns true: this system has no user ids.
func isOwn(fs.FileInfo) bool { return true }

// isShared returns false: this system has no permission bits.
func isShared(fs.FileInfo) bool { return false }
