//go:build !unix

package main

import "os"

// deviceNumber returns false: terminals have no number on this system.
func deviceNumber(*os.File) (string, bool) { return "", false }
