package claudecode_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
)

// A screen is the terminal of Claude Code.
type screen struct {
	*clienttest.Screen
	t testing.TB
}

// startTerminal starts Claude Code in a terminal with a prompt.
func (f *fixture) startTerminal(args ...string) *screen {
	f.t.Helper()
	return &screen{clienttest.NewScreen(f.t, f.project, f.environ(), append([]string{f.claude}, args...)...), f.t}
}

// waitFor waits until all strings are on the screen.
func (s *screen) waitFor(parts ...string) {
	s.t.Helper()
	s.until(contains(parts...))
}

// contains returns a condition that requires all strings on a screen.
func contains(parts ...string) func(string) error {
	return func(text string) error {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return errors.New("the screen does not contain " + part)
			}
		}
		return nil
	}
}

// lacks returns a condition that requires that a string is not on a screen.
func lacks(part string) func(string) error {
	return func(text string) error {
		if strings.Contains(text, part) {
			return errors.New("the screen still contains " + part)
		}
		return nil
	}
}

// until waits until a condition holds.
func (s *screen) until(what func(string) error) {
	s.t.Helper()
	if err := s.within(patience, what); err != nil {
		s.t.Fatalf("%v:\n%s", err, s.Text())
	}
}

func (s *screen) within(limit time.Duration, what func(string) error) error {
	over := time.After(limit)
	for {
		err := what(s.Text())
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

// press sends a key by its name in tmux, unless the program has exited.
func (s *screen) press(key string) {
	s.t.Helper()
	if err := s.Press(key); err != nil && s.Gone() != nil {
		s.t.Fatalf("%s: %v", key, err)
	}
}

// echoTime is how long a key may take to have an effect. A new dialog ignores keys
// at first, and a repeated key could reach the next dialog.
const echoTime = 3 * time.Second

// pressUntil presses a key until a condition holds.
func (s *screen) pressUntil(key string, what func(string) error) {
	s.t.Helper()
	for over := time.Now().Add(patience); time.Now().Before(over); {
		s.press(key)
		if s.within(echoTime, what) == nil {
			return
		}
	}
	s.t.Fatalf("%s had no effect: %v:\n%s", key, what(s.Text()), s.Text())
}
