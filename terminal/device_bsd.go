//go:build darwin || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

const getMode, setMode = unix.TIOCGETA, unix.TIOCSETA

// discard discards unread input, as tcflush(fd, TCIFLUSH) does.
func discard(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
