//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyHangup returns a channel that receives SIGHUP, the signal to read the settings
// again, until stop is called.
func notifyHangup() (hangup <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
