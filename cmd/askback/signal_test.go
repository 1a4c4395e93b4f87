package main

import (
	"os"
	"testing"
)

// A signal that arrives twice, because a launcher passes it on, ends the process only once. Otherwise this
// test would end with the signal.
func TestRepeatedSignalDoesNotKill(t *testing.T) {
	own, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := untilSignal()
	defer stop()
	for range 3 {
		if err := own.Signal(os.Interrupt); err != nil {
			t.Skipf("no signals on this system: %v", err)
		}
		<-ctx.Done()
		within(signalInterval/10, func() bool { return false })
	}
}
