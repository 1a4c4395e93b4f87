package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A hookLane is a row of the table for a client whose hook asks people about the calls of its tools.
type hookLane struct {
	agent  string // the label of its asks
	client client
	// impatient replaces the timeout of the hook with a short timeout.
	impatient func(*fixture)
	// shell returns a call that runs a command.
	shell func(id, command string) call
	// ask returns a call of the client's tool for questions, with the options red and green.
	ask func(id string) call
	// terminal contains the arguments that run the client at a terminal. The prompt follows.
	terminal []string
	// dialog is a text on the screen while the client's own dialog is open. pick lists the keys that choose
	// the second option of a question.
	dialog string
	pick   []string
	deny   []string // the keys that deny a permission
}

// touched reports whether the command of a call has run.
func (f *fixture) touched(name string) bool {
	_, err := os.Stat(filepath.Join(f.project, name))
	return err == nil
}

// wantTouched waits for the result of a call and returns it. It requires that the call made the file, or did
// not make the file if want is false.
func (f *fixture) wantTouched(id, name string, want bool) (result string) {
	f.t.Helper()
	result = f.model.result(id)
	if got := f.touched(name); got != want {
		f.t.Errorf("%s: the file %s was made: %t, want %t; the model got %q", id, name, got, want, result)
	}
	return result
}

// touch returns a call that makes a file.
func (l hookLane) touch(id, name string) call { return l.shell(id, "touch "+name) }

func (l hookLane) with(change func(*fixture), remote bool) client {
	c := l.client
	c.configured, c.remote = change, remote
	return c
}

// permissionCells returns the tests of permissions that do not need a terminal.
func (l hookLane) permissionCells() map[situation]func(*testing.T) {
	return map[situation]func(*testing.T){
		inTime: l.decided, late: l.decidedLate, restart: l.decidedAfterRestart, headless: l.headlessAway,
		twice: l.decidedTwice,
	}
}

var (
	approve = askback.Answer{Decision: askback.Approve}
	refuse  = askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"}
)

