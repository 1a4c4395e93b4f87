//go:build unix

package config_test

import (
	"strings"
	"syscall"
	"testing"
)

// A pipe is not opened, because opening would block until a program writes to the pipe.
func TestPipeIsNotADefinition(t *testing.T) {
	files := append(writeAgents(t, ""), "agents/pipe.md")
	if err := syscall.Mkfifo("agents/pipe.md", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := settingsOfAgents.LoadAgents(files, env); err == nil ||
		!strings.Contains(err.Error(), "agents/pipe.md is not a regular file") {
		t.Errorf("got %v", err)
	}
}
