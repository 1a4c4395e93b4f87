//go:build !linux && !darwin

package main

// freeBytes knows nothing on other systems.
func freeBytes(string) (free int64, known bool) { return 0, false }
