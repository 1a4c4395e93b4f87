package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/askback/askback/internal/server/hosting"
)

// A server that is stopped while it starts exits without an error.
func TestServerStopsWhileItStarts(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "XDG_STATE_HOME": dir, "ASKBACK_DB": "", "ASKBACK_CONFIG": "",
	} {
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log strings.Builder
	if code := run(ctx, []string{"serve", "--listen", "127.0.0.1:0"},
		streams{nil, io.Discard, &log}); code != exitDone {
		t.Errorf("exit code %d, want %d", code, exitDone)
	}
	if !strings.Contains(log.String(), "stopped before the server was ready") {
		t.Errorf("the log is:\n%s", log.String())
	}
}

// At a terminal, a server with agents prints the command that runs one.
func TestServerAtATerminalNamesAnAgent(t *testing.T) {
	if got := hostedSteps(nil, ""); got != "" {
		t.Errorf("without agents: got %q", got)
	}
	if got, want := hostedSteps(hosting.NewDemoRunner(),
		" --config a.yaml"), "Run an agent:      askback --config a.yaml run demo\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
