package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startPanel starts a command at a terminal that shows panels, and waits until its keys work.
func startPanel(t *testing.T, env []string, name string, args ...string) *terminalSession {
	t.Helper()
	env = append(env, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	s := startTerminal(t, env, 80, name, args...)
	s.waitForScreen(`· \? more keys|Ctrl\+C leaves it open`)
	return s
}

// C5: at a terminal, an option is chosen with arrow keys and Enter. Standard output has only the answer. One
// row replaces the panel.
func TestPanelAnswersWithArrowKeys(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startPanel(t, env, "sh", "-c",
		`db=$(askback ask 'Which database?' PostgreSQL SQLite 2>/dev/null); echo "it is <$db>"`)
	s.typeKeys("\x1b[B")
	s.waitForScreen(`>    2`)
	s.typeKeys("\r")
	s.waitExit(0)
	s.waitForScreen(`asked\S* \S*│ \S*Which database\? \S*SQLite`)
	s.waitForScreen(`it is <SQLite>`)
}

// C3: keys approve and deny a call.
func TestPanelDecidesACall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		exit int
	}{
		"a": {[]string{"a"}, 0}, "y": {[]string{"y"}, 0}, "d": {[]string{"d"}, exitNo},
		"Enter":    {[]string{"\r", "d"}, exitNo},
		"a reason": {[]string{"n", "not now", "\r", "d"}, exitNo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := sandbox(t)
			s := startPanel(t, env, "askback", "confirm", "Delete the cluster?")
			for i, key := range c.keys[:len(c.keys)-1] {
				if i > 0 {
					s.waitForScreen(map[string]string{"not now": `Enter keeps it`, "\r": `reason.*not now`}[key])
				}
				s.typeKeys(key)
			}
			if len(c.keys) > 1 {
				s.waitForScreen(`Enter does nothing yet|reason.*not now(.|\n)*more keys`)
			}
			s.pressUntil(c.keys[len(c.keys)-1], func() bool { return false })
			s.waitExit(c.exit)
		})
	}
}

// Ctrl+C leaves the ask pending, and restores the terminal (C5).
func TestInterruptClosesThePanel(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startPanel(t, env, "sh", "-c",
		`trap : INT; askback ask 'Which database?' PostgreSQL SQLite; echo "it ended with $?"; stty -a`)
	s.typeKeys("\x03")
	s.waitForScreen(`is still open. To withdraw it:`)
	s.waitForScreen(`it ended with 130`)
	s.waitForScreen(`[^-]icanon`)
	s.waitForScreen(`[^-]echo `)
	if screen := s.screen.String(); strings.LastIndex(screen, "\x1b[?25h") < strings.LastIndex(screen, "\x1b[?25l") {
		t.Errorf("the cursor is still hidden:\n%q", screen)
	}
	if list := mustRun(t, env, "list"); !strings.Contains(list, "Which database?") {
		t.Errorf("the list has %q; want the ask to be open", list)
	}
}

// An answer from another client closes the panel and ends the command with that answer (E10).
func TestAnswerElsewhereClosesThePanel(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startPanel(t, env, "askback", "ask", "Which database?", "PostgreSQL", "SQLite")
	for _, key := range []string{"3", "\r"} {
		s.typeKeys(key)
		s.waitForScreen(map[string]string{"3": `>    3`, "\r": `Enter keeps it`}[key])
	}
	s.typeKeys("Ora") // a person is typing
	s.waitForScreen(`Ora`)
	mustRun(t, env, "answer", askID.FindString(s.screen.String()), "SQLite")
	s.waitExit(0)
	s.waitForScreen(`Settled: answered by \S+ in the terminal .*SQLite`)
	s.waitForScreen(`(?m)^SQLite\r$`)
}

// Ctrl+Z stops the command with a clean terminal, and after fg the panel is drawn again.
func TestPanelSurvivesJobControl(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startPanel(t, env, "sh", "-c", `set -m; askback ask 'Which database?' PostgreSQL SQLite; stty -a; echo "again"; fg; echo "it ended with $?"`)
	s.typeKeys("\x1b[B")
	s.waitForScreen(`>    2`)
	s.typeKeys("\x1a") // Ctrl+Z discards the input that was not read yet
	s.waitForScreen(`(?s)[^-]icanon.*again\r.*Which database\?`)
	s.waitForScreen(`(?s)again\r.*more keys`)
	s.pressUntil("\r", func() bool { return strings.Contains(s.screen.String(), "it ended with") })
	s.waitForScreen(`(?m)hSQLite\r$`)
	s.waitForScreen(`it ended with 0`)
}

// Plain mode asks line by line: with --plain, ASKBACK_PLAIN or NO_COLOR, and at a terminal without control
// sequences (C5).
func TestPlainModeAsksLineByLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ variable, flag string }{
		"flag": {"TERM=xterm", "--plain"}, "variable": {"ASKBACK_PLAIN=1", "--no-other"},
		"no colours": {"NO_COLOR=1", "--no-other"}, "screen reader": {"ACCESSIBLE=1", "--no-other"},
		"dumb": {"TERM=dumb", "--no-other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=", c.variable)
			s := startTerminal(t, env, 80, "askback", "ask", c.flag, "Which database?", "PostgreSQL", "SQLite")
			s.waitForScreen(`Type one of 1-`)
			s.typeKeys("2\n")
			s.waitExit(0)
		})
	}
}

// F7: a person changes the arguments of a call in the editor, and approves the saved arguments.
func TestPanelEditsArguments(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, `EDITOR=sed -i s/old/new/`, "VISUAL=")
	file := filepath.Join(t.TempDir(), "call.json")
	if err := os.WriteFile(file, []byte(`{"confirmation": {"tool_name": "run", "input": {"path": "old"}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := startPanel(t, env, "askback", "ask", "--json", "--file", file)
	s.typeKeys("e")
	s.waitForScreen(`(?s)you changed the arguments.*path: “new”.*a approve`)
	s.typeKeys("a")
	s.waitExit(0)
	s.waitForScreen(`"path":\s*"new"`)
}

// A person who types in a panel claims the ask, so that others see who is answering it (F8).
func TestTypingInAPanelClaimsTheAsk(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startPanel(t, env, "askback", "ask", "Which?", "yes", "no")
	id := askID.FindString(s.screen.String())
	s.typeKeys("j")
	if !eventually(func() bool { return !strings.Contains(mustRun(t, env, "show", "--json", id), `"claims": []`) }) {
		t.Errorf("not claimed: %s", mustRun(t, env, "show", "--json", id))
	}
	s.typeKeys("\r")
	s.waitExit(0)
}
