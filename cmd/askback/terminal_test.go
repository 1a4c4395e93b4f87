package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/askback/askback/internal/leftout"
	"github.com/askback/askback/internal/safetext"
	"github.com/creack/pty"

	"github.com/askback/askback/internal/connection"
)

// A sitting is a command with a terminal of its own, and a person at it.
type sitting struct {
	t      *testing.T
	tty    *os.File
	screen syncBuffer
	cmd    *exec.Cmd
	ended  chan struct{}
	result error
}

func sit(t *testing.T, env []string, columns uint16, name string, args ...string) *sitting {
	t.Helper()
	s := &sitting{t: t, cmd: exec.Command(name, args...), ended: make(chan struct{})}
	s.cmd.Env = env
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		leftout.Skip(t, "commands at a terminal (there is no pseudo-terminal here: %v)", err)
	}
	seen := make(chan struct{})
	go func() {
		defer close(seen)
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
		<-seen
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		killSession(s.cmd.Process.Pid) // what the command left in the background holds the terminal
		<-s.ended
		s.tty.Close()
	})
	return s
}

// killSession kills the processes of a session, as far as /proc shows them.
func killSession(leader int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		raw, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(raw), ") ") // state, parent, group, session
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(fields) > 3 && fields[3] == strconv.Itoa(leader) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (s *sitting) types(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sitting) sees(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	if !eventually(func() bool { return want.MatchString(s.screen.String()) }) {
		s.t.Fatalf("the screen never showed %s:\n%s", pattern, s.screen.String())
	}
}

func (s *sitting) exits(want int) {
	s.t.Helper()
	if !eventually(func() bool {
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	}) {
		s.t.Fatalf("it does not end:\n%s", s.screen.String())
	}
	if got := exitCode(s.result); got != want {
		s.t.Fatalf("exit code %d, want %d:\n%s", got, want, s.screen.String())
	}
}

// C5: standard output is free for the answer, because the prompt is on the terminal.
func TestPromptIsOnTheTerminalWhileOutputIsAPipe(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := sit(t, env, 80, "sh", "-c", `db=$(askback ask 'Which database?' PostgreSQL SQLite 2>/dev/null); echo "it is <$db>"`)
	s.sees(`Type one of 1-3`)
	s.types("2\n")
	s.exits(0)
	s.sees(`it is <SQLite>`)
}

// C3: y typed at a terminal, after the call was shown, approves; nothing else does.
func TestOnlyATypedYesApproves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		ahead string
		typed string
		more  string // typed once the first was refused
		exit  int
	}{
		"y":                           {typed: "y\n"},
		"yes":                         {typed: "yes\n"},
		"n":                           {typed: "n\n", exit: exitNo},
		"Enter":                       {typed: "\n", exit: exitNo},
		"Enter under a suggested yes": {args: []string{"--default", "yes"}, typed: "\n", more: "n\n", exit: exitNo},
		"another word":                {typed: "sure\ny\n", more: "n\n", exit: exitNo},
		"y before it was shown":       {ahead: "y\n", typed: "n\n", exit: exitNo},
		"to decline":                  {typed: ":decline\n", exit: exitNo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := sandbox(t)
			s := sit(t, env, 80, "askback", append([]string{"confirm", "Delete the cluster?"}, c.args...)...)
			s.types(c.ahead)
			s.sees(`Approve\? \[y/.\] `)
			s.types(c.typed)
			if c.more != "" {
				s.sees(`(?s)Approve.*Type y .*Approve\? \[y/.\] `)
				s.types(c.more)
			}
			s.exits(c.exit)
		})
	}
}

// A block that was pasted into a shell does not answer the question that its first line
// asks: what was typed before the question was shown is thrown away.
func TestTypeAheadIsNoAnswer(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "sh", "-c", `echo ready; read go; askback ask 'Which database?' PostgreSQL SQLite; echo "it ended with $?"`)
	s.sees(`ready`)
	s.types("go\nSQLite\nPostgreSQL\n")
	s.sees(`(?s)Type one of 1-3.*> $`)
	if list := mustRun(t, env, "list"); !strings.Contains(list, "Which database?") {
		t.Fatalf("the list has %q; want the ask to be open", list)
	}
	s.types("1\n")
	s.sees(`(?m)^PostgreSQL\r$`)
	s.sees(`it ended with 0`)
}

