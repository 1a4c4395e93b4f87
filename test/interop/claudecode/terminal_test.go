package claudecode_test

import (
	"errors"
	"strings"
	"testing"

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
	s.WaitFor(parts...)
}

// pressUntil presses a key until a condition holds.
func (s *screen) pressUntil(key string, what func(string) error) {
	s.t.Helper()
	s.PressUntil(key, what)
}

var contains, lacks = clienttest.Contains, clienttest.Lacks

// press sends a key by its name in tmux, unless the program has exited.
func (s *screen) press(key string) {
	s.t.Helper()
	if err := s.Press(key); err != nil && s.Gone() != nil {
		s.t.Fatalf("%s: %v", key, err)
	}
}

// startWith answers the dialogs that Claude Code may show at its start, until a text is on the screen. It
// trusts the folder and accepts the MCP server of the folder.
func (s *screen) startWith(part string) {
	s.t.Helper()
	keys := [][2]string{
		{"❯ No, continue without", "Down"},
		{"❯ Yes, I trust this folder", "Enter"},
		{"❯ Continue without using this MCP server", "Up"},
		{"❯ Use this", "Enter"},
	}
	s.Until(func(text string) error {
		for _, k := range keys {
			if strings.Contains(text, k[0]) {
				s.pressUntil(k[1], lacks(k[0]))
				return errors.New("a dialog was shown")
			}
		}
		return contains(part)(text)
	})
}
