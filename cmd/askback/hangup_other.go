//go:build !unix

package main

import "os"

// notifyHangup returns a nil channel: this system has no SIGHUP. A change of the settings file is noticed
// without a signal.
func notifyHangup() (hangup <-chan os.Signal, stop func()) { return nil, func() {} }
