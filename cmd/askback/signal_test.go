package main

import (
	"net"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// A signal that arrives several times, because a launcher passes it on, stops the server once: it ends by
// itself. An open connection keeps it from ending earlier.
func TestRepeatedSignalDoesNotKill(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	p := &process{env: env, dir: t.TempDir()}
	if err := p.start("askback", "serve", "--listen", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.waitForStderr(t, "msg=serving")
	address := regexp.MustCompile(`address=http://(\S+)`).FindStringSubmatch(p.err.String())
	if address == nil {
		t.Fatalf("no address: %s", p.err.String())
	}
	conn, err := net.Dial("tcp", address[1])
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 3 {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // the server may have ended
		<-tick.C
	}
	_ = conn.Close()
	if !p.wait() || p.result != nil {
		t.Errorf("got %v, want exit code 0: %s", p.result, p.err.String())
	}
}
