//go:build darwin || freebsd || netbsd || openbsd

package terminal

import "syscall"

const getMode, setMode = syscall.TIOCGETA, syscall.TIOCSETA
