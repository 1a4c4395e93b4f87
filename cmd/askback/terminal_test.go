package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/test/kit/leftout"
	"github.com/creack/pty"

	"github.com/askback/askback/internal/local/connection"
)

// terminalSession is a command at a pseudo-terminal.
type terminalSession struct {
	t      *testing.T
	tty    *os.File
	screen syncBuffer
	cmd    *exec.Cmd
	ended  chan struct{}
	result error
}

// startTerminal starts a command at a pseudo-terminal, and kills it at the end of the test.
// If there are no pseudo-terminals, it skips the test.
func startTerminal(t *testing.T, env []string, columns uint16, name string, args ...string) *terminalSession {
	t.Helper()
	s := &terminalSession{t: t, cmd: exec.Command(name, args...), ended: make(chan struct{})}
	s.cmd.Env = env
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		leftout.Skip(t, "commands at a terminal (there is no pseudo-terminal here: %v)", err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			_, _ = s.screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(s.ended)
		s.result = s.cmd.Wait()
		<-drained
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		killSession(s.cmd.Process.Pid) // background processes would keep the terminal open
		<-s.ended
		s.tty.Close()
	})
	return s
}

// killSession kills the processes of a session that /proc shows.
func killSession(leader int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		raw, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(raw), ") ") // state, parent, group, session
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(fields) > 3 && fields[3] == strconv.Itoa(leader) {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
}

func (s *terminalSession) typeKeys(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// pressUntil presses a key until a condition is true, with a second after each press. The terminal ignores a
// key that immediately follows another.
func (s *terminalSession) pressUntil(key string, done func() bool) {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	for pressed := time.NewTicker(time.Second); ; {
		s.typeKeys(key)
		select {
		case <-s.ended:
			return
		case <-pressed.C:
		case <-limit:
			s.t.Fatalf("%q changed nothing:\n%s", key, s.screen.String())
		}
		if done() {
			return
		}
	}
}

// waitForScreen waits until the screen matches.
func (s *terminalSession) waitForScreen(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	if !eventually(func() bool { return want.MatchString(s.screen.String()) }) {
		s.t.Fatalf("the screen never matched %s:\n%s", pattern, s.screen.String())
	}
}

// waitExit waits until the command exits, and requires its exit code.
func (s *terminalSession) waitExit(want int) {
	s.t.Helper()
	if !eventually(func() bool {
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	}) {
		s.t.Fatalf("the command has not exited:\n%s", s.screen.String())
	}
	if got := exitCode(s.result); got != want {
		s.t.Fatalf("exit code %d, want %d:\n%s", got, want, s.screen.String())
	}
}

// The prompt is on the terminal, so that a script can capture the answer from standard
// output (C5).
func TestPromptIsOnTheTerminalWhileOutputIsAPipe(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startTerminal(t, env, 80, "sh", "-c",
		`db=$(askback ask 'Which database?' PostgreSQL SQLite 2>/dev/null); echo "it is <$db>"`)
	s.waitForScreen(`Type one of 1-3`)
	s.typeKeys("2\n")
	s.waitExit(0)
	s.waitForScreen(`it is <SQLite>`)
}

// A call is approved only by a word such as y or yes, typed at a terminal after the call
// was shown (C3).
func TestOnlyATypedYesApproves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		ahead string
		typed string
		more  string // typed after the first was rejected
		exit  int
	}{
		"y":                           {typed: "y\n"},
		"yes":                         {typed: "yes\n"},
		"n":                           {typed: "n\n", exit: exitNo},
		"Enter":                       {typed: "\n", exit: exitNo},
		"Enter with --default yes":    {args: []string{"--default", "yes"}, typed: "\n", more: "n\n", exit: exitNo},
		"another word":                {typed: "sure\n", more: "n\n", exit: exitNo},
		"y before the call was shown": {ahead: "y\n", typed: "n\n", exit: exitNo},
		":decline":                    {typed: ":decline\n", exit: exitNo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := sandbox(t)
			s := startTerminal(t, env, 80, "askback", append([]string{"confirm", "Delete the cluster?"}, c.args...)...)
			s.typeKeys(c.ahead)
			s.waitForScreen(`Approve\? \[y/.\] `)
			s.typeKeys(c.typed)
			if c.more != "" {
				s.waitForScreen(`(?s)Approve.*Type y .*Approve\? \[y/.\] `)
				s.typeKeys(c.more)
			}
			s.waitExit(c.exit)
		})
	}
}

