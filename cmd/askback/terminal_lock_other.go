//go:build !unix

package main

import "os"

// device knows no terminal where they have no numbers: there nobody waits for a turn.
func device(*os.File) (string, bool) { return "", false }
