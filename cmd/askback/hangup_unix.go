//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups gives the signals that mean: read the settings again.
func hangups() (again <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
