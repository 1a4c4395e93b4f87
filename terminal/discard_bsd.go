//go:build darwin || freebsd || netbsd || openbsd

package terminal

import (
	"syscall"
	"unsafe"
)

// discard discards unread input, as tcflush(fd, TCIFLUSH) does.
func discard(fd int) error {
	queue := int32(syscall.TCIFLUSH)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCFLUSH, uintptr(unsafe.Pointer(&queue)))
	if errno != 0 {
		return errno
	}
	return nil
}
