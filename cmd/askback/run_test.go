package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
)

// hostScripts are the scripts of the agents of [hostServer].
var hostScripts = map[string]string{
	"poem": `
- reply: I need to know the style.
  tools:
    - {name: ask_user_question, input: {questions: [{question: What style?, options: [{label: haiku}, {label: sonnet}]}]}}
- expect: haiku
  reply: |-
    Old pond.
    A frog leaps in.
- expect: Again
  reply: Another pond.
`,
	"worker": `
- reply: I look around.
  tools:
    - {name: tools__look, input: {path: "/srv"}}
    - {name: tools__break, input: {}}
- reply: "{\"files\": 2}"
`,
	"slow":   `[{tools: [{name: tools__wait, input: {}}]}, {reply: Done.}]`,
	"broken": `[{error: {status: 400}}]`,
	"twice": `
- tools:
    - {name: ask_user_question, input: {question: First?, options: [A, B]}}
    - {name: ask_user_question, input: {question: Second?, options: [C, D]}}
- expect: D
  reply: Done.
`,
	"lead": `[{tools: [{name: spawn_agents, input: {tasks: [{agent: poem, prompt: Write.}]}}]}, {reply: All done.}]`,
}

// hostServer serves the database of a sandbox with hosted agents until the test ends. waits receives a value
// when the tool wait runs. That tool ends when its call is cancelled.
func hostServer(t *testing.T, database string) (waits <-chan struct{}) {
	t.Helper()
	running := make(chan struct{}, 10)
	type input struct {
		Path string `json:"path,omitempty"`
	}
	function := func(name string, call func(context.Context) (string, error)) agent.Function {
		return agent.ReadOnlyFunc(name, "A tool of a test.",
			func(ctx context.Context, _ input) (string, error) { return call(ctx) })
	}
	tools := agent.Functions("tools",
		function("look", func(context.Context) (string, error) { return "a\nb", nil }),
		function("break", func(context.Context) (string, error) { return "", os.ErrPermission }),
		function("wait", func(ctx context.Context) (string, error) {
			running <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}))
	var all []agent.Definition
	for name, script := range hostScripts {
		model, err := scripted.Parse(name, []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, agent.Definition{
			Name: name, Description: "The agent " + name + ".", Prompt: "You are " + name + ".", Model: model,
			Bubble: true, Tools: []string{"tools", "ask_user_question", "spawn_agents"},
			Toolsets: []agent.Toolset{tools},
		})
	}
	runner, err := agent.NewRunner(all...)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(database), 0o700); err != nil {
		t.Fatal(err)
	}
	place, err := instance.At(database)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := connection.ReadTokens(filepath.Dir(database), "")
	if err != nil {
		t.Fatal(err)
	}
	set := newChannelSet(config.Config{}, channels.Host{Key: tokens.SecretKey})
	o := connection.Options{
		Place: place, Tokens: tokens, Engine: engineOptions(config.Config{}, set, nil), Kind: instance.KindServe,
		Version: version(), Listen: "127.0.0.1:0",
	}
	o.Engine.Runner = runner
	o.Handler = func(i *connection.Instance) connection.Handler {
		return newFrontends(i, frontendOptions{kind: instance.KindServe, key: tokens.Key(), channels: set})
	}
	at, err := connection.New(o).TakeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() })
	return running
}

// C7: without a terminal, standard output has only the result of the run. Standard error has everything else:
// the calls, the question, and a note that the pipe has no answer. Another client answers the question, and
// the command prints by whom.
func TestPipedRunPrintsOnlyItsResult(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "poem", "Write", "a poem.")
	p.waitForErr(t, `What style\?`)
	id := askID.FindString(mustRun(t, env, "list"))
	mustRun(t, env, "answer", id, "haiku")
	p.waitExit(t, 0)
	if got := p.out.String(); got != "Old pond.\nA frog leaps in.\n" {
		t.Errorf("standard output has %q", got)
	}
	for _, want := range []string{"agent │ I need to know the style.", "Settled: answered by"} {
		if !strings.Contains(p.err.String(), want) {
			t.Errorf("standard error has no %q:\n%s", want, p.err.String())
		}
	}
	if text := p.err.String(); strings.Index(text, "I need to know") > strings.Index(text, "What style?") {
		t.Errorf("the text before the question comes after it:\n%s", text)
	}
	if strings.Contains(p.err.String(), "Old pond.") {
		t.Errorf("standard error has the result as well:\n%s", p.err.String())
	}
}

