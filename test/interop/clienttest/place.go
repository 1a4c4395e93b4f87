package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// patience bounds each wait for something that comes soon.
const patience = time.Minute

// A Place is a machine of its own for Askback: a home folder, a database, and
// the built program.
type Place struct {
	Home    string // HOME of everything that runs here
	Program string // the path of askback
	URL     string // of the server, also before it runs
	// Settings is the settings file; "" is none.
	Settings string
	// AgentToken and PersonToken are of the agent "robot" and the responder "ana".
	AgentToken, PersonToken string
	// Person is who answers, Robot sees what the agent's token sees.
	Person, Robot *httpapi.Client

	t      testing.TB
	log    lockedBuffer
	server *exec.Cmd
	ended  chan struct{}
}

// New makes a place and starts a server there, which ends with the test.
func New(t testing.TB) *Place {
	t.Helper()
	return Configured(t, nil)
}

// Configured is the same with a settings file, made for the server at an address.
func Configured(t testing.TB, settings func(url string) string) *Place {
	t.Helper()
	p := &Place{Home: t.TempDir(), Program: program(t), t: t}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.URL = "http://" + listener.Addr().String()
	_ = listener.Close()
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
			t.Logf("the server said:\n%s", p.log.String())
		}
	})
	p.AgentToken = strings.TrimSpace(p.Run("token", "create", "--kind", "agent", "--name", "robot"))
	p.PersonToken = strings.TrimSpace(p.Run("token", "create", "--kind", "responder", "--name", "ana"))
	p.Person = httpapi.NewClient(p.URL, p.PersonToken, nil)
	p.Robot = httpapi.NewClient(p.URL, p.AgentToken, nil)
	return p
}

// Environ is the environment of programs here: nothing of whoever runs the test
// but PATH, and what is given.
func (p *Place) Environ(more ...string) []string {
	environ := []string{
		"HOME=" + p.Home, "XDG_STATE_HOME=" + filepath.Join(p.Home, "state"), "TMPDIR=" + os.TempDir(),
		"PATH=" + filepath.Dir(p.Program) + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8",
	}
	if p.Settings != "" {
		environ = append(environ, "ASKBACK_CONFIG="+p.Settings)
	}
	return append(environ, more...)
}

// Start starts the server, at the same address each time.
func (p *Place) Start() {
	p.t.Helper()
	p.server = exec.Command(p.Program, "serve", "--listen", strings.TrimPrefix(p.URL, "http://"))
	p.server.Env, p.server.Stderr = p.Environ(), &p.log
	if err := p.server.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func(cmd *exec.Cmd) { _ = cmd.Wait(); close(ended) }(p.server)
	p.until("the server runs", func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// Kill ends the server with SIGKILL.
func (p *Place) Kill() {
	_ = p.server.Process.Kill()
	<-p.ended
}

// Run runs a command of askback here, which succeeds, and returns its output.
func (p *Place) Run(args ...string) string {
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
func (p *Place) Open(n int) []askback.Ask {
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
func (p *Place) Answer(id string, a askback.Answer) {
	p.t.Helper()
	if _, err := p.Person.Answer(p.t.Context(), id, a); err != nil {
		p.t.Fatalf("answer %s: %v", id, err)
	}
}

// until tries something until it works.
func (p *Place) until(what string, try func() error) {
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

// programVariable names the program, in a process that [Loopback] starts.
const programVariable = "ASKBACK_TEST_PROGRAM"

// built is the folder of the program, once it is built.
var built string

var build = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(programVariable); path != "" {
		return path, nil // built by the process that started this one
	}
	dir, err := os.MkdirTemp("", "askback-client-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "askback")
	out, err := exec.Command("go", "build", "-o", path, "github.com/askback/askback/cmd/askback").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build askback: %w\n%s", err, out)
	}
	return path, err
})

// program builds askback once for all tests of a package.
func program(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Main runs the tests of a package and removes what was built for them.
func Main(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// lockedBuffer is written by a program and read by a test.
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
