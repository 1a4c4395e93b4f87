//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"syscall"
	"unsafe"
)

// single makes a terminal give single keys and draw nothing by itself. All else stays:
// signals, and what Enter and line feeds do.
func single(fd int) error {
	var mode syscall.Termios
	if err := control(fd, getMode, &mode); err != nil {
		return err
	}
	mode.Lflag &^= syscall.ICANON | syscall.ECHO
	mode.Cc[syscall.VMIN], mode.Cc[syscall.VTIME] = 1, 0
	return control(fd, setMode, &mode)
}

func control(fd int, what uintptr, mode *syscall.Termios) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), what, uintptr(unsafe.Pointer(mode))); errno != 0 {
		return errno
	}
	return nil
}

// foreground reports whether this process may read from its terminal: whether it is in the
// foreground there. A terminal that cannot tell is taken to let it.
func foreground(fd int) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno != 0 || group == 0 || int(group) == syscall.Getpgrp() // 0 is a group of another container
}