// C5, C7: a pipe answers the question of a run.
func TestRunIsAnsweredByAPipe(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "poem", "Write a poem.")
	p.waitForErr(t, `Type one of`)
	p.writeLine(t, "1")
	p.waitExit(t, 0)
	if got := p.out.String(); got != "Old pond.\nA frog leaps in.\n" {
		t.Errorf("standard output has %q:\n%s", got, p.err.String())
	}
}

// C5: after another client has answered a question, the pipe answers the next question with its first line.
func TestPipeAnswersTheNextQuestion(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "twice", "Go.")
	p.waitForErr(t, `(?s)First\?.*Type one of`)
	mustRun(t, env, "answer", askID.FindString(mustRun(t, env, "list")), "A")
	p.waitForErr(t, `(?s)Second\?.*Type one of`)
	p.writeLine(t, "2")
	p.waitExit(t, 0)
	if got := p.out.String(); got != "Done.\n" {
		t.Errorf("standard output has %q:\n%s", got, p.err.String())
	}
}

// A run on a remote server is followed, and another client answers its question. The command shows the
// address of the run's page, and who answered.
func TestRunOnARemoteServerIsFollowed(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	secret := strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	server, _ := instance.Place{Database: database}.Last()
	elsewhere, _ := sandbox(t, "ASKBACK_URL="+server.URL, "ASKBACK_TOKEN="+secret)
	p := launch(t, elsewhere, "run", "poem", "Go.")
	p.waitForErr(t, `answer at\n`+server.URL+`/asks/ask_`)
	mustRun(t, elsewhere, "answer", askID.FindString(mustRun(t, env, "list")), "haiku")
	p.waitExit(t, 0)
	if text := p.err.String(); !strings.Contains(text, "Settled: answered by ana") ||
		p.out.String() != "Old pond.\nA frog leaps in.\n" {
		t.Errorf("standard output has %q, standard error\n%s", p.out.String(), text)
	}
}

// E8: the completion offers the names of hosted agents, with their descriptions.
func TestHostedAgentsAreCandidates(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	if got := mustRun(t, env, "completion", "fish", "--", "run",
		"po"); !strings.Contains(got, "poem\tThe agent poem.") {
		t.Errorf("got %q", got)
	}
}

// C7: a run at a terminal shows the calls and the text, and ends with an empty line.
func TestRunAtATerminalShowsCallsAndText(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	hostServer(t, database)
	s := startTerminal(t, env, 80, "sh", "-c", `askback run poem 'Write a poem.'; echo "it ended with $?"; stty -a`)
	s.waitForScreen(`more keys`)
	s.typeKeys("\r")
	s.waitForScreen(`(?s)agent.*│.*Old pond\..*A frog leaps in\..*Next message \(Enter to finish\): `)
	s.typeKeys("Again\r")
	s.waitForScreen(`(?s)Another pond\..*Next message \(Enter to finish\): `)
	s.typeKeys("\r")
	s.waitForScreen(`it ended with 0`)
	s.waitForScreen(`[^-]icanon`)
	s.waitForScreen(`[^-]echo `)
}

// E10, C7: if another person answers while the panel is shown, the panel closes and the command prints by
// whom.
func TestRunAtATerminalIsAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	hostServer(t, database)
	s := startTerminal(t, env, 80, "askback", "run", "poem", "Write a poem.")
	s.waitForScreen(`more keys`)
	mustRun(t, env, "answer", askID.FindString(mustRun(t, env, "list")), "haiku")
	s.waitForScreen(`(?s)Settled: answered by .*A frog leaps in\..*Next message`)
	s.typeKeys("\x04")
	s.waitExit(0)
}

