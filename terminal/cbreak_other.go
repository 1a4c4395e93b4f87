//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package terminal

import "errors"

// setCbreak is not supported on this system: the terminal delivers whole lines.
func setCbreak(int) error { return errors.ErrUnsupported }

// foreground returns true: it cannot be found out on this system.
func foreground(int) bool { return true }
