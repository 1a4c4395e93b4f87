//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreJobControl makes the use of the terminal from the background an error. By default
// it would stop the process, and with it the database that other commands wait for.
func ignoreJobControl() { signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU) }
