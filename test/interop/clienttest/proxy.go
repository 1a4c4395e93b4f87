package clienttest

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BlockingProxy starts a proxy that rejects all requests, and returns its
// address. The test fails if there were requests, except by HTTPS to the hosts
// in unless.
func BlockingProxy(t testing.TB, unless ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &blockingProxy{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go o.refuse(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, line := range o.requests {
			if slices.ContainsFunc(unless, func(host string) bool { return strings.Contains(line, " "+host+":443 ") }) {
				continue
			}
			t.Errorf("request to another machine: %s", line)
		}
	})
	return "http://" + l.Addr().String()
}

type blockingProxy struct {
	mu       sync.Mutex
	requests []string // the first lines of the requests
}

func (o *blockingProxy) refuse(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 4096)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	n, _ := conn.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\r\n")
	o.mu.Lock()
	o.requests = append(o.requests, line)
	o.mu.Unlock()
	_, _ = conn.Write([]byte("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
}