// Input from before a question was shown is discarded. Otherwise the rest of a block that is pasted into a
// shell would answer the question of its first line.
func TestTypeAheadIsDiscarded(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "sh", "-c",
		`echo ready; read go; askback ask 'Which database?' PostgreSQL SQLite; echo "it ended with $?"`)
	s.waitForScreen(`ready`)
	s.typeKeys("go\nSQLite\nPostgreSQL\n")
	s.waitForScreen(`(?s)Type one of 1-3.*> $`)
	if list := mustRun(t, env, "list"); !strings.Contains(list, "Which database?") {
		t.Fatalf("the list has %q; want the ask to be open", list)
	}
	s.typeKeys("1\n")
	s.waitForScreen(`(?m)^PostgreSQL\r$`)
	s.waitForScreen(`it ended with 0`)
}

// Lines that are pasted together are one text, which is sent after a confirmation. They do not answer the
// next question or a confirmation.
func TestPastedLinesAreOneAnswer(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	file := filepath.Join(t.TempDir(), "questions.json")
	if err := os.WriteFile(file,
		[]byte(`{"questions": [{"question": "Name?"}, {"question": "Place?", "options": ["north", "south"]}]}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := startTerminal(t, env, 80, "askback", "ask", "--file", file)
	s.waitForScreen(`(?s)1 of 2.*> $`)
	s.typeKeys("first line\nsouth\nsouth\n")
	s.waitForScreen(`(?s)3 lines were pasted\..*Send them as your answer\? \[y/N\] $`)
	s.typeKeys("y\n")
	s.waitForScreen(`(?s)2 of 2.*> $`)
	s.typeKeys("what?\ny\nsouth\n")
	s.waitForScreen(`(?s)3 lines arrived together, and none of them was taken\..*> $`)
	s.typeKeys("1\n")
	s.waitExit(0)
	s.waitForScreen(`"Name\?": "first line\\nsouth\\nsouth"`)
	s.waitForScreen(`"Place\?": "north"`)
}

// Ctrl+C leaves the ask pending and prints the command that withdraws it (C5).
func TestInterruptLeavesTheAskPending(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "askback", "ask", "Which database?", "PostgreSQL", "SQLite")
	s.waitForScreen(`> $`)
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
	id := askID.FindString(s.screen.String())
	s.waitForScreen(`(?m)^askback: ` + id + ` is still open. To withdraw it:\r\n  askback cancel ` + id)
	if list := mustRun(t, env, "list"); !strings.HasPrefix(list, id) {
		t.Errorf("list has %q, want %s in it", list, id)
	}
	mustRun(t, env, "cancel", id)
}

// An answer from another client replaces the open prompt with the outcome and the person who answered (E10).
func TestAnswerElsewhereReplacesThePrompt(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "askback", "ask", "Which database?", "PostgreSQL", "SQLite")
	s.waitForScreen(`> $`)
	s.typeKeys("Postgr") // a person is typing
	s.waitForScreen(`> Postgr`)
	mustRun(t, env, "answer", askID.FindString(s.screen.String()), "SQLite")
	s.waitExit(0)
	s.waitForScreen(`Settled: answered by \S+ in the terminal .*SQLite`)
	s.waitForScreen(`(?m)^SQLite\r$`)
}

// Control characters in the text of an agent, and U+202E, do not reach the terminal. A note
// says that there were hidden characters (F3).
func TestControlCharactersOfAgentAreRemoved(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	text := "\x1b[2J\x1b]0;owned\x07Sure?\r\x1b[31m │ askback: approved \u202egnp.exe"
	s := startTerminal(t, env, 80, "askback", "ask", text, "\x1b[1Ayes", "no\x9b2J", "--context", text)
	s.waitForScreen(`> $`)
	s.typeKeys("2\n")
	s.waitExit(0)
	if i := strings.IndexAny(s.screen.String(), "\x1b\u009b\u202e\x07"); i >= 0 {
		t.Errorf("a control character of the agent reached the screen:\n%q", s.screen.String()[i:])
	}
	if !strings.Contains(s.screen.String(), "hidden characters") {
		t.Errorf("no note about hidden characters:\n%s", s.screen.String())
	}
}

// No row is longer than the terminal is wide (C5).
func TestRowsFitANarrowTerminal(t *testing.T) {
	t.Parallel()
	const columns = 34
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, columns, "sh", "-c", `askback ask "$@" 2>/dev/null`, "sh",
		"Which of the databases that we talked about should we use?", "PostgreSQL, a server that you run yourself",
		"SQLite")
	s.waitForScreen(`> $`)
	s.typeKeys("2\n")
	s.waitExit(0)
	for row := range strings.SplitSeq(s.screen.String(), "\n") {
		if got := safetext.Width(safetext.Line(strings.TrimRight(row, "\r"))); got > columns {
			t.Errorf("a row has %d columns, want at most %d: %s", got, columns, row)
		}
	}
}

// A command in the background does not read the terminal. Otherwise the kernel would
// stop it, and commands that use its database would hang.
func TestBackgroundCommandIsNotStopped(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startTerminal(t, env, 80, "sh", "-c",
		`set -m; askback ask 'Which database?' PostgreSQL SQLite & wait $!; echo "it ended with $?"`)
	s.waitForScreen(
		`this command runs in the background and cannot prompt; answer at\r\nhttp://\S+/asks/ask_\w{26}\r\n`,
	)
	mustRun(t, env, "answer", askID.FindString(s.screen.String()), "1")
	s.waitForScreen(`it ended with 0`)
}

// A command in the background leaves the prompt to the next command.
func TestBackgroundCommandLeavesTheTerminalFree(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "sh", "-c", `set -m; askback ask 'First?' a b & read go; askback ask 'Second?' c d; askback answer latest a; wait $!; echo "it ended with $?"`)
	s.waitForScreen(`this command runs in the background`)
	s.typeKeys("go\n")
	s.waitForScreen(`(?s)Second\?.*Type one of 1-3.*> $`)
	s.typeKeys("1\n")
	s.waitForScreen(`(?m)^c\r$`)
	s.waitForScreen(`(?m)^a\r$`)
	s.waitForScreen(`it ended with 0`)
}

