package claudecode_test

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

// A screen is Claude Code at a terminal.
type screen struct {
	t    testing.TB
	tmux func(args ...string) (string, error)
}

// sit starts Claude Code in a terminal with a prompt.
func (d *desk) sit(args ...string) *screen {
	d.t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		d.t.Skip("LEFT OUT: Claude Code at a terminal; tmux is missing")
	}
	// The path of a socket must be short.
	sockets, err := os.MkdirTemp("", "askback-tmux-")
	if err != nil {
		d.t.Fatal(err)
	}
	s := &screen{t: d.t}
	s.tmux = func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"-S", filepath.Join(sockets, "s"), "-f", os.DevNull}, args...)...)
		cmd.Dir, cmd.Env = d.project, d.environ()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("the screen was:\n%s", s.text())
		}
		s.close()
		_ = os.RemoveAll(sockets)
	})
	start := append([]string{"new-session", "-d", "-x", "100", "-y", "40", "--", d.claude}, args...)
	if out, err := s.tmux(start...); err != nil {
		d.t.Fatalf("tmux: %v\n%s", err, out)
	}
	return s
}

// close ends Claude Code and waits until it is gone: it writes to its home until
// then.
func (s *screen) close() {
	id, err := s.tmux("display-message", "-p", "#{pane_pid}")
	_, _ = s.tmux("kill-server")
	pid, bad := strconv.Atoi(strings.TrimSpace(id))
	if err != nil || bad != nil {
		return
	}
	over := time.After(10 * time.Second)
	for signal(pid, 0) == nil {
		select {
		case <-over:
			_ = signal(pid, syscall.SIGKILL)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// gone is an error while Claude Code still runs.
func (s *screen) gone() error {
	if _, err := s.tmux("has-session"); err == nil {
		return errors.New("it still runs")
	}
	return nil
}

// text is what is on the screen.
func (s *screen) text() string {
	out, err := s.tmux("capture-pane", "-p")
	if err != nil {
		return err.Error()
	}
	return out
}

// shows waits until texts are on the screen.
func (s *screen) shows(parts ...string) {
	s.t.Helper()
	s.until(with(parts...))
}

// with says what is missing on a screen.
func with(parts ...string) func(string) error {
	return func(text string) error {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return errors.New("it does not show " + part)
			}
		}
		return nil
	}
}

// without says what should be gone.
func without(part string) func(string) error {
	return func(text string) error {
		if strings.Contains(text, part) {
			return errors.New("it still shows " + part)
		}
		return nil
	}
}

// until waits until a screen is as it should be.
func (s *screen) until(what func(string) error) {
	s.t.Helper()
	if err := s.within(patience, what); err != nil {
		s.t.Fatalf("%v:\n%s", err, s.text())
	}
}

func (s *screen) within(limit time.Duration, what func(string) error) error {
	over := time.After(limit)
	for {
		err := what(s.text())
		if err == nil {
			return nil
		}
		select {
		case <-over:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// press sends a key, by the name that tmux has for it.
func (s *screen) press(key string) {
	s.t.Helper()
	if out, err := s.tmux("send-keys", key); err != nil && s.gone() != nil {
		s.t.Fatalf("%s: %s", key, out)
	}
}

// echo is how long a key may take to show. A dialog takes none at first, and one
// key too many would go to the next dialog.
const echo = 3 * time.Second

// pressUntil presses a key, and again only where nothing came of it.
func (s *screen) pressUntil(key string, what func(string) error) {
	s.t.Helper()
	for over := time.Now().Add(patience); time.Now().Before(over); {
		s.press(key)
		if s.within(echo, what) == nil {
			return
		}
	}
	s.t.Fatalf("%s came to nothing: %v:\n%s", key, what(s.text()), s.text())
}
