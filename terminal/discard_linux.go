package terminal

import "syscall"

// tcflsh is TCFLSH of <asm-generic/ioctls.h>; package syscall lacks it on some machines.
const tcflsh = 0x540b

// discard is tcflush(fd, TCIFLUSH).
func discard(fd int) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tcflsh, syscall.TCIFLUSH); errno != 0 {
		return errno
	}
	return nil
}
