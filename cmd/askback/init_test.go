package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// askback init asks at the terminal before it writes. Enter alone is a no, and y is a yes.
func TestInitAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	for keys, writes := range map[string]bool{"\n": false, "no\n": false, "y\n": true, "Yes\n": true} {
		env, dir := initFolder(t, ".cursor")
		s := startTerminal(t, env, 100, "sh", "-c", "cd '"+dir+"' && exec askback init")
		s.waitForScreen(`(?s)new      \.cursor/mcp\.json.*change this file\? \[y/N\] $`)
		s.typeKeys(keys)
		s.waitExit(map[bool]int{false: exitNo, true: exitDone}[writes])
		if _, err := os.Stat(filepath.Join(dir, ".cursor", "mcp.json")); (err == nil) != writes {
			t.Errorf("%q: got %v, want a file: %v", keys, err, writes)
		}
	}
}

// If another program changes a file while askback init waits for an answer, its change stays.
func TestInitKeepsConcurrentChanges(t *testing.T) {
	t.Parallel()
	env, dir := initFolder(t, ".cursor")
	path := filepath.Join(dir, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{`{}`, `{"mcpServers": {"other": {"command": "other"}}}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s := startTerminal(t, env, 100, "sh", "-c", "cd '"+dir+"' && exec askback init")
		s.waitForScreen(`change this file\? \[y/N\] $`)
		meanwhile := content + "\n"
		if err := os.WriteFile(path, []byte(meanwhile), 0o600); err != nil {
			t.Fatal(err)
		}
		s.typeKeys("y\n")
		s.waitForScreen(`(?s)has changed meanwhile.*run askback\s+init again`)
		s.waitExit(exitRefused)
		if got, err := os.ReadFile(path); err != nil || string(got) != meanwhile {
			t.Errorf("got %q, %v, want %q", got, err, meanwhile)
		}
	}
}

// initFolder returns an environment and the folder of a project. The home folder of the environment has the
// folders of the given clients, and its PATH has no clients.
func initFolder(t *testing.T, clients ...string) (env []string, project string) {
	t.Helper()
	home := t.TempDir()
	for _, name := range clients {
		if err := os.Mkdir(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("askback")
	if err != nil {
		t.Fatal(err)
	}
	env, _ = sandbox(t, "HOME="+home, "PATH="+filepath.Dir(program)+":/usr/bin:/bin")
	return env, t.TempDir()
}

// Without an agent on this machine, askback init prints one message with the next step.
func TestInitWithoutAgentsPrintsOneMessage(t *testing.T) {
	t.Parallel()
	env, dir := initFolder(t)
	p := &process{env: env, dir: dir}
	if err := p.start("askback", "init"); err != nil {
		t.Fatal(err)
	}
	const want = "askback: no supported agent was found in the PATH or in your home folder; to name one, run " +
		"askback init NAME, where NAME is one of antigravity, claude-code,"
	if !p.wait() || exitCode(p.result) != exitUsage || p.out.String() != "" ||
		!strings.HasPrefix(p.err.String(), want) || strings.Count(p.err.String(), "\n") != 1 {
		t.Errorf("got %v, %q, %q, want only %q", p.result, p.out.String(), p.err.String(), want)
	}
}
