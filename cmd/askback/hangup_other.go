//go:build !unix

package main

import "os"

// notifyHangup returns nil: this system has no SIGHUP. A changed file is read without it.
func notifyHangup() (hangup <-chan os.Signal, stop func()) { return nil, func() {} }
