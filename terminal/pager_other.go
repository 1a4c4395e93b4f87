//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"context"
	"errors"
)

// page is not supported on this system. The text is written below the prompt instead.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }
