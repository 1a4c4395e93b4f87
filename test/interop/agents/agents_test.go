// Package agents_test tests Askback with Claude Code, Codex, OpenCode, GitHub Copilot CLI and Gemini CLI.
// Only their models are scripted.
package agents_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/proctest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeWord {
		serveProbe(os.Stdin, os.Stdout)
		return
	}
	runMore()
	clienttest.Loopback(m, "editors")
}

// runMore lets twice as many tests run in parallel as usual, because many tests wait for the timeouts of
// clients. It does nothing if a flag sets the number.
func runMore() {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if usual := runtime.GOMAXPROCS(0); parallel.Value.String() == strconv.Itoa(usual) {
		_ = parallel.Value.Set(strconv.Itoa(2 * usual))
	}
}

// patience is the deadline of each wait. It is long, because on a busy machine a client may need a minute
// for its first dialog.
const patience = 3 * time.Minute

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A client is a program that runs an agent.
type client struct {
	// program is the path in node_modules.
	program string
	// packages is the folder of the lock file with the program, or "" for this folder.
	packages string
	// init are the arguments of askback init. Without arguments, askback init does not run.
	init []string
	// prepare writes the files of the user before askback init.
	prepare func(*fixture)
	// args are the arguments that run the client without a terminal. The prompt follows.
	args    []string
	environ func(*fixture) []string
	// remote is true if Askback is at the address of a server.
	remote bool
	// configured changes the files after askback init.
	configured func(*fixture)
	// unless lists the hosts to which the client may connect.
	unless []string
}

var clients = map[string]client{
	"claude": claude, "codex": codex, "opencode": opencode, "copilot": copilot, "gemini": gemini,
}

// platform returns the name of this platform in npm.
func platform() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}

// A fixture is a project with a client and an instance of Askback.
type fixture struct {
	*clienttest.Instance
	t       testing.TB
	client  client
	program string
	project string
	model   *model
	proxy   string
	more    []string // further environment variables
	made    int      // how often makeLine was allowed
}

// newFixture creates a project, runs askback init in it, and returns the fixture.
func newFixture(t *testing.T, c client, script ...call) *fixture {
	t.Helper()
	program := filepath.Join(clienttest.PackagesIn(t, cmp.Or(c.packages, ".")), "node_modules",
		filepath.FromSlash(c.program))
	if _, err := os.Stat(program); err != nil {
		t.Skipf("LEFT OUT: %s is not there for %s: %v", c.program, platform(), err)
	}
	f := &fixture{
		Instance: clienttest.New(t), t: t, client: c, program: program, model: newModel(t, script...),
		proxy: clienttest.BlockingProxy(t, c.unless...),
	}
	f.project = filepath.Join(f.Home, "project")
	for _, dir := range []string{f.project, filepath.Join(f.Home, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if c.remote {
		f.more = []string{"ASKBACK_URL=" + f.URL, "ASKBACK_TOKEN=" + f.AgentToken}
	}
	c.prepare(f)
	if c.init != nil {
		f.mustRun(f.Program, append([]string{"init"}, c.init...)...)
	}
	if c.configured != nil {
		c.configured(f)
	}
	t.Cleanup(f.close)
	return f
}

// close checks that the model understood all requests. It declines all open asks, so that no
// client outlives its test.
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

// environ returns the environment of the client. Codex rejects a home in the folder for temporary files.
func (f *fixture) environ() []string {
	return slices.Concat(f.Environ(
		"TMPDIR="+filepath.Join(f.Home, "tmp"), "TERM=xterm-256color", "SHELL=/bin/bash",
		"HTTP_PROXY="+f.proxy, "HTTPS_PROXY="+f.proxy, "http_proxy="+f.proxy, "https_proxy="+f.proxy,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
	), f.client.environ(f), f.more)
}

// write writes a file in the home folder.
func (f *fixture) write(name string, content []byte) {
	f.t.Helper()
	path := filepath.Join(f.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// append appends to a file in the home folder.
func (f *fixture) append(name, text string) {
	f.t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.Home, filepath.FromSlash(name)))
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(name, append(raw, text...))
}

func (f *fixture) writeJSON(name string, v any) {
	f.t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(name, raw)
}

// mustRun runs a program in the project, requires success, and returns the output.
func (f *fixture) mustRun(program string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(bounded(f.t), program, args...)
	cmd.Dir, cmd.Env = f.project, f.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A run is a running client with a prompt.
type run struct {
	f   *fixture
	cmd *exec.Cmd
	out bytes.Buffer
}

func (f *fixture) start(args ...string) *run {
	f.t.Helper()
	r := &run{f: f}
	r.cmd = exec.CommandContext(bounded(f.t), f.program, slices.Concat(f.client.args, args)...)
	r.cmd.Dir, r.cmd.Env = f.project, f.environ()
	proctest.Bind(r.cmd)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	if err := r.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = proctest.Kill(r.cmd)
		_ = r.cmd.Wait()
		if f.t.Failed() {
			f.t.Logf("the client wrote:\n%s", r.out.String())
		}
	})
	return r
}

// end waits for the end of a run, which must succeed.
func (r *run) end() {
	r.f.t.Helper()
	if err := r.cmd.Wait(); err != nil {
		r.f.t.Errorf("%s: %v", r.f.client.program, err)
	}
}
