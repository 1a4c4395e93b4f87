package agents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A request is a call of a tool that asks people. Its methods test the situations of the table in
// docs/agents.md.
type request struct {
	kind string // question or permission
	tool string
	args any
	// yes and no are answers. The results of these answers contain saysYes and saysNo. If yes permits
	// [makeLine], saysYes is the constant ran.
	yes, no         askback.Answer
	saysYes, saysNo string
	// headless contains the further arguments of the client without a terminal.
	headless []string
	// terminal contains the arguments of the client at the terminal.
	terminal []string
	// dialog lists texts on the screen while the client shows its dialog.
	dialog []string
	// accept answers yes in the dialog of the client.
	accept func(*fixture, *clienttest.Screen)
}

// makeLine is a command that adds a line to the file "made" in the project.
const makeLine = "echo made >> made"

// ran is the result of a call of makeLine that ran.
const ran = "(makeLine ran)"

func (m request) call(id string) call { return call{id, m.tool, m.args} }

// option matches an option of a question in JSON.
var option = regexp.MustCompile(`{"label":"\w+"[^}]*}`)

// want requires that the result of a call contains only the wanted answer: saysYes or saysNo. If want is "",
// the result must contain no answer.
func (m request) want(f *fixture, id, want string) {
	f.t.Helper()
	// Codex reads the structured content of a result, OpenCode the text, Copilot both.
	result := strings.ReplaceAll(f.model.result(id), "Approved by ", approval)
	result = option.ReplaceAllString(result, "") // Gemini CLI repeats the call in an error
	for _, part := range []string{m.saysYes, m.saysNo, `"blue"`} {
		if part != ran && strings.Contains(result, part) != (part == want) {
			f.t.Errorf("the model got %q, want only the answer %q", result, want)
		}
	}
	if want == ran {
		f.made++
	}
	f.wantMade()
}

// wantMade requires that makeLine ran as often as it was allowed.
func (f *fixture) wantMade() {
	f.t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.project, "made"))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	if n := strings.Count(string(raw), "made\n"); n != f.made {
		f.t.Errorf("the command ran %d times, want %d", n, f.made)
	}
}

// inTime answers before the time-out of the client.
func (m request) inTime(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	r := f.start(m.headless...)
	ask := f.Open(1)[0]
	f.wantMade()
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	r.end()
}

// twice makes the same request twice in each of two runs. Each request has a new ask with its own answer.
func (m request) twice(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	r := f.start(m.headless...)
	ask := f.Open(1)[0]
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Answer(f.openAfter(ask).ID, m.no)
	m.want(f, "call_2", m.saysNo)
	r.end()
	f.wantAllAcked()
	r = f.start(m.headless...)
	f.Answer(f.openAfter(ask).ID, m.no)
	f.Answer(f.openAfter(ask).ID, m.no)
	r.end()
	m.want(f, "call_1", m.saysNo)
}

// withdrawn answers after the client has ended its hook. The answer then allows nothing.
func (m request) withdrawn(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	r := f.start(m.headless...)
	ask := f.Open(1)[0]
	m.want(f, "call_1", "")
	f.wantCancelled(ask)
	if _, err := f.Person.Answer(bounded(t), ask.ID, m.yes); err == nil {
		t.Error("the late answer is accepted")
	}
	_ = r.cmd.Wait() // some clients fail after a denial
	f.wantMade()
}

// restart kills and restarts Askback before a person answers.
func (m request) restart(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	r := f.start(m.headless...)
	ask := f.Open(1)[0]
	f.Restart()
	if got := f.Open(1)[0]; got.ID != ask.ID {
		t.Errorf("after the restart %s is open, want %s", got.ID, ask.ID)
	}
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	r.end()
}

// away runs the client without Askback and without a terminal.
func (m request) away(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	f.Kill()
	r := f.start(m.headless...)
	m.want(f, "call_1", "")
	_ = r.cmd.Wait() // some clients fail after a denial
	f.wantMade()
}

// ownDialog answers at the terminal, while Askback asks as well.
func (m request) ownDialog(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	s := f.startTerminal(m.terminal...)
	ask := f.Open(1)[0]
	s.WaitFor(m.dialog...)
	f.wantMade()
	m.accept(f, s)
	m.want(f, "call_1", m.saysYes)
	f.wantCancelled(ask)
}

// awayAtTerminal runs the client at a terminal, without Askback.
func (m request) awayAtTerminal(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	f.Kill()
	s := f.startTerminal(m.terminal...)
	s.WaitFor(m.dialog...)
	f.wantMade()
	m.accept(f, s)
	m.want(f, "call_1", m.saysYes)
}

// startTerminal starts the client in a terminal.
func (f *fixture) startTerminal(args ...string) *clienttest.Screen {
	f.t.Helper()
	return clienttest.NewScreen(f.t, f.project, f.environ(), append([]string{f.program}, args...)...)
}

// openAfter waits until there is one open ask and returns it. The ask must not be one of the asks before.
func (f *fixture) openAfter(before ...askback.Ask) askback.Ask {
	f.t.Helper()
	ask := f.Open(1)[0]
	for _, b := range before {
		if b.ID == ask.ID {
			f.t.Errorf("%s is open again, want another ask", ask.ID)
		}
	}
	return ask
}

// wantCancelled waits until an ask is settled, and requires that it was cancelled.
func (f *fixture) wantCancelled(ask askback.Ask) {
	f.t.Helper()
	got, err := f.Person.Wait(bounded(f.t), ask.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	if got.Status != askback.Cancelled {
		f.t.Errorf("the ask is %s by %+v, want it cancelled", got.Status, got.Outcome.Actor)
	}
}

// change replaces a string, which must occur, in a file of the home folder.
func (f *fixture) change(name, before, after string) {
	f.t.Helper()
	path := filepath.Join(f.Home, filepath.FromSlash(name))
	raw, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(raw), before) {
		f.t.Fatalf("%s has no %s:\n%s", name, before, raw)
	}
	f.write(name, []byte(strings.ReplaceAll(string(raw), before, after)))
}
