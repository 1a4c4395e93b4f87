//go:build darwin || freebsd || netbsd || openbsd

package terminal

import (
	"syscall"
	"unsafe"
)

// discard is tcflush(fd, TCIFLUSH): a flush of the reading side.
func discard(fd int) error {
	reading := int32(syscall.TCIFLUSH)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCFLUSH, uintptr(unsafe.Pointer(&reading)))
	if errno != 0 {
		return errno
	}
	return nil
}