// Neither does it answer the second question, nor is the line behind a refused one taken.
func TestFurtherLinesOfAPasteAreNoAnswers(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	file := filepath.Join(t.TempDir(), "questions.json")
	if err := os.WriteFile(file, []byte(`{"questions": [{"question": "Name?"}, {"question": "Place?", "options": ["north", "south"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sit(t, env, 80, "askback", "ask", "--file", file)
	s.sees(`(?s)1 of 2.*> $`)
	s.types("first line\nsouth\nsouth\n")
	s.sees(`(?s)2 of 2.*> $`)
	s.types("what?\ny\nsouth\n")
	s.sees(`Send it as your own words\? \[y/N\] $`)
	s.types("n\nsouth\n")
	s.sees(`(?s)Not sent\..*> $`)
	s.types("1\n")
	s.exits(0)
	s.sees(`"Place\?": "north"`)
}

// C5: Ctrl+C leaves the ask pending and says how to withdraw it.
func TestInterruptLeavesTheAskPending(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "askback", "ask", "Which database?", "PostgreSQL", "SQLite")
	s.sees(`> $`)
	s.types("\x03")
	s.exits(exitInterrupted)
	id := askID.FindString(s.screen.String())
	s.sees(`(?m)^askback: ` + id + ` still waits. To withdraw it:\r\n  askback cancel ` + id)
	if list := mustRun(t, env, "list"); !strings.HasPrefix(list, id) {
		t.Errorf("list has %q, want %s in it", list, id)
	}
	mustRun(t, env, "cancel", id)
}

// E10: an answer given elsewhere takes the open prompt away and says who gave it.
func TestAnswerElsewhereReplacesThePrompt(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "askback", "ask", "Which database?", "PostgreSQL", "SQLite")
	s.sees(`> $`)
	s.types("Postgr") // somebody is typing
	s.sees(`> Postgr`)
	mustRun(t, env, "answer", askID.FindString(s.screen.String()), "SQLite")
	s.exits(0)
	s.sees(`Settled: answered by \S+ in the terminal .*SQLite`)
	s.sees(`(?m)^SQLite\r$`)
}

// F3: what an agent writes is shown, and does nothing to the terminal.
func TestAgentTextDoesNothingToTheTerminal(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	evil := "\x1b[2J\x1b]0;owned\x07Sure?\r\x1b[31m │ askback: approved \u202egnp.exe"
	s := sit(t, env, 80, "askback", "ask", evil, "\x1b[1Ayes", "no\x9b2J", "--context", evil)
	s.sees(`> $`)
	s.types("2\n")
	s.exits(0)
	if i := strings.IndexAny(s.screen.String(), "\x1b\u009b\u202e\x07"); i >= 0 {
		t.Errorf("a control character of the agent reached the screen:\n%q", s.screen.String()[i:])
	}
	if !strings.Contains(s.screen.String(), "hidden characters") {
		t.Errorf("nothing is said about hidden characters:\n%s", s.screen.String())
	}
}

// C5: rows are wrapped to the width of the terminal.
func TestNarrowTerminal(t *testing.T) {
	t.Parallel()
	const columns = 34
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, columns, "sh", "-c", `askback ask "$@" 2>/dev/null`, "sh",
		"Which of the databases that we talked about should we use?", "PostgreSQL, a server that somebody runs", "SQLite")
	s.sees(`> $`)
	s.types("2\n")
	s.exits(0)
	for row := range strings.SplitSeq(s.screen.String(), "\n") {
		if got := safetext.Width(safetext.Line(strings.TrimRight(row, "\r"))); got > columns {
			t.Errorf("a row has %d columns, want at most %d: %s", got, columns, row)
		}
	}
}

// A command in the background that would be stopped for wanting the terminal
// would stop everybody who waits for the database it holds.
func TestBackgroundCommandIsNotStopped(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := sit(t, env, 80, "sh", "-c", `set -m; askback ask 'Which database?' PostgreSQL SQLite & wait $!; echo "it ended with $?"`)
	s.sees(`this command runs in the background and does not ask here; answer at\r\nhttp://\S+/asks/ask_\w{26}\r\n`)
	mustRun(t, env, "answer", askID.FindString(s.screen.String()), "1")
	s.sees(`it ended with 0`)
}

// A command in the background does not keep the terminal from the next one.
func TestBackgroundCommandLeavesTheTerminalFree(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "sh", "-c", `set -m; askback ask 'First?' a b & read go; askback ask 'Second?' c d; askback answer latest a; wait $!; echo "it ended with $?"`)
	s.sees(`this command runs in the background`)
	s.types("go\n")
	s.sees(`(?s)Second\?.*Type one of 1-3.*> $`)
	s.types("1\n")
	s.sees(`(?m)^c\r$`)
	s.sees(`(?m)^a\r$`)
	s.sees(`it ended with 0`)
}

// So does one whose input has ended: it waits for an answer from elsewhere, and the next
// one may ask.
func TestEndedInputLeavesTheTerminalFree(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "sh", "-c", `exec 3<&0
askback ask 'First?' a b <&3 & first=$!
askback ask 'Second?' a b <&3 & second=$!
wait $first $second; echo "both ended"`)
	s.sees(`another question is open in this terminal`)
	s.sees(`(?m)^> `)
	waiting := regexp.MustCompile(`(ask_\w{26}) waits for its turn`).FindStringSubmatch(s.screen.String())[1]
	s.types("\x04")
	s.sees(`the input ended, and that is no answer; ask_\w{26} still waits`)
	open := regexp.MustCompile(`no answer; (ask_\w{26}) still waits`).FindStringSubmatch(s.screen.String())[1]
	s.sees(`(?s)no answer;.*Type one of 1-3.*> $`)
	if open == waiting {
		t.Fatalf("%s was asked and waits for its turn", open)
	}
	s.types("1\n")
	s.sees(`(?m)^a\r$`)
	mustRun(t, env, "answer", open, "2")
	s.sees(`both ended`)
}

