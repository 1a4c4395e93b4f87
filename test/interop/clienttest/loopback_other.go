//go:build !linux

package clienttest

import (
	"fmt"
	"os"
	"testing"
)

// Loopback is [Main]: a network of their own for clients is made on Linux only.
func Loopback(m *testing.M) {
	if os.Getenv(Folder) != "" {
		fmt.Fprintln(os.Stderr, "LEFT OUT: a network of its own for clients: it is made on Linux only")
	}
	Main(m)
}
