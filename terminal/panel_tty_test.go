//go:build unix

package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// panelOf is the prefix of a value of programEnv that shows a panel. The rest of the value is a key of
// panelAsks.
const panelOf = "panel of "

// panelAsks maps names to functions that return the asks of panels.
var panelAsks = map[string]func() askback.Ask{
	"a call": harmlessCall, "options": databaseAsk,
	"a text": func() askback.Ask { return questionAsk(askback.Question{}) },
}

// askInPanel shows a panel, and prints its result.
func askInPanel() error {
	tty, err := terminal.Open()
	if err != nil {
		return err
	}
	defer tty.Close()
	r, err := terminal.NewPanel(tty, tty.Options()).Ask(context.Background(),
		view.Of(panelAsks[strings.TrimPrefix(os.Getenv(programEnv), panelOf)]()))
	if err != nil {
		return err
	}
	given, ok := r.(terminal.Answered)
	if !ok {
		return errors.New("declined")
	}
	fmt.Printf("decided: %s %q\n", given.Answer.Decision, fmt.Sprint(given.Answer.Answers))
	return nil
}

// words returns the screen without line breaks and their margins.
func (p *program) words() string { return strings.Join(strings.Fields(p.screen.String()), " ") }

// waitForWords is like waitFor, for a sentence that may be wrapped.
func (p *program) waitForWords(want string) {
	p.t.Helper()
	limit := time.After(2 * time.Minute)
	for !strings.Contains(p.words(), want) {
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

// stream types a text, one key after each gap, until the panel is on the screen. It then types a whole text
// and Enter.
func (p *program) stream(text string, gap time.Duration) {
	p.t.Helper()
	limit, tick := time.After(2*time.Minute), time.NewTicker(gap)
	defer tick.Stop()
	appeared := 0
	for n := 0; appeared == 0 || n < appeared+len(text); {
		select {
		case b, ok := <-p.drawn:
			if !ok {
				p.t.Fatalf("the program ended:\n%s", p.screen.String())
			}
			p.screen.Write(b)
			if appeared == 0 && strings.Contains(p.screen.String(), "Askback") {
				appeared = n + 1
			}
		case <-tick.C:
			if _, err := p.keys.WriteString(text[n%len(text) : n%len(text)+1]); err != nil {
				p.t.Fatal(err)
			}
			n++
		case <-limit:
			p.t.Fatal("the panel did not appear")
		}
	}
	if _, err := p.keys.WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
}

// Keys of a stream that began before the panel appeared decide nothing, at no speed of typing. The panel
// explains that it ignored them, and takes a key after a pause (C3, C5).
func TestStreamOfKeysDecidesNothing(t *testing.T) {
	for _, gap := range []time.Duration{20, 60, 125, 300, 450, 700} {
		for ask := range panelAsks {
			if ask != "a call" && gap != 60 && gap != 300 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d ms", ask, gap), func(t *testing.T) {
				t.Parallel()
				p := startProgram(t, "say", programEnv+"="+panelOf+ask)
				p.stream("yes add1", gap*time.Millisecond)
				p.waitForWords("ignored")
				if strings.Contains(p.screen.String(), "decided") {
					t.Fatalf("decided:\n%s", p.screen.String())
				}
			})
		}
	}
}

// A burst of keys is treated as pasted text, even if the terminal does not mark it as a paste. Outside a
// field, the burst decides nothing. In a field, it is inserted with its line breaks, and only a separate key
// sends the text.
func TestBurstInAPanelIsText(t *testing.T) {
	for ask, keys := range map[string]string{"a call": "looks good\nyes\n", "options": "2\n"} {
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, "", programEnv+"="+panelOf+ask)
			p.waitForWords("more keys")
			p.typeKeys(keys)
			p.waitForWords("If these were keys, press them again.")
			if strings.Contains(p.screen.String(), "decided") {
				t.Fatalf("decided:\n%s", p.screen.String())
			}
			p.typeKeys("\x1b")
			p.waitForWords("Ctrl+C leaves it open")
		})
	}
	p := startProgram(t, "", programEnv+"="+panelOf+"a text")
	p.waitForWords("Enter sends")
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("line %d\twith a tab", i))
	}
	text := strings.Join(all, "\n")
	p.typeKeys(text + "\n")
	p.waitForWords("line 29")
	limit := time.After(2 * time.Minute)
	for !strings.Contains(p.screen.String(), "decided") { // Enter works after a pause
		select {
		case b := <-p.drawn:
			p.screen.Write(b)
		case <-time.Tick(700 * time.Millisecond):
			if _, err := p.keys.WriteString("\n"); err != nil {
				t.Fatal(err)
			}
		case <-limit:
			t.Fatalf("not sent:\n%s", p.screen.String())
		}
	}
	p.waitForWords(fmt.Sprintf("%q", "["+text+"]"))
}

// Text that was typed or pasted before an ask appeared, such as the next command, is discarded, and the person reads
// that, in a panel and in a prompt (C5).
func TestDiscardedTextIsNamed(t *testing.T) {
	for _, env := range []string{panelOf + "options", "1"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, "askback confirm 'Go?'\n", programEnv+"="+env)
			p.waitForWords("Text that was typed or pasted before this appeared was discarded.")
		})
	}
}
