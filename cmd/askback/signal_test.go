package main

import (
	"syscall"
	"testing"
)

// A signal that arrives twice, because a launcher passes it on, stops the server once: it ends by itself.
func TestRepeatedSignalDoesNotKill(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	p := &process{env: env, dir: t.TempDir()}
	if err := p.start("askback", "serve", "--listen", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.waitForStderr(t, "msg=serving")
	for range 3 {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // the server may have ended
	}
	if !p.wait() || p.result != nil {
		t.Errorf("got %v, want exit code 0: %s", p.result, p.err.String())
	}
}
