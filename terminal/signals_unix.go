//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// canStop returns nil, because this system has the signals that a panel needs.
func canStop(int) error { return nil }

// A signalWatch sends a program the signals that concern a panel.
type signalWatch struct {
	signals chan os.Signal
	ended   chan struct{}
}

// watchSignals sends program a message when the size of the terminal changes, and for Ctrl+Z, until the
// result is closed.
func watchSignals(program *tea.Program, t *TTY) *signalWatch {
	w := &signalWatch{make(chan os.Signal, 4), make(chan struct{})}
	signal.Notify(w.signals, syscall.SIGWINCH, syscall.SIGTSTP)
	go func() {
		defer close(w.ended)
		for s := range w.signals {
			if s == syscall.SIGTSTP {
				program.Send(stopMsg{})
				continue
			}
			program.Send(tea.WindowSizeMsg{Width: t.Width(), Height: t.Height()})
		}
	}()
	return w
}

func (w *signalWatch) close() {
	signal.Stop(w.signals)
	close(w.signals)
	<-w.ended
}

// stopWait is the time within which the signal stops this process.
const stopWait = time.Second

// stopProcess stops this process until it is continued. It does nothing without a shell that could continue
// the process, because the system would not stop such a process, either. The signal is SIGSTOP, because a Go
// program that once received SIGTSTP cannot restore its default.
func (w *signalWatch) stopProcess() {
	if session, err := unix.Getsid(0); err != nil || session == syscall.Getpgrp() {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	select {
	case <-continued:
	case <-time.After(stopWait):
	}
}
