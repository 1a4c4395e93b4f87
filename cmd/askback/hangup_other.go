//go:build !unix

package main

import "os"

// notifyHangup returns nil: this system has no SIGHUP. Changes of the file are noticed.
func notifyHangup() (hangup <-chan os.Signal, stop func()) { return nil, func() {} }
