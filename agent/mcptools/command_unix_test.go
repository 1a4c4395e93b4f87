//go:build unix

package mcptools_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/agent/mcptools"
)

// stopProcess suspends a process. The signal takes effect a little later, which can be observed only on
// Linux.
func stopProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process has stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(stat), ") ")
		return err != nil || strings.HasPrefix(state, "T")
	})
}

// A server that does not read its input blocks no caller, not even with an input that fills the pipe.
func TestHangingServerBlocksNoCaller(t *testing.T) {
	s, log := newCommand(t, "tools")
	pid, err := strconv.Atoi(call(t, s, "pid", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	stopProcess(t, pid)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		fails(t, s, ctx, "echo", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`, "The call was cancelled")
		if d := time.Since(began); d > time.Minute {
			t.Errorf("it took %v", d)
		}
		cancel()
	}
	began := time.Now()
	s.Close()
	if d := time.Since(began); d > time.Minute {
		t.Errorf("closing took %v", d)
	}
	if !strings.Contains(log.String(), "signal: killed") {
		t.Errorf("got the log %s", log)
	}
}

// A server that does not respond after a cancelled call is started again.
func TestHangingServerIsRestarted(t *testing.T) {
	s, log := newCommand(t, "tools", func(o *mcptools.Options) { o.Respond = 200 * time.Millisecond })
	first := call(t, s, "pid", `{}`)
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	stopProcess(t, pid)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	fails(t, s, ctx, "pid", `{}`, "The call was cancelled")
	eventually(t, "the process has ended", func() bool { return strings.Contains(log.String(), "signal: killed") })
	if second := call(t, s, "pid", `{}`); second == first {
		t.Errorf("got the process %s again", second)
	}
}

// A server that responds keeps its process when a call is cancelled.
func TestRespondingServerIsNotRestarted(t *testing.T) {
	t.Parallel() // the test mostly waits
	s, _ := newCommand(t, "tools", func(o *mcptools.Options) { o.Respond = 5 * time.Second })
	first := call(t, s, "pid", `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	fails(t, s, ctx, "wait", `{}`, "The call was cancelled")
	later := time.Now().Add(6 * time.Second)
	eventually(t, "it would have been ended", func() bool { return time.Now().After(later) })
	if second := call(t, s, "pid", `{}`); second != first {
		t.Errorf("got the processes %s and %s", first, second)
	}
}

// Closing a server ends its process and the processes that it started.
func TestCloseEndsProcessesOfCommand(t *testing.T) {
	t.Parallel() // the test mostly waits
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
	fails(t, s, t.Context(), "echo", `{}`, "the server of the agents is stopping")
}

// A command that crashes leaves behind no process that it started.
func TestCrashEndsProcessesOfCommand(t *testing.T) {
	t.Parallel() // the test mostly waits
	s, _ := newCommand(t, "tools")
	child, err := strconv.Atoi(call(t, s, "child", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, s, t.Context(), "crash", `{}`, "exit status 7")
	eventually(t, "the child has ended", func() bool { return syscall.Kill(child, 0) != nil })
}
