//go:build unix

package mcptools_test

import (
	"strconv"
	"syscall"
	"testing"
)

// stopProcess makes a process do nothing.
func stopProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// Closing a server ends its process and those that it started.
func TestProcessesOfACommandEnd(t *testing.T) {
	s, _ := newCommand(t, "tools")
	pid, child := call(t, s, "pid", `{}`), call(t, s, "child", `{}`)
	s.Close()
	for _, text := range []string{pid, child} {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "process "+text+" has ended", func() bool { return syscall.Kill(n, 0) != nil })
	}
	fails(t, s, t.Context(), "echo", `{}`, "Askback is stopping")
}

// A command that crashes leaves no process behind that it started.
func TestProcessesOfACrashedCommandEnd(t *testing.T) {
	s, _ := newCommand(t, "tools")
	child, err := strconv.Atoi(call(t, s, "child", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, s, t.Context(), "crash", `{}`, "exit status 7")
	eventually(t, "the child has ended", func() bool { return syscall.Kill(child, 0) != nil })
}
