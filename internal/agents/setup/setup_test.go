package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The note about a client that does not answer contains the time limit. If the client prints a table, the
// note contains only the status.
func TestReportOfAClientIsOneLine(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	for _, c := range []struct{ client, program, script, want string }{
		{"opencode", "opencode", "sleep 60", "opencode mcp list did not finish within 0.3 s"},
		{"gemini", "gemini", "exit 3", "gemini mcp list failed: exit status 3"},
		{
			"copilot", "copilot", "echo No servers.",
			"copilot mcp list does not list the server askback yet: do the steps above first",
		},
		{
			"claude-code", "claude", "echo 'askback:  askback mcp - Connected'",
			"claude mcp list: askback: askback mcp - Connected",
		},
		{"codex", "codex", "cat <<'END'\n" +
			"Name     Command  Args            Cwd  Status   Auth\n" +
			"askback  askback  mcp --wait 23h  -    enabled  Unsupported\nEND", "codex mcp list: askback is enabled"},
	} {
		if err := os.WriteFile(filepath.Join(bin, c.program), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		limit := time.Minute
		if c.client == "opencode" {
			limit = 300 * time.Millisecond
		}
		if got := listedByClient(t.Context(), c.client, ".", limit); got != c.want {
			t.Errorf("%s: got %q, want %q", c.client, got, c.want)
		}
	}
}

// The error for an unknown name suggests the right name.
func TestUnknownClientGetsASuggestion(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "claude-code", "Claude Code": "claude-code", "vs-code": "vscode", "Visual Studio Code": "vscode",
		"code": "vscode", "github-copilot": "copilot", "gemini-cli": "gemini", "agy": "antigravity",
		"cusror": "cursor", "open_code": "opencode", "emacs": "", "": "", "e": "",
	} {
		if got := strings.Join(similarClients(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
