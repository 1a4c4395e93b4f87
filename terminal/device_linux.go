package terminal

import "golang.org/x/sys/unix"

const getMode, setMode = unix.TCGETS, unix.TCSETS

// discard discards unread input, as tcflush(fd, TCIFLUSH) does.
func discard(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
