//go:build !unix

package main

import "os"

// hangups gives nothing where there is no such signal: the file is looked at anyway.
func hangups() (again <-chan os.Signal, stop func()) { return nil, func() {} }
