//go:build unix

package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// asking makes this test binary a program that asks on its own terminal.
const asking = "ASKBACK_TEST_ASKING"

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
	p := terminal.New(tty, tty, tty.Options())
	r, err := p.Ask(context.Background(), view.Of(call()))
	if err != nil {
		return err
	}
	fmt.Printf("decision: %s\n", r.(terminal.Given).Answer.Decision)
	settled, cancel := context.WithCancel(context.Background())
	time.AfterFunc(0, cancel)
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
	return tty.Close()
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
		t.Skip("no pseudo-terminals here:", err)
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
	limit := time.After(20 * time.Second)
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
