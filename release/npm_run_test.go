package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// nodePlatform is the name of the package with the program for this machine.
var nodePlatform = npmScope + nodeSystems[runtime.GOOS] + "-" + nodeProcessors[runtime.GOARCH]

// putProgram writes a package for this machine into a folder. Its program prints the version.
func putProgram(t *testing.T, folder, version string) {
	t.Helper()
	folder = filepath.Join(folder, nodePlatform)
	manifest := `{"name":"` + nodePlatform + `","version":"` + version + `"}`
	writeFile(t, filepath.Join(folder, "package.json"), manifest, 0o644)
	writeFile(t, filepath.Join(folder, "bin", "askback"), "#!/bin/sh\necho from "+version+"\n", 0o755)
}

// newLauncher returns a machine and the folder of the launcher in ~/project, which has no program.
func newLauncher(t *testing.T) (machine, string) {
	t.Helper()
	r, _ := newRelease(t)
	m := newMachine(t, r)
	m.home = filepath.Join(m.home, "home", "ana")
	project := filepath.Join(m.home, "project")
	writeFile(t, filepath.Join(project, "package.json"), "{}", 0o644)
	m.run("npm", "install", "--prefix", project, "--ignore-scripts", "--omit=optional", "askback")
	return m, filepath.Join(project, "node_modules", "askback")
}

// Node also searches folders above, NODE_PATH and ~/.node_modules, which others may write. The launcher runs no
// program in them, and no program of another version.
func TestNpmLauncherRunsOnlyItsOwnProgram(t *testing.T) {
	t.Parallel()
	m, launcher := newLauncher(t)
	start := filepath.Join(launcher, "bin", "askback")
	for _, folder := range []string{"node_modules", ".node_modules", ".node_libraries", "path", "../node_modules"} {
		putProgram(t, filepath.Join(m.home, folder), "0.1.0")
		cmd := m.command(start, "version")
		cmd.Env = append(cmd.Env, "NODE_PATH="+filepath.Join(m.home, "path"))
		if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("the program is missing")) {
			t.Errorf("with a program in %s: got %v, %s", folder, err, out)
		}
		if err := os.RemoveAll(filepath.Join(m.home, folder, npmScope)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{filepath.Dir(launcher), filepath.Join(launcher, "node_modules")} {
		putProgram(t, folder, "0.0.9")
		if got := m.fails(1, start, "version"); !strings.Contains(got, "the optional package "+nodePlatform+" 0.1.0") {
			t.Errorf("with another version in %s: got %s", folder, got)
		}
		putProgram(t, folder, "0.1.0")
		if got := m.run(start, "version"); got != "from 0.1.0\n" {
			t.Errorf("with the program in %s: got %s", folder, got)
		}
	}
}

// pnpm has a folder for each package with links to its dependencies, and links to the package from the project.
func TestNpmLauncherRunsInTheLayoutOfPnpm(t *testing.T) {
	t.Parallel()
	m, launcher := newLauncher(t)
	store, platform := filepath.Join(m.home, "store"), filepath.Join(m.home, "platform")
	putProgram(t, platform, "0.1.0")
	own := filepath.Join(store, "askback@0.1.0", "node_modules")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(own, npmScope), 0o755),
		os.Symlink(filepath.Join(platform, nodePlatform), filepath.Join(own, nodePlatform)),
		os.Rename(launcher, filepath.Join(own, "askback")),
		os.Symlink(filepath.Join(own, "askback"), launcher),
	); err != nil {
		t.Fatal(err)
	}
	if got := m.run(filepath.Join(launcher, "bin", "askback"), "version"); got != "from 0.1.0\n" {
		t.Errorf("got %s", got)
	}
}
