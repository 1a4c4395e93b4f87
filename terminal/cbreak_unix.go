//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"syscall"
	"unsafe"
)

// setCbreak makes a terminal deliver single keys without echo. Signals and the translation of
// newlines stay as they are.
func setCbreak(fd int) error {
	var mode syscall.Termios
	if err := ioctl(fd, getMode, &mode); err != nil {
		return err
	}
	mode.Lflag &^= syscall.ICANON | syscall.ECHO
	mode.Cc[syscall.VMIN], mode.Cc[syscall.VTIME] = 1, 0
	return ioctl(fd, setMode, &mode)
}

func ioctl(fd int, request uintptr, mode *syscall.Termios) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(mode))); errno != 0 {
		return errno
	}
	return nil
}

// foreground reports whether this process is in the foreground of its terminal, and so may
// read from it. If that cannot be found out, it returns true.
func foreground(fd int) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno != 0 || group == 0 || int(group) == syscall.Getpgrp() // 0 is a group outside of this container
}
