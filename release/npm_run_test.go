package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// An mcpProcess is a running askback mcp.
type mcpProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
}

// startMCP runs askback mcp, and waits for its first reply.
func startMCP(t *testing.T, cmd *exec.Cmd) *mcpProcess {
	t.Helper()
	p := &mcpProcess{t: t, cmd: cmd}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.out, cmd.Stderr = bufio.NewReader(out), &p.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if got := p.call(initialize); !strings.Contains(got, `"serverInfo"`) {
		t.Fatalf("got %q, %s", got, &p.errs)
	}
	return p
}

// call writes a request, and returns the reply.
func (p *mcpProcess) call(request string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.in, request+"\n"); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v: %s", err, &p.errs)
	}
	return line
}

// wait waits for the end of the process, and returns its state.
func (p *mcpProcess) wait() *os.ProcessState {
	p.t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		p.t.Fatal("askback mcp does not end")
	}
	return p.cmd.ProcessState
}

// Where npm runs no scripts, the launcher runs the program, passes signals on, and ends as the program does.
func TestNpmLauncherBehavesLikeTheProgram(t *testing.T) {
	t.Parallel()
	r, _ := newRelease(t)
	m := newMachine(t, r)
	m.run("npm", "install", "-g", "--ignore-scripts", "askback")
	launcher, err := os.ReadFile(filepath.Join(m.bin(), "askback"))
	if err != nil || !bytes.HasPrefix(launcher, []byte("#!")) {
		t.Fatalf("the launcher was replaced: %v", err)
	}
	if got, want := m.run("askback", "version"), versionOf(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := m.fails(2, "askback", "unknown"); !strings.Contains(got, "unknown command") {
		t.Errorf("an invalid command: got %q", got)
	}

	p := startMCP(t, m.command("askback", "mcp"))
	_ = p.in.Close()
	if state := p.wait(); state.ExitCode() != 0 {
		t.Errorf("at the end of input: got %v", state)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := startMCP(t, m.command("askback", "mcp"))
		_ = p.cmd.Process.Signal(signal)
		if state := p.wait(); state.ExitCode() != 130 {
			t.Errorf("%v: got %v, %s, want the code of an interruption", signal, state, &p.errs)
		}
	}
	p = startMCP(t, m.command("askback", "mcp"))
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	if state := p.wait(); state.ExitCode() != 2 {
		t.Errorf("SIGQUIT: got %v, want the code of the program", state)
	}
	p = startMCP(t, m.command("askback", "mcp"))
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	if status, _ := p.wait().Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGHUP {
		t.Errorf("SIGHUP: got %v, want the signal of the program", p.cmd.ProcessState)
	}
}

// An upgrade leaves a running program alone, and the next start is the new version.
func TestNpmUpgradeKeepsARunningProgram(t *testing.T) {
	t.Parallel()
	r, program := newRelease(t)
	m := newMachine(t, r)
	m.run("npm", "install", "-g", "askback")
	p := startMCP(t, m.command("askback", "mcp"))

	next := append(bytes.Clone(program), "the next version"...)
	b := testBuild(t, "0.2.0", next)
	if err := npmPackages(b); err != nil {
		t.Fatal(err)
	}
	r.Publish(t, filepath.Join(b.dist, "npm"))
	m.run("npm", "install", "-g", "askback@latest")
	installed, err := os.ReadFile(filepath.Join(m.bin(), "askback"))
	if err != nil || !bytes.Equal(installed, next) {
		t.Errorf("bin/askback is not the new program: %d bytes, %v", len(installed), err)
	}
	if got := p.call(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, `"id":2`) {
		t.Errorf("the running program: got %q", got)
	}
	_ = p.in.Close()
	if state := p.wait(); state.ExitCode() != 0 {
		t.Errorf("the running program ended: %v, %s", state, &p.errs)
	}
	startMCP(t, m.command("askback", "mcp"))
}
