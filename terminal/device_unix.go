//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setCbreak makes a terminal deliver single keys without echo. Signals and the translation of
// newlines stay as they are.
func setCbreak(fd int) error {
	mode, err := unix.IoctlGetTermios(fd, getMode)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setMode, mode)
}

// foreground reports whether this process is in the foreground of its terminal, so that it may read from the
// terminal. If this is unknown, foreground returns true.
func foreground(fd int) bool {
	var group int32 // unix.IoctlGetInt reads an int, whose size differs
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno != 0 || group == 0 || int(group) == syscall.Getpgrp() // 0 is a group outside of this container
}
