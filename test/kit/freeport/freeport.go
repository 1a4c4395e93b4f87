// Package freeport picks ports for servers that tests start later.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// picked holds the ports that this process has picked.
var picked sync.Map

// Pick returns the number of a free loopback port. It never returns the same number twice. Systems assign
// higher ports to connections and to listeners on port 0, so no other program gets the port in the meantime.
func Pick(t testing.TB) int {
	t.Helper()
	const first, last = 20_000, 32_000
	var err error
	for range 100 {
		port := first + rand.IntN(last-first)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			if _, again := picked.LoadOrStore(port, true); !again {
				return port
			}
		}
	}
	t.Fatalf("found no free port: %v", err)
	return 0
}
