package newcomer_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
)

// artefact returns the path of the artefact whose name matches a pattern. Without a folder of artefacts, it
// skips the test.
func artefact(t *testing.T, pattern string) string {
	t.Helper()
	dist := os.Getenv("ASKBACK_DIST")
	if dist == "" {
		t.Skip("ASKBACK_DIST does not name the folder of the artefacts: run make newcomer")
	}
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: got %q, %v, want one file %s", dist, found, err, pattern)
	}
	return found[0]
}

// A process is a program that runs in a fresh system.
type process struct {
	cmd   *exec.Cmd
	pid   string // inside the system
	in    io.WriteCloser
	ended chan struct{}

	mu  sync.Mutex
	out strings.Builder // stdout and stderr
}

// start starts a script as a user. Its last command is exec PROGRAM.
func start(t *testing.T, s *fresh.System, user, script string) *process {
	t.Helper()
	p := &process{cmd: s.Command(t.Context(), user, "echo $$; exec 2>&1; "+script), ended: make(chan struct{})}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	p.pid, err = lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	p.pid = strings.TrimSpace(p.pid)
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(p, lines)
		_ = p.cmd.Wait() // the caller reads ProcessState
	}()
	return p // it ends with the system
}

// Write adds to the output.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) write(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		t.Fatal(err)
	}
}

func (p *process) closeInput(t *testing.T) {
	t.Helper()
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// endsWithin reports whether the process ends within a time.
func (p *process) endsWithin(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// leaveOpen returns a script that asks a question with a program, and ends the program when the ask is open.
func leaveOpen(program, question string) string {
	return program + " ask '" + question + "' yes no </dev/null >/dev/null 2>&1 & asking=$!\n" +
		"until " + program + " list | grep -qF '" + question + "'; do sleep 0.1; done; kill $asking; wait $asking || :"
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	for !condition() {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			t.Fatalf("no %s after three minutes", what)
		}
	}
}

// A service is the server, as the installed unit starts it.
type service struct {
	*process
	system *fresh.System
}

// startUnit starts the service and waits until it is ready.
func startUnit(t *testing.T, s *fresh.System) *service {
	t.Helper()
	server := launchUnit(t, s)
	eventually(t, "server", func() bool {
		if server.hasEnded() {
			t.Fatalf("the server has ended: %s", server.output())
		}
		return strings.Contains(server.output(), "msg=serving")
	})
	return server
}

// launchUnit runs the line ExecStart of the installed unit as its user, with its environment.
func launchUnit(t *testing.T, s *fresh.System) *service {
	t.Helper()
	return &service{start(t, s, setting(t, s, "User"), fmt.Sprintf("exec env -i PATH=/usr/local/bin:/usr/bin:/bin "+
		"HOME=/var/lib/askback %s %s", setting(t, s, "Environment"), setting(t, s, "ExecStart"))), s}
}

// setting returns a setting of the installed unit.
func setting(t *testing.T, s *fresh.System, name string) string {
	t.Helper()
	unit := s.Run(t, "root", "cat /usr/lib/systemd/system/askback.service")
	found := regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	if len(found) != 1 {
		t.Fatalf("the unit has %d lines %s=", len(found), name)
	}
	return found[0][1]
}

// stop stops the service as systemd does.
func (s *service) stop(t *testing.T) {
	t.Helper()
	s.system.Run(t, "root", "kill "+s.pid)
	eventually(t, "end of the server", s.hasEnded)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the stopped server ended with code %d: %s", code, s.output())
	}
}
