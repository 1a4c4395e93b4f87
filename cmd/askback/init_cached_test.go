package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cachedProgram copies the program into the cache of npx in a home folder. It returns an environment as npx
// sets it, and the path of the copy that agents run.
func cachedProgram(t *testing.T) (env []string, project, cached, copied string) {
	t.Helper()
	env, project = initFolder(t, ".cursor")
	program, err := exec.LookPath("askback")
	if err != nil {
		t.Fatal(err)
	}
	var home string
	for _, one := range env { // the last value of a variable applies
		if dir, ok := strings.CutPrefix(one, "HOME="); ok {
			home = dir
		} else if state, ok := strings.CutPrefix(one, "XDG_STATE_HOME="); ok {
			copied = filepath.Join(state, "askback", "bin", "askback")
		}
	}
	modules := filepath.Join(home, ".npm", "_npx", "1f2e", "node_modules")
	cached = filepath.Join(modules, "askback", "bin", "askback")
	for _, dir := range []string{filepath.Dir(cached), filepath.Join(modules, ".bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(cached, content, 0o755)
	}
	if err == nil {
		err = os.Symlink(cached, filepath.Join(modules, ".bin", "askback"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(env, "PATH="+filepath.Join(modules, ".bin")+":/usr/bin:/bin"), project, cached, copied
}

// Run by npx, askback init copies the program, because npm may empty its cache, and agents run the copy.
// Without an agent that runs it, the copy is removed.
func TestInitCopiesAProgramInACache(t *testing.T) {
	t.Parallel()
	env, dir, cached, copied := cachedProgram(t)
	run := func(want string, args ...string) string {
		t.Helper()
		p := &process{env: env, dir: dir}
		if err := p.start(args[0], args[1:]...); err != nil {
			t.Fatal(err)
		}
		ended := p.wait()
		out := p.out.String() + p.err.String()
		if !ended || !strings.Contains(out, want) {
			t.Fatalf("%s: %v, got %q, want it to contain %q", strings.Join(args, " "), p.result, out, want)
		}
		return out
	}
	run("nothing was changed", cached, "init", "cursor", "--dry-run")
	if _, err := os.Stat(copied); err == nil {
		t.Error("--dry-run copies the program")
	}
	run("copied this program to ", cached, "init", "cursor")
	settings, err := os.ReadFile(filepath.Join(dir, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(settings), `"command": "`+copied+`"`) {
		t.Errorf("got %s, %v, want the program %s", settings, err, copied)
	}
	if out := run("up to date", cached, "init", "cursor"); strings.Contains(out, "copied") {
		t.Errorf("the same program was copied again: %q", out)
	}
	if out := run("lane", cached, "doctor", "--lanes"); strings.Contains(out, "would run") {
		t.Errorf("askback doctor does not run the copy: %q", out)
	}

	// A later version replaces the copy.
	if err := os.WriteFile(copied, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run("another version of this program; run askback init again", cached, "doctor")
	run("copied this program to ", cached, "init", "cursor")
	run("a copy of this program", cached, "doctor")
	one, err := os.ReadFile(cached)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := os.ReadFile(copied); err != nil || !bytes.Equal(one, two) {
		t.Errorf("the copy has %d bytes, %v", len(two), err)
	}

	// The copy needs no cache, and removes itself.
	if err := os.RemoveAll(filepath.Dir(cached)); err != nil {
		t.Fatal(err)
	}
	run("askback ", copied, "version")
	run("removed "+copied, copied, "init", "cursor", "--remove")
	if _, err := os.Stat(copied); err == nil {
		t.Error("the copy is still there")
	}
}

// A link in the PATH is the program that it leads to, so files contain only its name.
func TestInitWritesTheNameOfALinkedProgram(t *testing.T) {
	t.Parallel()
	env, dir := initFolder(t, ".cursor")
	bin := t.TempDir()
	program, err := exec.LookPath("askback")
	if err == nil {
		err = os.Symlink(program, filepath.Join(bin, "askback"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{env: append(env, "PATH="+bin+":/usr/bin:/bin"), dir: dir}
	if err := p.start(filepath.Join(bin, "askback"), "init", "cursor"); err != nil {
		t.Fatal(err)
	}
	if !p.wait() || p.result != nil {
		t.Fatalf("%v: %s", p.result, p.err.String())
	}
	settings, err := os.ReadFile(filepath.Join(dir, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(settings), `"command": "askback"`) {
		t.Errorf("got %s, %v, want the name askback", settings, err)
	}
}