func (l hookLane) decided(t *testing.T) {
	f := newFixture(t, l.client, l.touch("call_1", "one"), l.touch("call_2", "two"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != l.agent || c == nil || !strings.Contains(string(c.Input), "touch one") {
		t.Errorf("got the ask %+v by %s", c, ask.Agent)
	}
	if f.touched("one") {
		t.Error("the command ran before the approval")
	}
	f.Answer(ask.ID, approve)
	f.wantTouched("call_1", "one", true)
	f.Answer(f.openAfter(ask).ID, refuse)
	if result := f.wantTouched("call_2", "two", false); !strings.Contains(result, refuse.Reason) {
		t.Errorf("denied: the model got %q", result)
	}
	r.end()
}

// decidedTwice approves a call, and denies the same call when the model repeats it.
func (l hookLane) decidedTwice(t *testing.T) {
	f := newFixture(t, l.client, l.touch("call_1", "one"), l.touch("call_2", "one"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.Answer(ask.ID, approve)
	f.wantTouched("call_1", "one", true)
	if err := os.Remove(filepath.Join(f.project, "one")); err != nil {
		t.Fatal(err)
	}
	f.Answer(f.openAfter(ask).ID, refuse)
	f.wantTouched("call_2", "one", false)
	r.end()
}

// decidedLate does not answer before the timeout of the client. The call is then denied, and its ask is
// withdrawn.
func (l hookLane) decidedLate(t *testing.T) {
	f := newFixture(t, l.with(l.impatient, false), l.touch("call_1", "one"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.wantTouched("call_1", "one", false)
	r.end()
	f.wantCancelled(ask)
	if f.touched("one") {
		t.Error("the command ran after the end")
	}
}

func (l hookLane) decidedAfterRestart(t *testing.T) {
	f := newFixture(t, l.client, l.touch("call_1", "one"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.Restart()
	if got := f.Open(1)[0]; got.ID != ask.ID {
		t.Errorf("after the restart %s is open, want %s", got.ID, ask.ID)
	}
	f.Answer(ask.ID, approve)
	f.wantTouched("call_1", "one", true)
	r.end()
}

func (l hookLane) headlessAway(t *testing.T) {
	f := newFixture(t, l.with(nil, true), l.touch("call_1", "one"))
	f.Kill()
	r := f.start("Do it.")
	f.wantTouched("call_1", "one", false)
	r.end()
}

// atTerminal starts the client at a terminal.
func (f *fixture) atTerminal(l hookLane) *clienttest.Screen {
	f.t.Helper()
	return clienttest.NewScreen(f.t, f.project, f.environ(),
		append(append([]string{f.program}, l.terminal...), "Do it.")...)
}

// press waits for a text on the screen, and then presses keys. Each key must change the line that
// contains the text, because a dialog ignores keys until it is drawn.
func (f *fixture) press(s *clienttest.Screen, text string, keys ...string) {
	f.t.Helper()
	s.WaitFor(text)
	for _, key := range keys {
		before := lineWith(s.Text(), text)
		s.PressUntil(key, func(now string) error {
			if lineWith(now, text) == before {
				return errors.New("the line did not change: " + before)
			}
			return nil
		})
	}
}

// lineWith returns the first line of a screen that contains a text, or "".
func lineWith(screen, text string) string {
	for line := range strings.Lines(screen) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// awayAtTerminal denies a permission in the client's own dialog, while Askback does not run.
func (l hookLane) awayAtTerminal(t *testing.T) {
	f := newFixture(t, l.with(nil, true), l.touch("call_1", "one"))
	f.Kill()
	s := f.atTerminal(l)
	f.press(s, l.dialog, l.deny...)
	if f.touched("one") {
		t.Error("the command ran")
	}
}

// questionCells returns the tests of a row about questions, at a terminal.
func (l hookLane) questionCells() map[situation]func(*testing.T) {
	return map[situation]func(*testing.T){
		inTime: l.answered, late: l.answeredInDialog, restart: l.answeredAfterRestart, away: l.awayQuestion,
		twice: l.answeredTwice,
	}
}

// wantAnswer requires that the result of a call has only the wanted answer.
func (f *fixture) wantAnswer(id, want string) {
	f.t.Helper()
	result := f.model.result(id)
	for _, answer := range []string{"red", "green"} {
		if strings.Contains(result, `"`+answer+`"`) != (answer == want) {
			f.t.Errorf("%s: the model got %q, want only the answer %s", id, result, want)
		}
	}
}

func (l hookLane) answered(t *testing.T) {
	f := newFixture(t, l.client, l.ask("call_1"))
	f.atTerminal(l)
	ask := f.Open(1)[0]
	if ask.Agent != l.agent || len(ask.Questions) != 1 || len(ask.Questions[0].Options) != 2 {
		t.Errorf("got the ask %+v by %s", ask.Questions, ask.Agent)
	}
	f.Answer(ask.ID, askback.Choose("green"))
	f.wantAnswer("call_1", "green")
	f.wantAllAcked()
}

func (l hookLane) answeredTwice(t *testing.T) {
	f := newFixture(t, l.client, l.ask("call_1"), l.ask("call_2"))
	f.atTerminal(l)
	ask := f.Open(1)[0]
	f.Answer(ask.ID, askback.Choose("green"))
	f.wantAnswer("call_1", "green")
	f.Answer(f.openAfter(ask).ID, askback.Choose("red"))
	f.wantAnswer("call_2", "red")
}

func (l hookLane) answeredAfterRestart(t *testing.T) {
	f := newFixture(t, l.client, l.ask("call_1"))
	f.atTerminal(l)
	ask := f.Open(1)[0]
	f.Restart()
	f.Answer(ask.ID, askback.Choose("green"))
	f.wantAnswer("call_1", "green")
}

// answeredInDialog lets the hook time out. The client then shows its own dialog.
func (l hookLane) answeredInDialog(t *testing.T) {
	f := newFixture(t, l.with(l.impatient, false), l.ask("call_1"))
	s := f.atTerminal(l)
	ask := f.Open(1)[0]
	f.wantCancelled(ask)
	f.press(s, "green", l.pick...)
	if result := f.model.result("call_1"); !strings.Contains(result, "green") || strings.Contains(result, "Askback") {
		t.Errorf("the model got %q, want the answer of the dialog", result)
	}
}

func (l hookLane) awayQuestion(t *testing.T) {
	f := newFixture(t, l.with(nil, true), l.ask("call_1"))
	f.Kill()
	s := f.atTerminal(l)
	f.press(s, "green", l.pick...)
	if result := f.model.result("call_1"); !strings.Contains(result, "green") || strings.Contains(result, "Askback") {
		t.Errorf("the model got %q, want the answer of the dialog", result)
	}
}
