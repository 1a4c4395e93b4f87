package main

import (
	"os"
	"os/exec"
	"path/filepath"
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

// initFolder returns an environment with a home folder that has the folders of some clients and
// no clients in its PATH, and the folder of a project.
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