// C7: Ctrl+C cancels the turn, and a line confirms it. The next message continues the run. Ctrl+C while no
// turn runs leaves the run.
func TestInterruptCancelsTheTurn(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	hostServer(t, database)
	s := startTerminal(t, env, 80, "askback", "run", "slow", "Go.")
	s.waitForScreen(`wait \(tools\)`)
	s.typeKeys("\x03")
	s.waitForScreen(`(?s)Cancelling the turn\. Ctrl\+C again leaves.*The turn was cancelled\..*Next message`)
	s.typeKeys("And now?\r")
	s.waitForScreen(`(?s)Done\..*Next message`)
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
}

// C7: Ctrl+C while a question is shown withdraws the question. The outcome of the question is the only
// message.
func TestInterruptWithdrawsTheQuestion(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t, "TERM=xterm", "NO_COLOR=", "ACCESSIBLE=")
	hostServer(t, database)
	s := startTerminal(t, env, 80, "askback", "run", "poem", "Write a poem.")
	s.waitForScreen(`more keys`)
	s.typeKeys("\x03")
	s.waitForScreen(`(?s)Settled: cancelled.*The turn was cancelled\..*Next message`)
	if text := s.screen.String(); strings.Contains(text, "Cancelling the turn") {
		t.Errorf("the screen still says that the turn will be cancelled:\n%s", text)
	}
}

// C7: a run cannot be started here with an agent's token, because an agent cannot answer. With a responder's
// token it can.
func TestRunIsRejectedWithAnAgentToken(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	token := func(kind string) string {
		return "ASKBACK_TOKEN=" + strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", kind, "--name", kind))
	}
	p := launch(t, append(slices.Clone(env), token("agent")), "run", "worker", "Go.")
	p.waitExit(t, exitUsage)
	if got := p.err.String(); got != "askback: ASKBACK_TOKEN is the token of an agent, but a person must answer "+
		"this run: unset ASKBACK_TOKEN\n" {
		t.Errorf("standard error has\n%s", got)
	}
	p = launch(t, append(slices.Clone(env), token("responder")), "run", "worker", "Go.")
	p.waitExit(t, 0)
}

// C7: a user who leaves a run without a server sees how to start a server that continues the run.
func TestLeftRunPrintsTheServeCommand(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"askback.yaml": "models:\n  poem: {provider: scripted, script: poem.yaml}\n",
		"poem.yaml":    hostScripts["poem"],
		"poem.md":      "---\nmodel: poem\ntools: [ask_user_question]\n---\nYou write poems.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := launchIn(t, dir, env, "--config", "askback.yaml", "run", "--agents", ".", "poem", "Go.")
	p.waitForErr(t, `What style\?`)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitExit(t, exitInterrupted)
	if !strings.Contains(p.err.String(), "askback serve --config askback.yaml --agents .\n") {
		t.Errorf("standard error has\n%s", p.err.String())
	}
}

// C7: without a terminal, a cancelled turn ends the command with 4, and --resume continues it.
func TestCancelledRunIsResumed(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	waits := hostServer(t, database)
	p := launch(t, env, "run", "slow", "Go.")
	id := p.waitForErr(t, sessionID.String())
	<-waits
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	p.waitExit(t, exitCancelled)
	if !strings.Contains(p.err.String(), "askback run --resume "+id) || p.out.String() != "" {
		t.Fatalf("standard error has\n%s", p.err.String())
	}
	again := launch(t, env, "run", "--resume", id, "Go", "on.")
	again.waitExit(t, 0)
	if got := again.out.String(); got != "Done.\n" {
		t.Errorf("got %q", got)
	}
	if got := mustRun(t, env, "run", "--resume", id, "--json"); !strings.Contains(got, `"id": "`+id+`"`) ||
		!strings.Contains(got, `"result": "Done."`) {
		t.Errorf("got %q", got)
	}
}

