package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/freeport"
	"github.com/askback/askback/test/kit/proctest"
	"github.com/askback/askback/test/program"
)

// patience is how long each wait may take. On a busy machine, a client may need a minute to start.
const patience = 3 * time.Minute

// An Instance is an installation of Askback: a home folder, a database and the
// built program.
type Instance struct {
	Home    string // HOME of all programs of the instance
	Program string // the path of askback
	URL     string // the URL of the server
	// Settings is the path of the settings file, or "".
	Settings string
	// AgentToken and PersonToken are the tokens of the agent "robot" and the
	// responder "ana".
	AgentToken, PersonToken string
	// Person is the client of the person. Robot is the client of the agent.
	Person, Robot *httpapi.Client

	operatorToken string // created by Idle

	t      testing.TB
	log    lockedBuffer
	server *exec.Cmd
	ended  chan struct{}
}

// New creates an instance and starts its server, which is stopped at the end of
// the test.
func New(t testing.TB) *Instance {
	t.Helper()
	return Configured(t, nil)
}

// Configured is like New, but writes a settings file first. settings returns the content of the file for the
// URL of the server.
func Configured(t testing.TB, settings func(url string) string) *Instance {
	t.Helper()
	// The path is short, because Codex has a socket in its home.
	home, err := os.MkdirTemp("", "a-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	p := &Instance{Home: home, Program: builtProgram(t), t: t}
	p.URL = fmt.Sprintf("http://127.0.0.1:%d", freeport.Pick(t))
	if settings != nil {
		p.Settings = filepath.Join(p.Home, "askback.yaml")
		if err := os.WriteFile(p.Settings, []byte(settings(p.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.Start()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the log of the server:\n%s", p.log.String())
		}
	})
	p.AgentToken = strings.TrimSpace(p.Run("token", "add", "--kind", "agent", "--name", "robot"))
	p.PersonToken = strings.TrimSpace(p.Run("token", "add", "--kind", "responder", "--name", "ana"))
	p.Person = httpapi.NewClient(p.URL, p.PersonToken, nil)
	p.Robot = httpapi.NewClient(p.URL, p.AgentToken, nil)
	return p
}

// Environ returns the environment of the programs of the instance, with the given
// variables added.
func (p *Instance) Environ(more ...string) []string {
	environ := []string{
		"HOME=" + p.Home, "XDG_STATE_HOME=" + filepath.Join(p.Home, "state"), "TMPDIR=" + os.TempDir(),
		"PATH=" + filepath.Dir(p.Program) + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8",
	}
	if p.Settings != "" {
		environ = append(environ, "ASKBACK_CONFIG="+p.Settings)
	}
	return append(environ, more...)
}

// Start starts the server at p.URL, and waits until the server serves the database. A command in the
// background may have opened the database before. That command then serves the database at the same address
// until the server takes over.
func (p *Instance) Start() {
	p.t.Helper()
	p.server = exec.Command(p.Program, "serve", "--listen", strings.TrimPrefix(p.URL, "http://"))
	p.server.Env, p.server.Stderr = p.Environ(), &p.log
	proctest.Bind(p.server)
	if err := p.server.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func(cmd *exec.Cmd) { _ = cmd.Wait(); close(ended) }(p.server)
	place := instance.Place{Database: filepath.Join(p.Home, "state", "askback", "askback.db")}
	p.until("the server runs", func() error {
		if now, _ := place.Last(); now.PID != p.server.Process.Pid {
			return fmt.Errorf("process %d serves the database", now.PID)
		}
		return nil
	})
}

// Kill kills the server with SIGKILL and waits for its end.
func (p *Instance) Kill() {
	_ = proctest.Kill(p.server)
	<-p.ended
}

// Run runs a command of askback, which must succeed, and returns its standard output.
func (p *Instance) Run(args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Program, args...)
	cmd.Env, cmd.Dir = p.Environ(), p.Home
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("askback %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), said.String())
	}
	return out.String()
}

// Open waits until there are n open asks and returns them, oldest first.
func (p *Instance) Open(n int) []askback.Ask {
	p.t.Helper()
	var asks []askback.Ask
	p.until(fmt.Sprintf("%d open asks", n), func() error {
		page, err := p.Person.List(p.t.Context(), askback.Query{Status: askback.Pending})
		if err == nil && len(page.Items) != n {
			err = fmt.Errorf("there are %d", len(page.Items))
		}
		asks = page.Items
		return err
	})
	return asks
}

// Answer answers an ask as the person.
func (p *Instance) Answer(id string, a askback.Answer) {
	p.t.Helper()
	if _, err := p.Person.Answer(p.t.Context(), id, a); err != nil {
		p.t.Fatalf("answer %s: %v", id, err)
	}
}

// until calls try until it returns nil. The test fails after patience.
func (p *Instance) until(what string, try func() error) {
	p.t.Helper()
	over := time.After(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-over:
			p.t.Fatalf("waited for %s: %v", what, err)
		case <-p.t.Context().Done():
			p.t.Fatalf("waited for %s: %v", what, errors.Join(err, p.t.Context().Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// built is the folder of the program, once it is built.
var built string

var build = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "askback-client-"); err != nil {
		return "", err
	}
	return program.Build(context.Background(), built)
})

// builtProgram returns the path of askback, which is built once for all tests of a
// package.
func builtProgram(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Main runs the tests of a package, removes the program that was built for them, calls the
// functions in clean, and exits.
func Main(m *testing.M, clean ...func()) {
	http.DefaultClient.Timeout = patience
	code := m.Run()
	for _, f := range clean {
		f()
	}
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// A lockedBuffer is a buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
