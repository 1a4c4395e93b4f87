//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// deviceNumber returns the number of a terminal, which is the same for all of its names. It returns false if
// the number is not known.
func deviceNumber(f *os.File) (string, bool) {
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
