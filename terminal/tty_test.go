//go:build unix

package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/leftout"
)

// programEnv is set in the environment of a test binary that asks on its terminal.
const programEnv = "ASKBACK_TEST_ASKING"

// settleSecond is a value of programEnv: the second ask is settled elsewhere at the first key.
const settleSecond = "half"

// secondAskKey marks the context of the second ask.
type secondAskKey struct{}

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) == "" {
		os.Exit(m.Run())
	}
	ask := askOnTTY
	if strings.HasPrefix(os.Getenv(programEnv), panelOf) {
		ask = askInPanel
	}
	if err := ask(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func askOnTTY() error {
	tty, err := terminal.Open()
	if err != nil {
		return err
	}
	defer tty.Close()
	fmt.Fprintf(tty, "%d columns, style %v\n", tty.Width(), tty.Style())
	options := tty.Options()
	settled, settle := context.WithCancel(context.WithValue(context.Background(), secondAskKey{}, true))
	defer settle()
	options.Claim = func(ctx context.Context) {
		fmt.Println("[claimed]")
		if ctx.Value(secondAskKey{}) != nil { // settled elsewhere at the first key
			settle()
		}
	}
	p := terminal.New(tty, tty, options)
	r, err := p.Ask(context.Background(), view.Of(callAsk()))
	if err != nil {
		return err
	}
	fmt.Printf("decision: %s\n", r.(terminal.Answered).Answer.Decision)
	if os.Getenv(programEnv) != settleSecond {
		settle()
	}
	if r, err := p.Ask(settled, view.Of(questionAsk(askback.Question{}))); r != nil {
		return fmt.Errorf("got %v, %v from an ask that was settled elsewhere", r, err)
	}
	again := questionAsk(askback.Question{})
	again.Questions[0].Text = "And now?"
	r, err = p.Ask(context.Background(), view.Of(again))
	if err != nil {
		return err
	}
	fmt.Printf("answer: %s\n", r.(terminal.Answered).Answer.Answers[0])
	if err := tty.Close(); err != nil {
		return err
	}
	fmt.Println("[closed]")
	return nil
}

// A program is a program with its own terminal.
type program struct {
	t      *testing.T
	keys   *os.File
	drawn  chan []byte
	screen bytes.Buffer
}

// startProgram starts this test binary on a new terminal. The text before is typed before the program starts.
func startProgram(t *testing.T, before string, env ...string) *program {
	t.Helper()
	keys, screen, err := pty.Open()
	if err != nil {
		leftout.Skip(t, "the prompt at a terminal (no pseudo-terminals here: %v)", err)
	}
	if err := pty.Setsize(keys, &pty.Winsize{Rows: 24, Cols: 77}); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.WriteString(before); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), programEnv+"=1", "TERM=xterm", "NO_COLOR="), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	p := &program{t: t, keys: keys, drawn: make(chan []byte)}
	go p.watch()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		keys.Close()
	})
	return p
}

func (p *program) watch() {
	defer close(p.drawn)
	for {
		b := make([]byte, 4096)
		n, err := p.keys.Read(b)
		if n > 0 {
			p.drawn <- b[:n]
		}
		if err != nil {
			return
		}
	}
}

// waitFor waits until the program has drawn want.
func (p *program) waitFor(want string) {
	p.t.Helper()
	limit := time.After(2 * time.Minute)
	for !strings.Contains(p.screen.String(), want) {
		select {
		case b, ok := <-p.drawn:
			if !ok {
				p.t.Fatalf("want %q, got\n%s", want, p.screen.String())
			}
			p.screen.Write(b)
		case <-limit:
			p.t.Fatalf("want %q, got\n%s", want, p.screen.String())
		}
	}
}

