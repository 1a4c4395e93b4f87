//go:build !linux

package clienttest

import (
	"fmt"
	"os"
	"testing"
)

// Loopback runs [Main] without a network namespace, which exists on Linux only.
func Loopback(m *testing.M, _ ...string) {
	if os.Getenv(Folder) != "" {
		fmt.Fprintln(os.Stderr, "LEFT OUT: the network namespace for clients (Linux only)")
	}
	Main(m)
}
