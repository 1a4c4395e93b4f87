//go:build !(linux || darwin || freebsd || netbsd || openbsd || windows)

package terminal

import (
	"context"
	"errors"
)

// setCbreak returns an error, so the terminal delivers whole lines: single keys are not
// supported on this system.
func setCbreak(int) error { return errors.ErrUnsupported }

// foreground returns true: the foreground process group is not known on this system.
func foreground(int) bool { return true }

// discard does nothing: this is not supported on this system.
func discard(int) error { return nil }

// page returns an error, so the text is written below the prompt: a pager is not supported
// on this system.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }

// edit returns an error: the editor is not supported on this system.
func (t *TTY) edit(context.Context, string, string) (string, error) {
	return "", errors.ErrUnsupported
}
