package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/acp"
	"github.com/askback/askback/internal/agents/hook"
)

// agentMessages are the messages with which an agent asks for a permission.
const agentMessages = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"Run make"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}
`

// When an agent ends, its ask is withdrawn. This holds even if a process that the agent started keeps the
// output of the agent open.
func TestAskIsWithdrawnWhenItsAgentEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	messages, pid := filepath.Join(dir, "messages"), filepath.Join(dir, "pid")
	if err := os.WriteFile(messages, []byte(agentMessages), 0o600); err != nil {
		t.Fatal(err)
	}
	in, editor, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer editor.Close()
	instance := askbacktest.New(t)
	p := &acp.Proxy{
		Asks: instance.Agent("local"), Command: "agent", Run: "r", Program: agents.OverACP,
		Note: func(text string) { t.Log(text) },
	}
	result := make(chan error, 1)
	go func() {
		result <- runAgent(t.Context(), p, streams{in: in, out: io.Discard, err: io.Discard}, []string{
			"sh", "-c", `read line; cat "$1"; sleep 300 & echo $! >"$2"; read line; exit 3`, "sh", messages, pid,
		})
	}()
	t.Cleanup(func() { _ = exec.Command("sh", "-c", `kill "$(cat "$1")"`, "sh", pid).Run() })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	write := func(line string) {
		if _, err := io.WriteString(editor, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	person := instance.Person("ana")
	ask, err := person.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	write(`{"jsonrpc":"2.0","method":"end"}`)
	if got, err := person.Wait(ctx, ask.ID); err != nil || !got.Withdrawn() {
		t.Errorf("the ask is %s, %v; want it withdrawn", got.Status, err)
	}
	select {
	case err := <-result:
		if exit, ok := errors.AsType[exitError](err); !ok || exit.code != 3 {
			t.Errorf("got %v, want the exit code of the agent", err)
		}
	case <-ctx.Done():
		t.Error("runAgent did not return")
	}
}

// rejecting is a client whose token is rejected.
type rejecting struct{ hook.Client }

func (rejecting) Ack(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnauthorized
}

// An agent runs although Askback cannot be reached. A note appears before the agent asks anything.
func TestAgentRunsWithoutAskback(t *testing.T) {
	t.Parallel()
	in, editor, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	notes := make(chan string, 9)
	p := &acp.Proxy{Asks: rejecting{}, Note: func(text string) { notes <- text }}
	result := make(chan error, 1)
	go func() {
		result <- runAgent(t.Context(), p, streams{in: in, out: io.Discard, err: io.Discard}, []string{"cat"})
	}()
	select {
	case note := <-notes:
		if !strings.HasPrefix(note, "Askback cannot be reached, so only the editor asks: ") {
			t.Errorf("got the note %q", note)
		}
	case <-time.After(2 * time.Minute):
		t.Error("there is no note")
	}
	if err := editor.Close(); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// The name of an agent without a name of its own is the name of its program, not of the program that runs it.
func TestProgramOfACommandIsNamed(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"kimi acp": "kimi", "/usr/bin/kimi acp": "kimi", "npx -y @qwen-code/qwen-code@0.24.4 --acp": "qwen-code",
		"npm exec -- probe": "probe", "uv run agent.py": "agent", "node /srv/agent.mjs x": "agent", "npx -y": "npx",
		"env A=b probe": "probe", "kimi.exe acp": "kimi",
	} {
		if got := programName(strings.Fields(command)); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}
