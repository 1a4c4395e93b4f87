package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// askback doctor starts the MCP servers of agents, and reports a tool, a server and a model that do not
// exist.
func TestDoctorChecksAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosting")); err != nil {
		t.Fatal(err)
	}
	settings, clerk := filepath.Join(dir, "askback.yaml"), filepath.Join(dir, "agents", "clerk.md")
	env, _ := sandbox(t, "NOTES_KEY=of-the-notes", "CLERK_SECRET="+clerkSecret, "ASKBACK_CONFIG="+settings,
		"ANTHROPIC_API_KEY=")
	findings := func() (lines []string) {
		cmd := exec.Command("askback", "doctor")
		cmd.Env = env
		out, _ := cmd.Output() // 1 if there is a failure
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, " agents ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	want := func(what string, all ...string) {
		t.Helper()
		got := findings()
		for _, w := range all {
			if len(got) != 1 || !strings.Contains(got[0], w) {
				t.Errorf("%s: got %q, want %q", what, got, w)
			}
		}
	}
	want("as it is", "ok ", "clerk is valid")
	text := fileText(t, clerk)
	for _, tt := range []struct{ what, from, to, want string }{
		{"an unknown tool", "notes", "notes.fly", `no tool "fly"`},
		{"a server that is not there", "notes", "calendar", "calendar"},
	} {
		changed := strings.Replace(text, "tools: ["+tt.from, "tools: ["+tt.to, 1)
		changed = strings.Replace(changed, ", "+tt.from+"]", ", "+tt.to+"]", 1)
		if changed == text {
			t.Fatalf("%s: the definition has other tools", tt.what)
		}
		if err := os.WriteFile(clerk, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		want(tt.what, "FAIL", tt.want)
	}
	if err := os.WriteFile(clerk, []byte(strings.Replace(text, "model: clerk", "model: sonnet", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(findings(), ""); !strings.Contains(got, "FAIL") ||
		!strings.Contains(got, "sonnet") && !strings.Contains(got, "model") {
		t.Errorf("a model without a key: got %q", got)
	}
}