// Two prompts never read one keyboard: what is typed answers the ask that is shown, and
// the other one waits for its turn.
func TestOnePromptPerTerminal(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	s := sit(t, env, 80, "sh", "-c", `exec 3<&0
askback confirm 'Delete the cluster?' <&3 & first=$!
askback confirm 'Tidy the desk?' <&3 & second=$!
wait $first; a=$?; wait $second; echo "they ended with $a and $?"`)
	s.sees(`Approve\? \[y/N\] `)
	s.sees(`another question is open in this terminal; ask_\w{26} waits for its turn`)
	waiting := regexp.MustCompile(`(ask_\w{26}) waits for its turn`).FindStringSubmatch(s.screen.String())[1]
	s.types("y\n")
	s.sees(`(?s)Approve\? .*Approve\? \[y/N\] `)
	if list := mustRun(t, env, "list"); strings.Count(list, "\n") != 1 || !strings.HasPrefix(list, waiting) {
		t.Errorf("after one y the list has\n%swant %s alone", list, waiting)
	}
	s.types("n\n")
	s.exits(0)
	s.sees(`they ended with (0 and 1|1 and 0)`)
}

// What encoding/json leaves raw is escaped on a terminal, and nowhere else.
func TestJSONDoesNothingToTheTerminal(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb")
	evil := "a\u009b2J\u007f\u202e\U000e0041b"
	asked := launch(t, env, "ask", evil, "yes", "no")
	asked.waitForStderr(t, "Type one of")
	id := strings.Fields(mustRun(t, env, "list"))[0]
	if piped := mustRun(t, env, "show", "--json", id); !strings.Contains(piped, evil) {
		t.Errorf("a pipe got\n%swant %q in it", piped, evil)
	}
	for _, args := range [][]string{{"show", "--json", id}, {"list", "--json"}} {
		s := sit(t, env, 80, "askback", args...)
		s.exits(0)
		s.sees(`a\\u009b2J\\u007f\\u202e\\udb40\\udc41b`)
		if i := strings.IndexAny(s.screen.String(), "\u009b\u007f\u202e\U000e0041"); i >= 0 {
			t.Errorf("%v: a control character of the agent reached the screen:\n%q", args, s.screen.String()[i:])
		}
	}
}

// Who begins to type claims the ask, so that the others see that somebody is at it (F8).
// The first word that counts for nothing is enough.
func TestTypingClaimsTheAsk(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	s := sit(t, env, 80, "askback", "ask", "Which?", "yes", "no")
	s.sees("Type one of")
	id := askID.FindString(s.screen.String())
	if before := mustRun(t, env, "show", "--json", id); !strings.Contains(before, `"claims": []`) {
		t.Fatalf("nobody types, and it is claimed: %s", before)
	}
	s.types(":help\r")
	if !eventually(func() bool {
		return strings.Contains(mustRun(t, env, "show", "--json", id), `"name": "`+connection.UserName()+`"`)
	}) {
		t.Errorf("it is not claimed: %s", mustRun(t, env, "show", "--json", id))
	}
	s.types("yes\r")
	s.exits(0)
}

// What is folded is shown by the pager. Ctrl+C in there is the pager's own, and the prompt
// goes on behind it.
func TestPagerShowsWhatIsFolded(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t, "TERM=dumb", `PAGER=grep -c '"line'; echo reading; cat /dev/tty`)
	file := filepath.Join(t.TempDir(), "call.json")
	lines := strings.TrimSuffix(strings.Repeat(`"line",`, 5000), ",")
	if err := os.WriteFile(file, []byte(`{"confirmation": {"tool_name": "run", "input": {"script": [`+lines+`]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sit(t, env, 80, "askback", "ask", "--file", file)
	s.sees(`(?s)4914 rows are not shown; :show shows them.*Approve\? \[y/N\] $`)
	s.types(":show\n")
	s.sees(`5000\r\nreading\r\n$`)
	s.types("\x03")
	s.sees(`(?s)That was everything.*Approve\? \[y/N\] $`)
	s.types("no, far too long\n")
	s.exits(exitNo)
	s.sees(`denied by .*: far too long`)
}
