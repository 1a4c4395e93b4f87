//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"errors"

	tea "charm.land/bubbletea/v2"
)

// canStop returns an error, so that no panel is shown: the terminal delivers whole lines.
func canStop(int) error { return errors.ErrUnsupported }

// signalWatch does nothing, because no panel is shown on this system.
type signalWatch struct{}

func watchSignals(*tea.Program, *TTY) *signalWatch { return &signalWatch{} }

func (*signalWatch) close() {}

func (*signalWatch) stopProcess() {}
