package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startInbox starts the inbox at a terminal, and waits until it has read the list.
func startInbox(t *testing.T, env []string, columns uint16, pattern string) *terminalSession {
	t.Helper()
	s := startTerminal(t, append(env, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE="), columns, "askback", "inbox")
	s.waitForScreen(pattern)
	return s
}

// A new ask appears in an open inbox, is answered there, and then disappears from the list (C5, F1).
func TestInboxAnswersANewAsk(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startInbox(t, env, 80, `Nothing is waiting`)
	ask := launch(t, env, "ask", "--key", "k", "Which database?", "PostgreSQL", "SQLite")
	s.waitForScreen(`Which database\?`)
	s.typeKeys("\r")
	s.waitForScreen(`Enter chooses`)
	s.typeKeys("2")
	s.waitForScreen(`>    2`)
	s.pressUntil("\r", func() bool { return strings.Contains(s.screen.String(), "Sent: answered by") })
	if !ask.wait() || strings.TrimSpace(ask.out.String()) != "SQLite" {
		t.Errorf("the command that asked printed %q", ask.out.String())
	}
	s.waitForScreen(`Sent: answered by`)
	s.typeKeys("q")
	s.waitExit(0)
	s.waitForScreen(`\x1b\[\?1049l`)
}

// An ask that is answered by another command is shown as settled. The inbox serves the other
// commands of this machine while it has the database open (E10, F1).
func TestInboxShowsAnswersFromElsewhere(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startInbox(t, env, 120, `Nothing is waiting`)
	ask := launch(t, env, "ask", "Why?")
	s.waitForScreen(`Why\?`)
	s.typeKeys("\r")
	s.waitForScreen(`Enter sends`)
	s.typeKeys("I was")
	s.waitForScreen(`I was`)
	mustRun(t, env, "answer", strings.Fields(mustRun(t, env, "list"))[0], "because")
	s.waitForScreen(`(?s)Settled: answered by \S+ in the terminal.*what you typed was not sent`)
	if !ask.wait() {
		t.Error("the command that asked has not exited")
	}
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
}

// The inbox continues when its server is killed: typed text is kept, and new asks appear (F11).
func TestInboxContinuesWithoutItsServer(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.call(server.agent, "POST", "/asks", `{"questions":[{"question":"First?"}]}`, 201)
	s := startInbox(t, server.env, 80, `First\?`)
	s.typeKeys("\r")
	s.waitForScreen(`Enter sends`)
	s.typeKeys("half ")
	s.waitForScreen(`half`)
	server.kill()
	launch(t, server.env, "ask", "Second?")
	s.waitForScreen(`2 open`)
	s.typeKeys("an answer")
	s.pressUntil("\r", func() bool {
		return strings.Contains(mustRun(t, server.env, "list", "--status", "answered"), "half an answer")
	})
	s.waitForScreen(`Sent: answered by`)
}

// F7: arguments are changed in the editor, and the saved arguments are approved. Afterwards the inbox has the
// terminal again.
func TestInboxEditsArguments(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, `EDITOR=sed -i s/old/new/`, "VISUAL=")
	file := filepath.Join(t.TempDir(), "call.json")
	if err := os.WriteFile(file, []byte(`{"confirmation": {"tool_name": "run", "input": {"path": "old"}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := startInbox(t, env, 100, `Nothing is waiting`)
	ask := launch(t, env, "ask", "--json", "--file", file)
	s.waitForScreen(`a approve`)
	s.typeKeys("e")
	s.waitForScreen(`(?s)you changed the arguments.*path: “new”.*a approve`)
	s.typeKeys("a")
	s.waitForScreen(`Sent: approved with other arguments`)
	if !ask.wait() || !strings.Contains(ask.out.String(), `"new"`) {
		t.Errorf("the command that asked printed %q", ask.out.String())
	}
}

// Ctrl+Z stops the inbox with a clean terminal, and after fg it is drawn again.
func TestInboxSurvivesJobControl(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	s := startTerminal(t, env, 80, "sh", "-c",
		`set -m; askback inbox; stty -a; echo "again"; fg; echo "it ended with $?"`)
	s.waitForScreen(`Nothing is waiting`)
	s.typeKeys("\x1a")
	s.waitForScreen(`(?s)\x1b\[\?1049l.*[^-]icanon.*again\r.*\x1b\[\?1049h.*Nothing is waiting`)
	s.typeKeys("q")
	s.waitForScreen(`it ended with 0`)
}

// When the user leaves the inbox, it reports an answer that could not be sent.
func TestInboxReportsAnUnsentAnswer(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.call(server.agent, "POST", "/asks", `{"confirmation":{"tool_name":"run","input":{}}}`, 201)
	place, _ := server.place.Last()
	env := append(server.env, "XDG_STATE_HOME="+t.TempDir(), "ASKBACK_URL="+place.URL, "ASKBACK_TOKEN="+server.user)
	s := startInbox(t, env, 100, `a approve`)
	server.kill()
	s.typeKeys("a")
	s.waitForScreen(`Sending your answer`)
	s.typeKeys("q")
	s.waitForScreen(`your answer to ask_\w{26} was not sent`)
	s.waitExit(exitRefused)
}
