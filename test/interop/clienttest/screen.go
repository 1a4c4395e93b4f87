package clienttest

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
)

// A Screen is a terminal of 100 by 40 cells, in which a program runs.
type Screen struct {
	t    testing.TB
	tmux func(args ...string) (string, error)
}

// NewScreen starts a program in a terminal, in the given folder and environment. The
// program ends with the test. A failed test logs the content of the screen. The test
// is skipped if tmux is missing.
func NewScreen(t testing.TB, dir string, env []string, command ...string) *Screen {
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("LEFT OUT: clients at a terminal; tmux is missing")
	}
	sockets, err := os.MkdirTemp("", "askback-tmux-") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{t: t, tmux: func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"-S", filepath.Join(sockets, "s"), "-f", os.DevNull}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen was:\n%s", s.Text())
		}
		s.close()
		_ = os.RemoveAll(sockets)
	})
	start := append([]string{"new-session", "-d", "-x", "100", "-y", "40", "--"}, command...)
	if out, err := s.tmux(start...); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return s
}

// close ends the program and waits for its end, because the program writes to its home folder until then.
// After 10 seconds it kills the program.
func (s *Screen) close() {
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

// Gone returns nil if the program has ended. Otherwise it returns an error.
func (s *Screen) Gone() error {
	if _, err := s.tmux("has-session"); err == nil {
		return errors.New("it still runs")
	}
	return nil
}

// Text returns the content of the screen, or the error if it cannot be read.
func (s *Screen) Text() string {
	out, err := s.tmux("capture-pane", "-p")
	if err != nil {
		return err.Error()
	}
	return out
}

// Press sends a key, by its name in tmux. The error contains the output of tmux.
func (s *Screen) Press(key string) error {
	if out, err := s.tmux("send-keys", key); err != nil {
		return errors.Join(err, errors.New(out))
	}
	return nil
}
