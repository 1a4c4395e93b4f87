package terminal

import "syscall"

// tcflsh is TCFLSH of <asm-generic/ioctls.h>, which package syscall lacks on some
// architectures.
const tcflsh = 0x540b

// discard discards unread input, as tcflush(fd, TCIFLUSH) does.
func discard(fd int) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tcflsh, syscall.TCIFLUSH); errno != 0 {
		return errno
	}
	return nil
}
