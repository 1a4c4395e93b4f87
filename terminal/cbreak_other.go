//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package terminal

import "errors"

// single is not known here: the terminal gives whole lines.
func single(int) error { return errors.ErrUnsupported }

// foreground is not known here.
func foreground(int) bool { return true }