// A command whose input has ended waits for an answer from another client, and leaves the prompt to the next
// command.
func TestEndedInputLeavesTheTerminalFree(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "sh", "-c", `exec 3<&0
askback ask 'First?' a b <&3 & first=$!
askback ask 'Second?' a b <&3 & second=$!
wait $first $second; echo "both ended"`)
	s.waitForScreen(`another question is open in this terminal`)
	s.waitForScreen(`(?m)^> `)
	waiting := regexp.MustCompile(`(ask_\w{26}) waits for its turn`).FindStringSubmatch(s.screen.String())[1]
	s.typeKeys("\x04")
	s.waitForScreen(`the input ended without an answer; ask_\w{26} is still open`)
	open := regexp.MustCompile(`without an answer; (ask_\w{26}) is still open`).FindStringSubmatch(s.screen.String())[1]
	s.waitForScreen(`(?s)without an answer;.*Type one of 1-3.*> $`)
	if open == waiting {
		t.Fatalf("%s was asked and waits for its turn", open)
	}
	s.typeKeys("1\n")
	s.waitForScreen(`(?m)^a\r$`)
	mustRun(t, env, "answer", open, "2")
	s.waitForScreen(`both ended`)
}

// Only one prompt at a time reads a terminal: input answers the ask that is shown, and
// other commands wait for their turn.
func TestOnePromptPerTerminal(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := startTerminal(t, env, 80, "sh", "-c", `exec 3<&0
askback confirm 'Delete the cluster?' <&3 & first=$!
askback confirm 'Restart the server?' <&3 & second=$!
wait $first; a=$?; wait $second; echo "they ended with $a and $?"`)
	s.waitForScreen(`Approve\? \[y/N\] `)
	s.waitForScreen(`another question is open in this terminal; ask_\w{26} waits for its turn`)
	waiting := regexp.MustCompile(`(ask_\w{26}) waits for its turn`).FindStringSubmatch(s.screen.String())[1]
	s.typeKeys("y\n")
	s.waitForScreen(`(?s)Approve\? .*Approve\? \[y/N\] `)
	if list := mustRun(t, env, "list"); strings.Count(list, "\n") != 1 || !strings.HasPrefix(list, waiting) {
		t.Errorf("after one y: got\n%s, want %s alone", list, waiting)
	}
	s.typeKeys("n\n")
	s.waitExit(0)
	s.waitForScreen(`they ended with (0 and 1|1 and 0)`)
}