// C7: SIGTERM ends the command and leaves the run unchanged.
func TestTerminatedCommandDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "poem", "Go.")
	p.waitForErr(t, `What style\?`)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitExit(t, exitInterrupted)
	if !strings.Contains(p.err.String(), "to follow it again") {
		t.Errorf("standard error has\n%s", p.err.String())
	}
	if list := mustRun(t, env, "list"); !strings.Contains(list, "What style?") {
		t.Errorf("the question is not open any more: %s", list)
	}
}

// C7, E13: each call is one row, whether it succeeds or fails. A failed run ends with 1. The error for an
// unknown agent names what to do, and a JSON result is printed as JSON.
func TestRunShowsCallsAndFailures(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "worker", "--payload", "-")
	p.writeLine(t, `{"id": 7}`)
	_ = p.in.Close()
	p.waitExit(t, 0)
	if got := p.out.String(); strings.TrimSpace(got) != `{"files":2}` {
		t.Errorf("standard output has %q", got)
	}
	for _, want := range []string{`tool │ ✓ look (tools) { "path": "/srv" }`, "tool │ ✗ break (tools)", "permission"} {
		if !strings.Contains(p.err.String(), want) {
			t.Errorf("standard error has no %q:\n%s", want, p.err.String())
		}
	}
	p = launch(t, env, "run", "broken", "Go.")
	p.waitExit(t, exitNo)
	if !strings.Contains(p.err.String(), "the run failed: ") {
		t.Errorf("standard error has\n%s", p.err.String())
	}
	p = launch(t, env, "run", "none", "Go.")
	p.waitExit(t, exitUsage)
	if !strings.HasPrefix(p.err.String(), "askback: there is no agent \"none\" here") {
		t.Errorf("standard error has\n%s", p.err.String())
	}
}

// A6, E3: a question of a child is answered at the terminal of the run that started the child.
func TestRunShowsTheQuestionsOfItsChildren(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "lead", "Go.")
	p.waitForErr(t, `(?s)lead started poem\..*What style\?.*Type one of`)
	p.writeLine(t, "haiku")
	p.waitExit(t, 0)
	if got := p.out.String(); got != "All done.\n" || !strings.Contains(p.err.String(), "poem has ended: completed.") {
		t.Errorf("standard output has %q, standard error\n%s", got, p.err.String())
	}
}

// A run that is followed again shows the questions that its children asked before.
func TestResumedRunShowsTheQuestionsOfItsChildren(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	hostServer(t, database)
	p := launch(t, env, "run", "lead", "Go.")
	p.waitForErr(t, `What style\?`)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitExit(t, exitInterrupted)
	p = launch(t, env, "run", "--resume", sessionID.FindString(p.err.String()))
	p.waitForErr(t, `(?s)What style\?.*Type one of`)
	p.writeLine(t, "haiku")
	p.waitExit(t, 0)
	if got := p.out.String(); got != "All done.\n" {
		t.Errorf("standard output has %q, standard error\n%s", got, p.err.String())
	}
}

var sessionID = regexp.MustCompile(`ses_\w{26}`)

// waitForErr waits until standard error matches, and returns the match.
func (p *process) waitForErr(t *testing.T, pattern string) (match string) {
	t.Helper()
	want := regexp.MustCompile(pattern)
	if !eventually(func() bool { match = want.FindString(p.err.String()); return match != "" }) {
		t.Fatalf("standard error never matched %s:\n%s", pattern, p.err.String())
	}
	return match
}

// waitExit waits until the process exits, and requires its exit code.
func (p *process) waitExit(t *testing.T, want int) {
	t.Helper()
	if !p.wait() || exitCode(p.result) != want {
		t.Fatalf("the command has not exited with %d: %v\n%s", want, p.result, p.err.String())
	}
}

// writeLine writes a line to standard input.
func (p *process) writeLine(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		t.Fatal(err)
	}
}
