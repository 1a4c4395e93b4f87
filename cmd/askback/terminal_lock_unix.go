//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// device tells one terminal from another, by whatever name it was opened.
func device(f *os.File) (string, bool) {
	info, err := f.Stat()
	if err != nil {
		return "", false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(stat.Rdev), true
}
