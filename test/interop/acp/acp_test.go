package acp_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

func TestMain(m *testing.M) { clienttest.Main(m) }

// patience is the deadline of each wait.
const patience = time.Minute

// An editor and an agent that use the library work with askback acp between them. The editor closes its
// dialog after an answer in Askback, and an answer in the editor withdraws the ask.
func TestEditorAndAgentWorkThroughProxy(t *testing.T) {
	packages := clienttest.Packages(t)
	p := clienttest.New(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(here, "editor.mjs"), packages,
		p.Program, "acp", "--", "node", filepath.Join(here, "agent.mjs"), packages)
	cmd.Dir, cmd.Env = p.Home, p.Environ()
	var said bytes.Buffer
	cmd.Stderr = &said
	choose, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	next := func() string {
		t.Helper()
		select {
		case line := <-lines:
			return line
		case <-time.After(patience):
			t.Fatalf("the editor wrote nothing more\n%s", said.String())
			return ""
		}
	}
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if got := next(); got != w {
				t.Fatalf("the editor wrote %q, want %q\n%s", got, w, said.String())
			}
		}
	}

	expect("dialog Delete the logs")
	ask := p.Open(1)[0]
	if c := ask.Confirmation; !strings.HasPrefix(ask.Agent, "probe · ") || c == nil || c.ToolName != "delete" ||
		!strings.Contains(string(ask.Context), `"agent":"probe"`) {
		t.Errorf("got the ask %+v of %s with the context %s", c, ask.Agent, ask.Context)
	}
	p.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	got := []string{next(), next(), next(), next()} // the dialog closes while the turn continues
	for _, want := range []string{"closed", "message selected once", "turn end_turn", "dialog Delete the logs"} {
		if !strings.Contains(strings.Join(got, "\n")+"\n", want+"\n") {
			t.Errorf("the editor wrote %q, want %q too", got, want)
		}
	}

	// The editor's first dialog still reads a line, although it was closed.
	ask = p.Open(1)[0]
	if _, err := io.WriteString(choose, "no\nno\n"); err != nil {
		t.Fatal(err)
	}
	expect("message selected no", "turn end_turn", "dialog Delete the logs")
	if got, err := p.Person.Wait(t.Context(), ask.ID); err != nil || !got.Withdrawn() {
		t.Errorf("answered in the editor: the ask is %s, %v", got.Status, err)
	}

	p.Answer(p.Open(1)[0].ID, askback.Answer{Decision: askback.Deny})
	rest := []string{}
	for line := range lines {
		rest = append(rest, line)
	}
	for _, want := range []string{"closed", "message selected no", "turn end_turn", "exit 0"} {
		if !strings.Contains(strings.Join(rest, "\n")+"\n", want+"\n") {
			t.Errorf("the editor wrote %q, want %q too\n%s", rest, want, said.String())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the editor: %v\n%s", err, said.String())
	}
}
