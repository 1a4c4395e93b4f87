//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreJobControl lets a command in the background go on when it wants to use
// the terminal: it gets an error instead of being stopped, which would stop
// everybody who waits for the database it holds.
func ignoreJobControl() { signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU) }
