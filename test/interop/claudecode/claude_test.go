// Package claudecode_test tests Askback with Claude Code. Only its model is
// scripted.
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

// patience is the deadline of each wait. It is long, because on a busy machine Claude Code may need a minute for
// its first dialog.
const patience = 3 * time.Minute

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// key is the API key of Claude Code. Its last 20 characters are approved in the
// profile.
const key = "sk-ant-api03-0123456789-0123456789-scripted-model"

// A fixture is a project with Claude Code and an instance of Askback.
type fixture struct {
	*clienttest.Instance
	t       testing.TB
	claude  string // the program
	project string
	model   *model
	outside string   // a proxy that rejects all requests
	more    []string // further environment variables
}

// A setup is a way in which Claude Code connects to Askback.
type setup struct {
	remote  bool     // at the address of a server, not on this machine
	args    []string // the arguments of askback init
	noHooks bool     // the user disables hooks
	plugin  bool     // the plugin instead of askback init
}

var (
	local          = setup{}
	remoteHTTP     = setup{remote: true} // the hooks use HTTP too
	remoteCommands = setup{remote: true, args: []string{"--no-http"}}
	permissionTool = setup{noHooks: true}
)

// permissionSetups returns the setups in which claude -p asks for permissions.
func permissionSetups() map[string]setup {
	return map[string]setup{
		"by hook": local, "by the hook of an address": remoteHTTP, "by the permission tool": permissionTool,
	}
}

// slots limits the concurrent processes of Claude Code, which take some hundred
// megabytes each.
var slots = make(chan struct{}, 4)

// newFixture creates a project, runs askback init in it, and returns the fixture.
func newFixture(t testing.TB, w setup, script ...turn) *fixture {
	t.Helper()
	program := claude(t)
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	f := &fixture{
		Instance: clienttest.New(t), t: t, claude: program, model: newModel(t, script...),
		outside: clienttest.BlockingProxy(t),
	}
	f.project = filepath.Join(f.Home, "project")
	if w.remote {
		f.more = []string{"ASKBACK_URL=" + f.URL, "ASKBACK_TOKEN=" + f.AgentToken}
	}
	f.profile("askback")
	if err := os.MkdirAll(f.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if w.plugin {
		f.installPlugin()
	} else {
		f.in(f.Program, append([]string{"init", "claude-code", "--project"}, w.args...)...)
	}
	if w.noHooks {
		f.write("project/.claude/settings.json", map[string]any{"disableAllHooks": true})
	}
	t.Cleanup(f.close)
	return f
}

// close checks that the model understood all requests. It declines all open asks, so that every hook ends
// with its test.
func (f *fixture) close() {
	f.model.checkUnexpected()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	page, err := f.Person.List(ctx, askback.Query{Status: askback.AnyStatus})
	if err != nil {
		return // the server has stopped, and the calls have failed
	}
	for _, ask := range page.Items {
		if f.t.Failed() {
			f.t.Logf("%s is %s: %s %+v", ask.ID, ask.Status, ask.Context, ask.Outcome)
		}
		_, _ = f.Person.Decline(ctx, ask.ID, "the test is over")
	}
}

// settled waits until an ask is settled and returns the ask.
func (f *fixture) settled(id string) askback.Ask {
	f.t.Helper()
	ask, err := f.Person.Wait(bounded(f.t), id)
	if err != nil {
		f.t.Fatalf("wait for %s: %v", id, err)
	}
	return ask
}

// wantResult waits for the result of a call. The result must contain the parts and must not be an error.
func (f *fixture) wantResult(id string, parts ...string) {
	f.t.Helper()
	got := f.model.result(id)
	for _, part := range parts {
		if got.isError || !strings.Contains(got.text, part) {
			f.t.Errorf("%s: the model got %+v, want %s in it", id, got, part)
		}
	}
}

// wantErrorResult waits for the result of a call. The result must contain the parts and must be an error.
func (f *fixture) wantErrorResult(id string, parts ...string) {
	f.t.Helper()
	got := f.model.result(id)
	for _, part := range parts {
		if !got.isError || !strings.Contains(got.text, part) {
			f.t.Errorf("%s: the model got %+v, want an error with %s", id, got, part)
		}
	}
}

// deferSoon configures the hook to defer after one second.
func (f *fixture) deferSoon() {
	f.t.Helper()
	if strings.Contains(f.settings(), `/hooks/claude-code"`) {
		f.change(settings, `/hooks/claude-code"`, `/hooks/claude-code?defer=1s"`)
		return
	}
	f.change(settings, `askback hook claude-code"`, `askback hook claude-code --defer 1s"`)
}

// settings is the file with the hooks.
const settings = ".claude/settings.local.json"

// settings returns the settings of Claude Code for the project.
func (f *fixture) settings() string {
	f.t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.project, settings))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(raw)
}

// fileExists reports whether a file is in the project.
func (f *fixture) fileExists(name string) bool {
	_, err := os.Stat(filepath.Join(f.project, name))
	return err == nil
}

// change replaces a string, which must occur, in a file of the project.
func (f *fixture) change(name, before, after string) {
	f.t.Helper()
	path := filepath.Join(f.project, name)
	raw, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(raw), before) {
		f.t.Fatalf("%s has no %s:\n%s", name, before, raw)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), before, after)), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// profile writes the state of Claude Code for a user who has finished the
// setup, trusts the project and uses these MCP servers.
func (f *fixture) profile(servers ...string) {
	f.t.Helper()
	f.write(".claude.json", map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "autoUpdates": false,
		"customApiKeyResponses": map[string]any{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": map[string]any{f.project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
		}},
	})
	f.write(".claude/settings.json", map[string]any{"enabledMcpjsonServers": append([]string{}, servers...)})
}

// claude returns the path of the program in the package of the platform.
func claude(t testing.TB) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	tt, ok := t.(*testing.T)
	if !ok {
		t.Fatal("only tests have packages")
	}
	path := filepath.Join(clienttest.Packages(tt), "node_modules", "@anthropic-ai",
		"claude-code-"+runtime.GOOS+"-"+arch, "claude")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (f *fixture) write(name string, v any) {
	f.t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		f.t.Fatal(err)
	}
	path := filepath.Join(f.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// environ returns the environment of Claude Code.
func (f *fixture) environ() []string {
	return append(f.Environ(
		"ANTHROPIC_BASE_URL="+f.model.url, "ANTHROPIC_API_KEY="+key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"CLAUDE_CODE_TMPDIR="+f.Home,
		"HTTP_PROXY="+f.outside, "HTTPS_PROXY="+f.outside, "http_proxy="+f.outside, "https_proxy="+f.outside,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "TERM=xterm-256color", "SHELL=/bin/bash",
	), f.more...)
}

// in runs a program in the project, requires success, and returns the output.
func (f *fixture) in(program string, args ...string) []byte {
	f.t.Helper()
	cmd := exec.CommandContext(bounded(f.t), program, args...)
	cmd.Dir, cmd.Env = f.project, f.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// stop stops the server with SIGTERM.
func (f *fixture) stop() {
	f.t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.Home, "state", "askback", "server.json"))
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
		f.t.Fatalf("stop the server: %v", err)
	}
}

func signal(pid int, s syscall.Signal) error {
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(s)
	}
	return err
}
