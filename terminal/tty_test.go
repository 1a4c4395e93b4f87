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
	"github.com/askback/askback/internal/leftout"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// asking makes this test binary a program that asks on its own terminal.
const asking = "ASKBACK_TEST_ASKING"

// half has the second ask settled elsewhere while its answer is typed.
const half = "half"

// elsewhere marks the context of that ask.
type elsewhere struct{}

func TestMain(m *testing.M) {
	if os.Getenv(asking) == "" {
		os.Exit(m.Run())
	}
	if err := askOnTTY(); err != nil {
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
	settled, settle := context.WithCancel(context.WithValue(context.Background(), elsewhere{}, true))
	defer settle()
	options.Claim = func(ctx context.Context) {
		fmt.Println("[claimed]")
		if ctx.Value(elsewhere{}) != nil { // somebody else answers at the moment of the first key here
			settle()
		}
	}
	p := terminal.New(tty, tty, options)
	r, err := p.Ask(context.Background(), view.Of(call()))
	if err != nil {
		return err
	}
	fmt.Printf("decision: %s\n", r.(terminal.Given).Answer.Decision)
	if os.Getenv(asking) != half {
		settle()
	}
	if r, err := p.Ask(settled, view.Of(one(askback.Question{}))); r != nil {
		return fmt.Errorf("got %v, %v from an ask that was settled elsewhere", r, err)
	}
	again := one(askback.Question{})
	again.Questions[0].Text = "And now?"
	r, err = p.Ask(context.Background(), view.Of(again))
	if err != nil {
		return err
	}
	fmt.Printf("answer: %s\n", r.(terminal.Given).Answer.Answers[0])
	if err := tty.Close(); err != nil {
		return err
	}
	fmt.Println("[closed]")
	return nil
}

// program is a program on a terminal of its own.
type program struct {
	t      *testing.T
	keys   *os.File
	drawn  chan []byte
	screen bytes.Buffer
}

// startOn starts this test binary on a new terminal where something was typed before.
func startOn(t *testing.T, before string, env ...string) *program {
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
	cmd.Env = append(append(os.Environ(), asking+"=1", "TERM=xterm", "NO_COLOR="), env...)
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

// until waits until the program has drawn this.
func (p *program) until(want string) {
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

func (p *program) types(s string) {
	p.t.Helper()
	p.screen.Reset()
	if _, err := p.keys.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// C3, C5: on a real terminal. The y that was typed before the call was shown does not
// approve it.
func TestATerminalIsAsked(t *testing.T) {
	p := startOn(t, "y\n")
	p.until("77 columns, style true")
	p.until("Approve? [y/N]")
	p.types("n\n")
	p.until("decision: denied")
	p.until("And now?")
	p.types("after all\n")
	p.until("answer: after all")
}

func TestATerminalApproves(t *testing.T) {
	p := startOn(t, "")
	p.until("Approve? [y/N]")
	p.types("yes\n")
	p.until("decision: approved")
}

// F5: the first key claims the ask; nobody has pressed Enter yet.
func TestTheFirstKeyClaims(t *testing.T) {
	p := startOn(t, "")
	p.until("Approve? [y/N]")
	p.types("n")
	p.until("[claimed]")
	p.types("o\n")
	p.until("decision: denied")
}

// A line can be mended while it is typed, as on every terminal.
func TestALineIsEdited(t *testing.T) {
	p := startOn(t, "")
	p.until("Approve? [y/N]")
	p.types("yes\x7f\x7f\x7fno way\x17\x7f\n")
	p.until("decision: denied")
	p.until("And now?")
	p.types("gone\x15日本\x7fx e\u0301\x7f\x7f\x04 y\n")
	p.until("answer: 日x y")
	if got := strings.ReplaceAll(p.screen.String(), "[claimed]\r\n", ""); !strings.Contains(got, "gone\b \b\b \b\b \b\b \b日本\b \b\b \bx e\u0301\b \b\b \b y") {
		t.Errorf("drawn was %q", got)
	}
}

// Keys that are no text do not move the cursor, and do not make a y of what is none.
func TestArrowsAreNoAnswer(t *testing.T) {
	p := startOn(t, "")
	p.until("Approve? [y/N]")
	p.types("y\x1b[Aes\n")
	p.until("Arrow keys and Esc do not work here; type y or n. The line was not taken.")
	p.until("[y/N] ")
	for _, keys := range []string{"\x1b[B", "\x1bOA\x1b[1;5C", "\x1b", "\x1b[3~"} {
		p.types(keys + "\n") // an arrow and Enter choose nothing, not even the default
		p.until("The line was not taken.")
		p.until("[y/N] ")
	}
	p.types("\x1b[A\x1b[15~n\x1b[D\x7f\x7fno\n")
	p.until("decision: denied")
	if got := p.screen.String(); strings.Contains(strings.ReplaceAll(got, "\x1b[K", ""), "^[") || strings.Contains(got, "[A") || strings.Contains(got, "[15~") {
		t.Errorf("drawn was %q", got)
	}
}

// What was half typed for an ask that ended elsewhere does not begin the next answer.
func TestHalfALineIsThrownAway(t *testing.T) {
	p := startOn(t, "", asking+"="+half)
	p.until("Approve? [y/N]")
	p.types("n\n")
	p.until("Which?")
	p.until("> ")
	p.types("h")
	p.until("And now?")
	p.types("whole\n")
	p.until("answer: whole")
}

// The terminal is left as it was found.
func TestTheTerminalIsPutBack(t *testing.T) {
	p := startOn(t, "")
	before, err := term.GetState(int(p.keys.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	p.until("Approve? [y/N]")
	p.types("n")
	p.until("[claimed]")
	during, err := term.GetState(int(p.keys.Fd()))
	if err != nil || reflect.DeepEqual(before, during) {
		t.Skip("the mode cannot be seen from this side:", err)
	}
	p.types("\n")
	p.until("And now?")
	p.types("bye\n")
	p.until("answer: bye")
	p.until("[closed]")
	if after, err := term.GetState(int(p.keys.Fd())); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("got %v, %v, want %v", after, err, before)
	}
}

// Ctrl+D is the end of input.
func TestTheEndOfATerminalIsNoAnswer(t *testing.T) {
	p := startOn(t, "")
	p.until("Approve? [y/N]")
	p.types("\x04")
	p.until("that is no answer")
}

func TestColoursAreLeftOutOnRequest(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb", "TERM="} {
		p := startOn(t, "", env)
		p.until("style false")
		p.until("Approve? [y/N]")
		if strings.Contains(p.screen.String(), "\x1b") {
			t.Errorf("%s: got %q", env, p.screen.String())
		}
	}
}

// TestWithoutATerminal runs this test binary in a session that has none.
func TestWithoutATerminal(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asking+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err == nil || !strings.Contains(string(out), terminal.ErrNoTerminal.Error()) {
		t.Errorf("got %v, %q", err, out)
	}
}

func TestNoTerminalIsAnErrorOfItsOwn(t *testing.T) {
	tty, err := terminal.Open()
	if err == nil {
		tty.Close()
		t.Skip("this test has a terminal")
	}
	if !errors.Is(err, terminal.ErrNoTerminal) {
		t.Errorf("got %v", err)
	}
}
