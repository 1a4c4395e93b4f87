package claudecode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A person without Askback works in a project whose team shares the hooks. Each tool and dialog works as
// without the hooks, and no error is shown. Only the MCP server is reported as failed (T46).
func TestSharedHooksHaveNoEffectWithoutAskback(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{args: []string{"--shared"}}, bash("toolu_1", "touch approved"),
		calls("toolu_2", "AskUserQuestion", database()), text("Thank you."))
	if f.fileExists(settings) {
		t.Errorf("%s exists", settings)
	}
	f.more = []string{"PATH=" + os.Getenv("PATH")}
	s := f.startTerminal("--permission-mode", "default", "Do it.")
	s.startWith("touch approved")
	f.approve(s, "touch approved", "toolu_1")
	f.wantResult("toolu_1", "")
	s.chooseSecond("SQLite")
	f.wantResult("toolu_2", `"Which database?"="SQLite"`)
	s.waitFor("Thank you.", "? for shortcuts") // while hooks run, their event is shown
	if text := s.Text(); strings.Contains(text, "hook") || strings.Contains(text, "not found") {
		t.Errorf("a hook wrote something:\n%s", text)
	}
	if out := string(f.in(f.claude, "mcp", "list")); !strings.Contains(out, "Failed to connect") {
		t.Errorf("got %s, want that the server is reported as failed", out)
	}
}

// The hooks of one person are in a file that Git ignores after Claude Code has started once. Hooks that an
// earlier version wrote into the shared file are moved there (F9).
func TestHooksOfOnePersonAreNotShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{args: []string{"--shared"}}, calls("toolu_1", "AskUserQuestion", database()),
		text("Thank you."))
	const guard = "command -v askback >/dev/null || exit 0; exec "
	f.change(".claude/settings.json", guard, "") // as earlier versions wrote it
	f.in("git", "init", "-q")
	f.in(f.Program, "init", "claude-code")
	raw, err := os.ReadFile(filepath.Join(f.project, ".claude", "settings.json"))
	if err == nil && strings.Contains(string(raw), "askback") {
		t.Errorf("the shared file still contains %s", raw)
	}
	s := f.startTerminal("Ask me.")
	ask := f.Open(1)[0]
	s.waitFor("Which database?")
	f.Person.Decline(bounded(t), ask.ID, "no")
	if out := string(f.in("git", "status", "--short", "--untracked-files=all")); strings.Contains(out,
		"settings.local.json") {
		t.Errorf("Git does not ignore the hooks:\n%s", out)
	}
}