func (p *program) typeKeys(s string) {
	p.t.Helper()
	p.screen.Reset()
	if _, err := p.keys.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// A y that was typed before the call was shown does not approve the call (C3, C5).
func TestInputBeforeCallDoesNotApprove(t *testing.T) {
	p := startProgram(t, "y\n")
	p.waitFor("77 columns, style true")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("n\n")
	p.waitFor("decision: denied")
	p.waitFor("And now?")
	p.typeKeys("after all\n")
	p.waitFor("answer: after all")
}

func TestYesOnTTYApproves(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("yes\n")
	p.waitFor("decision: approved")
}

// The first key claims the ask, before Enter (F5).
func TestFirstKeyClaimsAsk(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("n")
	p.waitFor("[claimed]")
	p.typeKeys("o\n")
	p.waitFor("decision: denied")
}

// Backspace, Ctrl+W and Ctrl+U erase the last character, the last word and the whole line.
func TestEditingKeysEraseText(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("yes\x7f\x7f\x7fno way\x17\x7f\n")
	p.waitFor("decision: denied")
	p.waitFor("And now?")
	p.typeKeys("gone\x15日本\x7fx e\u0301\x7f\x7f\x04 y\n")
	p.waitFor("answer: 日x y")
	if got := strings.ReplaceAll(p.screen.String(), "[claimed]\r\n", ""); !strings.Contains(got,
		"gone\b \b\b \b\b \b\b \b日本\b \b\b \bx e\u0301\b \b\b \b y") {
		t.Errorf("drawn was %q", got)
	}
}

// Arrow keys do not move the cursor. A line with arrow keys is not an answer, unless the arrow keys come
// before the text.
func TestArrowKeysAreRejected(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("y\x1b[Aes\n")
	p.waitFor("Arrow keys and Esc do not work here; type y or n. The line was not accepted.")
	p.waitFor("[y/N] ")
	for _, keys := range []string{"\x1b[B", "\x1bOA\x1b[1;5C", "\x1b", "\x1b[3~"} {
		p.typeKeys(keys + "\n") // an arrow and Enter choose nothing, not even the default
		p.waitFor("The line was not accepted.")
		p.waitFor("[y/N] ")
	}
	p.typeKeys("\x1b[A\x1b[15~n\x1b[D\x7f\x7fno\n")
	p.waitFor("decision: denied")
	if got := p.screen.String(); strings.Contains(strings.ReplaceAll(got, "\x1b[K", ""), "^[") ||
		strings.Contains(got, "[A") || strings.Contains(got, "[15~") {
		t.Errorf("drawn was %q", got)
	}
}

// Several lines that arrive together are one text. They decide no call. For a question, the person must
// confirm the text before it is sent.
func TestPastedLinesAreOneText(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("y\nyes\napprove\n1\n")
	p.waitFor("4 lines arrived together, and none of them was taken.")
	p.waitFor("[y/N] ")
	p.typeKeys("n\n")
	p.waitFor("decision: denied")
	p.waitFor("And now?")
	p.typeKeys("looks good\ny\n\tapprove\n\n1\n")
	p.waitFor("5 lines were pasted.")
	p.waitFor("[y/N] ")
	p.typeKeys("y\n")
	p.waitFor("answer: looks good\r\ny\r\n\tapprove\r\n\r\n1\r\n")
}

// An unfinished line for an ask that was settled elsewhere is not part of the next answer.
func TestUnfinishedLineIsDiscarded(t *testing.T) {
	p := startProgram(t, "", programEnv+"="+settleSecond)
	p.waitFor("Approve? [y/N]")
	p.typeKeys("n\n")
	p.waitFor("Which?")
	p.waitFor("> ")
	p.typeKeys("h")
	p.waitFor("And now?")
	p.typeKeys("whole\n")
	p.waitFor("answer: whole")
}

func TestCloseRestoresTerminal(t *testing.T) {
	p := startProgram(t, "")
	before, err := term.GetState(int(p.keys.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	p.waitFor("Approve? [y/N]")
	p.typeKeys("n")
	p.waitFor("[claimed]")
	during, err := term.GetState(int(p.keys.Fd()))
	if err != nil || reflect.DeepEqual(before, during) {
		t.Skip("the mode of the terminal is not visible:", err)
	}
	p.typeKeys("\n")
	p.waitFor("And now?")
	p.typeKeys("bye\n")
	p.waitFor("answer: bye")
	p.waitFor("[closed]")
	if after, err := term.GetState(int(p.keys.Fd())); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("got %v, %v, want %v", after, err, before)
	}
}

func TestCtrlDIsNotAnAnswer(t *testing.T) {
	p := startProgram(t, "")
	p.waitFor("Approve? [y/N]")
	p.typeKeys("\x04")
	p.waitFor("ended without an answer")
}

// Styles are not used if NO_COLOR is set, or if TERM is empty or dumb.
func TestStylesCanBeDisabled(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb", "TERM="} {
		p := startProgram(t, "", env)
		p.waitFor("style false")
		p.waitFor("Approve? [y/N]")
		if strings.Contains(p.screen.String(), "\x1b") {
			t.Errorf("%s: got %q", env, p.screen.String())
		}
	}
}

// The test binary runs in a session without a terminal.
func TestAskWithoutTerminalFails(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), programEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err == nil || !strings.Contains(string(out), terminal.ErrNoTerminal.Error()) {
		t.Errorf("got %v, %q", err, out)
	}
}

func TestOpenReturnsErrNoTerminal(t *testing.T) {
	tty, err := terminal.Open()
	if err == nil {
		tty.Close()
		t.Skip("this test has a terminal")
	}
	if !errors.Is(err, terminal.ErrNoTerminal) {
		t.Errorf("got %v", err)
	}
}
