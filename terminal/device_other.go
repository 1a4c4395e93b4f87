//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"context"
	"errors"
)

// setCbreak is not supported on this system: the terminal delivers whole lines.
func setCbreak(int) error { return errors.ErrUnsupported }

// foreground returns true: it cannot be found out on this system.
func foreground(int) bool { return true }

// discard does nothing: these systems have no /dev/tty.
func discard(int) error { return nil }

// page is not supported on this system. The text is written below the prompt instead.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }
