package clienttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort returns the number of a free loopback port for a server that starts later.
// It is below the ports that systems assign to listeners on port 0, so that no other
// server gets it in the meantime.
func FreePort(t testing.TB) int {
	t.Helper()
	const first, last = 20_000, 32_000
	var err error
	for range 100 {
		port := first + rand.IntN(last-first)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatalf("find a free port: %v", err)
	return 0
}
