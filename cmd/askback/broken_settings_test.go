package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The ways in which commands handle a settings file that has errors, while a server runs.
const (
	warns   = "uses the server, and prints a warning"
	rejects = "needs the settings, and exits with 2"
	ignores = "does not read the settings"
)

// withBrokenSettings has each command with arguments.
var withBrokenSettings = []struct{ args, want string }{
	{"ask --timeout 1s Which?", warns},
	{"confirm --timeout 1s Go?", warns},
	{"cancel latest", warns},
	{"inbox", warns},
	{"list", warns},
	{"show latest", warns},
	{"answer latest yes", warns},
	{"decline latest", warns},
	{"reassign latest ana", warns},
	{"snooze latest 1h", warns},
	{"grant list", warns},
	{"grant remove grt_1", warns},
	{"init codex", ignores},
	{"agent check", rejects},
	{"agent add helper", rejects},
	{"agent list", warns},
	{"run helper Go!", warns},
	{"serve", rejects},
	{"login", warns},
	{"doctor", rejects},
	{"person list", warns},
	{"person add ana", warns},
	{"person remove ana", warns},
	{"group list", warns},
	{"group add all root", warns},
	{"group remove all", warns},
	{"route list", warns},
	{"route set -", warns},
	{"token add --kind agent --name bot", warns},
	{"token list", warns},
	{"token remove tok_1", warns},
	{"channel test email", rejects},
	{"channel link telegram", warns},
	{"channel list", warns},
	{"channel remove con_1", warns},
	{"tell ask_1 words", warns},
	{"webhook list", warns},
	{"webhook add http://127.0.0.1:1/x", warns},
	{"webhook pause end_1", warns},
	{"webhook resume end_1", warns},
	{"webhook rotate end_1", warns},
	{"webhook test end_1", warns},
	{"webhook resend end_1", warns},
	{"webhook remove end_1", warns},
	{"webhook secret", ignores},
	{"webhook deliveries", warns},
	{"webhook retry ask_1", warns},
	{"acp -- true", warns},
	{"attach codex", warns},
	{"attach opencode", warns},
	{"github", ignores},
	{"mcp", warns},
	{"completion bash", ignores},
	{"man", ignores},
	{"version", ignores},
}

// Beside a running server, a command that only talks to the server does without a settings file that has errors. A
// command that needs the settings prints the errors.
func TestBrokenSettingsDisableNoCommandBesideServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env, _ := sandbox(t, "ASKBACK_CONFIG="+file, "HOME="+dir)
	write("database: sqlite:data/x.db\n")
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := launchIn(t, dir, env, "serve", "--listen", "127.0.0.1:0")
	server.waitForStderr(t, "msg=serving")
	write("database: \"sqlite:data/x.db\" # ours\nlissten: x\ngrups: y\n")
	run := func(args string) (out string, code int) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), testTimeout)
		defer stop()
		cmd := exec.CommandContext(ctx, "askback", strings.Fields(args)...)
		cmd.Env, cmd.Dir = env, dir
		all, _ := cmd.CombinedOutput()
		return string(all), cmd.ProcessState.ExitCode()
	}
	const problem = "lissten"
	for _, c := range withBrokenSettings {
		if strings.HasPrefix(c.args, "attach") { // it waits for the other program
			p := launchIn(t, dir, env, strings.Fields(c.args)...)
			p.waitForStderr(t, "warning: the settings file has errors")
			_ = p.cmd.Process.Kill()
			<-p.ended
			continue
		}
		out, code := run(c.args)
		warned := strings.Count(out, "warning: the settings file has errors")
		got := ignores
		switch {
		case warned == 1 && strings.Contains(out, problem) && !strings.Contains(out, "no server"):
			got = warns
		case warned == 0 && strings.Contains(out, problem) && code != 0:
			got = rejects
		case warned > 1 || strings.Contains(out, problem):
			got = "something else"
		}
		if got != c.want {
			t.Errorf("askback %s %s, want a command that %s:\n%s(exit code %d)", c.args, got, c.want, out, code)
		}
	}
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-server.ended
	if out, code := run("list"); code != exitUsage || !strings.Contains(out, problem) ||
		strings.Contains(out, "warning") {
		t.Errorf("without a server, list exits with %d:\n%s", code, out)
	}
}

// A server that was started with another settings file is not used in place of the server of a broken file.
func TestBrokenSettingsDoNotLeadToAnotherServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("lissten: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"list", "--config", file}, exitUsage},
		{[]string{"list", "--config", file + ".missing"}, exitUsage},
		{[]string{"list", "--config", file, "--db", s.place.Database}, 0},
	} {
		cmd := exec.Command("askback", c.args...)
		cmd.Env = s.env
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%q exits with %d, want %d: %s", c.args, cmd.ProcessState.ExitCode(), c.code, errs.String())
		}
	}
}

// The table has each command, except hooks, which read an event first.
func TestEveryCommandIsTriedWithBrokenSettings(t *testing.T) {
	var all commands
	parser := all.parser()
	_ = kong.Visit(parser.Model, func(n kong.Visitable, next kong.Next) error {
		node, ok := n.(*kong.Node)
		if !ok || node.Type != kong.CommandNode || len(node.Children) > 0 {
			return next(nil)
		}
		path := strings.TrimPrefix(node.FullPath(), "askback ")
		if !strings.HasPrefix(path, "hook ") && !slices.ContainsFunc(withBrokenSettings,
			func(c struct{ args, want string }) bool { return c.args == path || strings.HasPrefix(c.args, path+" ") }) {
			t.Errorf("%q is not in the table", path)
		}
		return next(nil)
	})
}
