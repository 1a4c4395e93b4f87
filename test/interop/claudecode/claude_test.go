// Package claudecode_test runs the real Claude Code against Askback: the model
// is a script, everything else is what users have.
package claudecode_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

func TestMain(m *testing.M) { clienttest.Main(m) }

// patience bounds each wait for something that comes soon.
const patience = time.Minute

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// key is what Claude Code sends to the model; its last 20 characters are
// approved beforehand.
const key = "sk-ant-api03-0123456789-0123456789-scripted-model"

// A desk is a project with Claude Code in it, and Askback beside it.
type desk struct {
	*clienttest.Place
	t       testing.TB
	claude  string // the program
	project string
	model   *model
	outside string   // a proxy that refuses
	more    []string // environment
}

// A way is how Claude Code reaches Askback.
type way struct {
	remote   bool     // at the address of a server, not on this machine
	args     []string // of askback init
	hookless bool     // whoever uses it wants no hooks
}

var (
	here       = way{}
	byAddress  = way{remote: true} // its hooks too
	byCommands = way{remote: true, args: []string{"--no-http"}}
	byTool     = way{hookless: true}
)

// ways are those by which claude -p asks for permissions.
func ways() map[string]way {
	return map[string]way{"by hook": here, "by the hook of an address": byAddress, "by the permission tool": byTool}
}

// room is for as many Claude Codes at a time: each takes some hundred megabytes.
var room = make(chan struct{}, 4)

// newDesk makes a project whose configuration Askback itself writes.
func newDesk(t testing.TB, w way, script ...turn) *desk {
	t.Helper()
	program := claude(t)
	room <- struct{}{}
	t.Cleanup(func() { <-room })
	d := &desk{Place: clienttest.New(t), t: t, claude: program, model: newModel(t, script...), outside: clienttest.Outside(t)}
	d.project = filepath.Join(d.Home, "project")
	if w.remote {
		d.more = []string{"ASKBACK_URL=" + d.URL, "ASKBACK_TOKEN=" + d.AgentToken}
	}
	d.profile("askback")
	if err := os.MkdirAll(d.project, 0o755); err != nil {
		t.Fatal(err)
	}
	d.in(d.Program, append([]string{"init", "claude-code", "--project"}, w.args...)...)
	if w.hookless {
		d.write("project/.claude/settings.local.json", map[string]any{"disableAllHooks": true})
	}
	t.Cleanup(d.close)
	return d
}

// close lets go whatever still waits, so that no hook outlives its test.
func (d *desk) close() {
	d.model.noOddities()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	page, err := d.Person.List(ctx, askback.Query{Status: askback.AnyStatus})
	if err != nil {
		return // the server is gone, and whoever waited was told
	}
	for _, ask := range page.Items {
		if d.t.Failed() {
			d.t.Logf("%s is %s: %s %+v", ask.ID, ask.Status, ask.Context, ask.Outcome)
		}
		_, _ = d.Person.Decline(ctx, ask.ID, "the test is over")
	}
}

// settled waits until an ask is no longer open.
func (d *desk) settled(id string) askback.Ask {
	d.t.Helper()
	ask, err := d.Person.Wait(bounded(d.t), id)
	if err != nil {
		d.t.Fatalf("wait for %s: %v", id, err)
	}
	return ask
}

// told waits for what the model is told about a call, which is no error.
func (d *desk) told(id string, parts ...string) {
	d.t.Helper()
	got := d.model.result(id)
	for _, part := range parts {
		if got.isError || !strings.Contains(got.text, part) {
			d.t.Errorf("%s: the model was told %+v, want %s in it", id, got, part)
		}
	}
}

// refused waits for an error that the model is told about a call.
func (d *desk) refused(id string, parts ...string) {
	d.t.Helper()
	got := d.model.result(id)
	for _, part := range parts {
		if !got.isError || !strings.Contains(got.text, part) {
			d.t.Errorf("%s: the model was told %+v, want an error with %s", id, got, part)
		}
	}
}

// deferSoon makes the hook put off what is not answered at once.
func (d *desk) deferSoon() {
	d.t.Helper()
	if strings.Contains(d.settings(), `/hooks/claude-code"`) {
		d.change(".claude/settings.json", `/hooks/claude-code"`, `/hooks/claude-code?defer=1s"`)
		return
	}
	d.change(".claude/settings.json", `askback hook claude-code"`, `askback hook claude-code --defer 1s"`)
}

// settings are those that Claude Code has for the project.
func (d *desk) settings() string {
	d.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.project, ".claude", "settings.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

// made says whether a file is in the project.
func (d *desk) made(name string) bool {
	_, err := os.Stat(filepath.Join(d.project, name))
	return err == nil
}

// change rewrites what askback init wrote, as users do.
func (d *desk) change(name, before, after string) {
	d.t.Helper()
	path := filepath.Join(d.project, name)
	raw, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if !strings.Contains(string(raw), before) {
		d.t.Fatalf("%s has no %s:\n%s", name, before, raw)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), before, after)), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// profile is what Claude Code knows of its user: who was shown the welcome, has
// a key, trusts the project, and uses these of its MCP servers.
func (d *desk) profile(servers ...string) {
	d.t.Helper()
	d.write(".claude.json", map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "autoUpdates": false,
		"customApiKeyResponses": map[string]any{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": map[string]any{d.project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "enabledMcpjsonServers": servers,
		}},
	})
}

// claude is the program of the platform's own package: npm installs it without
// the script that would put it elsewhere.
func claude(t testing.TB) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	tt, ok := t.(*testing.T)
	if !ok {
		t.Fatal("only tests have packages")
	}
	path := filepath.Join(clienttest.Packages(tt), "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (d *desk) write(name string, v any) {
	d.t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		d.t.Fatal(err)
	}
	path := filepath.Join(d.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// environ is the environment of Claude Code.
func (d *desk) environ() []string {
	return append(d.Environ(
		"ANTHROPIC_BASE_URL="+d.model.url, "ANTHROPIC_API_KEY="+key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"CLAUDE_CODE_TMPDIR="+d.Home,
		"HTTP_PROXY="+d.outside, "HTTPS_PROXY="+d.outside, "http_proxy="+d.outside, "https_proxy="+d.outside,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "TERM=xterm-256color", "SHELL=/bin/bash",
	), d.more...)
}

// in runs a program in the project, to its end.
func (d *desk) in(program string, args ...string) []byte {
	d.t.Helper()
	cmd := exec.CommandContext(bounded(d.t), program, args...)
	cmd.Dir, cmd.Env = d.project, d.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// stop ends the server as an operator does: whoever waits there is told.
func (d *desk) stop() {
	d.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.Home, "state", "askback", "server.json"))
	var server struct {
		PID int `json:"pid"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &server)
	}
	if err == nil {
		err = signal(server.PID, syscall.SIGTERM)
	}
	if err != nil {
		d.t.Fatalf("stop the server: %v", err)
	}
}

func signal(pid int, s syscall.Signal) error {
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(s)
	}
	return err
}
