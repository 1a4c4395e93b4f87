package agents_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback"
)

// A screen is a client at a terminal.
type screen struct {
	b    *bench
	tmux func(args ...string) (string, error)
}

// sit starts the client in a terminal.
func (b *bench) sit(args ...string) *screen {
	b.t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		b.t.Skip("LEFT OUT: clients at a terminal; tmux is missing")
	}
	sockets, err := os.MkdirTemp("", "askback-tmux-") // the path of a socket must be short
	if err != nil {
		b.t.Fatal(err)
	}
	s := &screen{b: b}
	s.tmux = func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"-S", filepath.Join(sockets, "s"), "-f", os.DevNull}, args...)...)
		cmd.Dir, cmd.Env = b.project, b.environ()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.t.Logf("the screen was:\n%s", s.text())
		}
		s.close()
		_ = os.RemoveAll(sockets)
	})
	start := append([]string{"new-session", "-d", "-x", "100", "-y", "40", "--", b.program}, args...)
	if out, err := s.tmux(start...); err != nil {
		b.t.Fatalf("tmux: %v\n%s", err, out)
	}
	return s
}

// close ends the client and waits until it is gone: it writes to its home until
// then.
func (s *screen) close() {
	id, err := s.tmux("display-message", "-p", "#{pane_pid}")
	_, _ = s.tmux("kill-server")
	pid, bad := strconv.Atoi(strings.TrimSpace(id))
	if err != nil || bad != nil {
		return
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	over := time.After(10 * time.Second)
	for process.Signal(syscall.Signal(0)) == nil {
		select {
		case <-over:
			_ = process.Kill()
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *screen) text() string {
	out, err := s.tmux("capture-pane", "-p")
	return errors.Join(err, errors.New(out)).Error()
}

// Esc makes Codex kill its hook with SIGKILL. What that asked is withdrawn, so that
// no one approves what nothing waits for.
func TestStoppedTurnOfCodexWithdrawsItsAsk(t *testing.T) {
	t.Parallel()
	c := hooked(t)
	prepare := c.prepare
	c.prepare = func(b *bench) {
		prepare(b)
		b.append(".codex/config.toml", "\n[projects.\""+b.project+"\"]\ntrust_level = \"trusted\"\n")
	}
	b := newBench(t, c, call{"call_1", "write", map[string]any{"x": "one"}})
	s := b.sit("--dangerously-bypass-hook-trust", "--no-daemon", "Write it.")
	ask := b.Open(1)[0]
	over := time.After(patience)
	for ask.Status != askback.Cancelled {
		if out, err := s.tmux("send-keys", "Escape"); err != nil {
			t.Fatalf("Escape: %v, %s", err, out)
		}
		select {
		case <-over:
			t.Fatalf("the ask is %s, want it cancelled", ask.Status)
		case <-time.After(time.Second):
		}
		var err error
		if ask, err = b.Person.Get(bounded(t), ask.ID); err != nil {
			t.Fatal(err)
		}
	}
}