// At a terminal, JSON is printed with control and format characters escaped that encoding/json leaves
// unchanged, such as U+009B and U+202E. In a pipe it is unchanged.
func TestJSONAtATerminalEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	text := "a\u009b2J\u007f\u202e\U000e0041b"
	ask := launch(t, env, "ask", text, "yes", "no")
	ask.waitForStderr(t, "Type one of")
	id := strings.Fields(mustRun(t, env, "list"))[0]
	if piped := mustRun(t, env, "show", "--json", id); !strings.Contains(piped, text) {
		t.Errorf("a pipe got\n%swant %q in it", piped, text)
	}
	for _, args := range [][]string{{"show", "--json", id}, {"list", "--json"}} {
		s := startTerminal(t, env, 80, "askback", args...)
		s.waitExit(0)
		s.waitForScreen(`a\\u009b2J\\u007f\\u202e\\udb40\\udc41b`)
		if i := strings.IndexAny(s.screen.String(), "\u009b\u007f\u202e\U000e0041"); i >= 0 {
			t.Errorf("%v: a control character of the agent reached the screen:\n%q", args, s.screen.String()[i:])
		}
	}
}

// A person who types a line claims the ask, so that others see who is answering it (F8). The line may be
// invalid as an answer.
func TestTypingClaimsTheAsk(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := startTerminal(t, env, 80, "askback", "ask", "Which?", "yes", "no")
	s.waitForScreen("Type one of")
	id := askID.FindString(s.screen.String())
	if before := mustRun(t, env, "show", "--json", id); !strings.Contains(before, `"claims": []`) {
		t.Fatalf("claimed before any input: %s", before)
	}
	s.typeKeys(":help\r")
	if !eventually(func() bool {
		return strings.Contains(mustRun(t, env, "show", "--json", id), `"name": "`+connection.UserName()+`"`)
	}) {
		t.Errorf("not claimed: %s", mustRun(t, env, "show", "--json", id))
	}
	s.waitForScreen(`(?s):help\r?\n.*> $`) // lines that arrive together are pasted text
	s.typeKeys("yes\r")
	s.waitExit(0)
}

// :show opens the folded text in a pager. Ctrl+C ends only the pager, and the prompt
// is shown again.
func TestPagerShowsFoldedText(t *testing.T) {
	t.Parallel()
	// The pager is one process, so that Ctrl+C ends it at any time. A shell could miss it while
	// it starts the next program.
	env, _ := sandbox(t, "TERM=dumb",
		`PAGER=exec awk '/"line/ { n++ } END { print n; print "reading"; fflush(); getline < "/dev/tty" }'`)
	file := filepath.Join(t.TempDir(), "call.json")
	lines := strings.TrimSuffix(strings.Repeat(`"line",`, 5000), ",")
	if err := os.WriteFile(file, []byte(`{"confirmation": {"tool_name": "run", "input": {"script": [`+lines+`]}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := startTerminal(t, env, 80, "askback", "ask", "--file", file)
	s.waitForScreen(`(?s)4914 rows are not shown; :show shows them.*Approve\? \[y/N\] $`)
	s.typeKeys(":show\n")
	s.waitForScreen(`5000\r\nreading\r\n$`)
	s.typeKeys("\x03")
	s.waitForScreen(`(?s)All rows have been shown.*Approve\? \[y/N\] $`)
	s.typeKeys("no, far too long\n")
	s.waitExit(exitNo)
	s.waitForScreen(`denied by .*: far too long`)
}
