package agents_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback"
)

// An editor speaks the Agent Client Protocol with an agent behind askback acp.
type editor struct {
	f   *fixture
	in  io.WriteCloser
	cmd *exec.Cmd

	mu       sync.Mutex
	messages []editorMessage
}

type editorMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// edit starts an agent behind askback acp, and returns the editor that is connected to it.
func (f *fixture) edit(args ...string) *editor {
	f.t.Helper()
	cmd := exec.Command(f.Program, append([]string{"acp", "--", f.program}, args...)...)
	cmd.Dir, cmd.Env = f.project, f.environ()
	log := &strings.Builder{}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	e := &editor{f: f, in: in, cmd: cmd}
	read := make(chan struct{})
	go func() { defer close(read); e.read(out) }()
	f.t.Cleanup(func() {
		_ = in.Close()
		<-read
		_ = cmd.Wait()
		if f.t.Failed() {
			f.t.Logf("askback acp wrote:\n%s\nthe messages:", log)
			for _, m := range e.messages {
				f.t.Logf("%s %s %s %s %s", m.ID, m.Method, m.Params, m.Result, m.Error)
			}
		}
	})
	return e
}

func (e *editor) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m editorMessage
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		e.mu.Lock()
		e.messages = append(e.messages, m)
		e.mu.Unlock()
	}
}

// send sends a message.
func (e *editor) send(message map[string]any) {
	e.f.t.Helper()
	message["jsonrpc"] = "2.0"
	raw, err := json.Marshal(message)
	if err != nil {
		e.f.t.Fatal(err)
	}
	if _, err := e.in.Write(append(raw, '\n')); err != nil {
		e.f.t.Errorf("the agent has ended: %v", err)
	}
}

// received waits for a message that matches which. It removes the message from the received messages, and
// returns it.
func (e *editor) received(what string, which func(editorMessage) bool) editorMessage {
	e.f.t.Helper()
	var found editorMessage
	e.f.eventually("the editor receives "+what, func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		for i, m := range e.messages {
			if which(m) {
				found = m
				e.messages = append(e.messages[:i:i], e.messages[i+1:]...)
				return nil
			}
		}
		return errors.New("it does not")
	})
	return found
}

// call sends a request and waits for its result.
func (e *editor) call(id, method string, params any, into any) {
	e.f.t.Helper()
	e.send(map[string]any{"id": id, "method": method, "params": params})
	m := e.received("the result of "+method,
		func(m editorMessage) bool { return m.Method == "" && string(m.ID) == `"`+id+`"` })
	if m.Error != nil {
		e.f.t.Fatalf("%s: %s", method, m.Error)
	}
	if err := json.Unmarshal(m.Result, into); err != nil {
		e.f.t.Fatal(err)
	}
}

// prompt starts a session and a turn in it.
func (e *editor) prompt(text string) {
	e.f.t.Helper()
	forms := map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
	e.call("init", "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": forms}, &struct{}{})
	var session struct {
		ID string `json:"sessionId"`
	}
	e.call("new", "session/new", map[string]any{"cwd": e.f.project, "mcpServers": []any{}}, &session)
	e.send(map[string]any{"id": "prompt", "method": "session/prompt", "params": map[string]any{
		"sessionId": session.ID, "prompt": []any{map[string]any{"type": "text", "text": text}},
	}})
}

// permission waits for a request for a permission. It returns the id of the request, and the options keyed by
// kind.
func (e *editor) permission() (id json.RawMessage, options map[string]string) {
	e.f.t.Helper()
	m := e.received("a request for a permission",
		func(m editorMessage) bool { return m.Method == "session/request_permission" })
	var params struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		e.f.t.Fatal(err)
	}
	options = map[string]string{}
	for _, o := range params.Options {
		options[o.Kind] = o.ID
	}
	return m.ID, options
}

// choose answers a request for a permission.
func (e *editor) choose(id json.RawMessage, option string) {
	e.f.t.Helper()
	e.send(map[string]any{
		"id": id, "result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}},
	})
}

// The dialog of an editor and the ask are open at the same time, and the first answer counts. The agent is
// Gemini CLI.
func TestFirstAnswerInEditorOrAskbackCounts(t *testing.T) {
	t.Parallel()
	shell := func(id, line string) call {
		return call{id, "run_shell_command", map[string]any{"command": line, "description": "Make a file"}}
	}
	f := newFixture(t, gemini, shell("call_1", "touch one"), shell("call_2", "mkdir two"),
		shell("call_3", "ln -s x three"))
	e := f.edit("--acp", "--model", "gemini-2.5-pro")
	e.prompt("Do it.")

	id, options := e.permission()
	ask := f.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != "gemini · project" || c == nil ||
		!strings.Contains(string(c.Input), "touch one") || !strings.Contains(string(ask.Context), f.project) {
		t.Errorf("got the ask %+v of %s, context %s", c, ask.Agent, ask.Context)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_1")
	if !f.exists("project/one") {
		t.Error("approved in Askback: the command did not run")
	}
	e.received("the end of the dialog", func(m editorMessage) bool { return m.Method == "$/cancel_request" })
	e.choose(id, options["reject_once"]) // too late

	id, options = e.permission()
	ask = f.Open(1)[0]
	e.choose(id, options["allow_once"])
	f.model.result("call_2")
	if !f.exists("project/two") {
		t.Error("approved in the editor: the command did not run")
	}
	f.becomesCancelled(ask.ID)

	e.permission()
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny})
	e.received("the end of the turn", func(m editorMessage) bool { return string(m.ID) == `"prompt"` })
	if _, err := os.Lstat(f.project + "/three"); err == nil {
		t.Error("denied in Askback: the command ran")
	}
	if err := e.in.Close(); err != nil {
		t.Error(err)
	}
}
