// Package agents_test runs the real Codex, OpenCode and GitHub Copilot CLI
// against Askback. Their model is a script. Everything else is what users have.
package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeWord {
		serveProbe(os.Stdin, os.Stdout)
		return
	}
	clienttest.Loopback(m)
}

// patience bounds each wait for something that comes soon.
const patience = time.Minute

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A client is one program that hosts an agent.
type client struct {
	// program is its path in node_modules.
	program string
	// init are the arguments of askback init that set it up.
	init []string
	// prepare writes what its user has before askback init.
	prepare func(*bench)
	// args run it without a person at the terminal. The prompt follows.
	args    []string
	environ func(*bench) []string
	// unless are hosts that no setting keeps it from.
	unless []string
}

var clients = map[string]client{"codex": codex, "opencode": opencode, "copilot": copilot}

// platform is how npm names this system.
func platform() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}

// A bench is a project with a client in it, and Askback.
type bench struct {
	*clienttest.Place
	t       testing.TB
	client  client
	program string
	project string
	model   *model
	proxy   string
}

// newBench makes a project and lets Askback itself configure the client there.
func newBench(t *testing.T, c client, script ...call) *bench {
	t.Helper()
	program := filepath.Join(clienttest.Packages(t), "node_modules", filepath.FromSlash(c.program))
	if _, err := os.Stat(program); err != nil {
		t.Skipf("LEFT OUT: %s is not there for %s: %v", c.program, platform(), err)
	}
	b := &bench{Place: clienttest.New(t), t: t, client: c, program: program, model: newModel(t, script...), proxy: clienttest.Outside(t, c.unless...)}
	b.project = filepath.Join(b.Home, "project")
	for _, dir := range []string{b.project, filepath.Join(b.Home, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.prepare(b)
	b.mustRun(b.Program, append([]string{"init"}, c.init...)...)
	t.Cleanup(b.close)
	return b
}

// close declines what is still open, so that no client outlives its test.
func (b *bench) close() {
	b.model.noOddities()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	page, err := b.Person.List(ctx, askback.Query{Status: askback.AnyStatus})
	if err != nil {
		return // the server is gone, and what waited there has ended
	}
	for _, ask := range page.Items {
		if b.t.Failed() {
			b.t.Logf("%s is %s: %s %+v", ask.ID, ask.Status, ask.Context, ask.Outcome)
		}
		_, _ = b.Person.Decline(ctx, ask.ID, "the test is over")
	}
}

// environ is the environment of the client. Its home must not be in the folder
// for temporary files: Codex refuses that.
func (b *bench) environ() []string {
	return append(b.Environ(
		"TMPDIR="+filepath.Join(b.Home, "tmp"), "TERM=xterm-256color", "SHELL=/bin/bash",
		"HTTP_PROXY="+b.proxy, "HTTPS_PROXY="+b.proxy, "http_proxy="+b.proxy, "https_proxy="+b.proxy,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
	), b.client.environ(b)...)
}

// write writes a file below the home folder.
func (b *bench) write(name string, content []byte) {
	b.t.Helper()
	path := filepath.Join(b.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// append adds to the end of a file below the home folder.
func (b *bench) append(name, text string) {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.Home, filepath.FromSlash(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(name, append(raw, text...))
}

func (b *bench) writeJSON(name string, v any) {
	b.t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(name, raw)
}

// mustRun runs a program in the project, to its end.
func (b *bench) mustRun(program string, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(bounded(b.t), program, args...)
	cmd.Dir, cmd.Env = b.project, b.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A run is one run of the client, with a prompt.
type run struct {
	b   *bench
	cmd *exec.Cmd
	out bytes.Buffer
}

func (b *bench) start(args ...string) *run {
	b.t.Helper()
	r := &run{b: b}
	r.cmd = exec.CommandContext(bounded(b.t), b.program, slices.Concat(b.client.args, args)...)
	r.cmd.Dir, r.cmd.Env = b.project, b.environ()
	r.cmd.WaitDelay = patience // what it started may hold its output
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	if err := r.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if b.t.Failed() {
			b.t.Logf("the client wrote:\n%s", r.out.String())
		}
	})
	return r
}

// end waits for the end of a run, which is no failure.
func (r *run) end() {
	r.b.t.Helper()
	if err := r.cmd.Wait(); err != nil {
		r.b.t.Errorf("%s: %v", r.b.client.program, err)
	}
}
