// Package racedetector omits tests that the race detector cannot check usefully.
package racedetector

import "testing"

// Omit skips a test if the race detector is on. It is for long tests whose goroutines share no memory, or
// that only read pages. scripts/test.sh searches for the tests that call Omit, and runs these tests without
// the race detector. The call must therefore be in the test itself.
func Omit(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("omitted with the race detector")
	}
}
