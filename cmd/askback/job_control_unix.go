//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreJobControl makes it an error to use the terminal from the background. By default
// that would stop the process, and commands that use its database would hang.
func ignoreJobControl() { signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU) }
