//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"context"
	"errors"
)

// page is not known here: the text is written below the prompt.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }
