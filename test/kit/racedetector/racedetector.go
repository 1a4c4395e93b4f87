// Package racedetector omits tests in which the race detector finds nothing.
package racedetector

import "testing"

// Omit skips a test if the race detector is on. It is for a long test whose goroutines share
// nothing, or that only looks at pages. scripts/test.sh runs each test that calls it without
// the race detector, so the call must be in the test itself.
func Omit(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("omitted with the race detector")
	}
}
