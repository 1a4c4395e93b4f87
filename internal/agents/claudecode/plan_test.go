package claudecode_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
)

// planEvent is the event about a plan that is only in a file.
func planEvent(path string) string {
	return fmt.Sprintf(`{"session_id":"s1","cwd":"/srv","permission_mode":"plan","hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{"planFilePath":%q}}`, path)
}

// readEvent returns the job of the command hook for an event, in a home folder.
func readEvent(t *testing.T, home, raw string) hook.Job {
	t.Helper()
	getenv := func(name string) string {
		if name == claudecode.EntrypointVariable {
			return "cli"
		}
		return ""
	}
	h := claudecode.Hook{Subagents: claudecode.DefaultSubagentWait}
	job, err := h.Read([]byte(raw), hook.Env{Home: home, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// writePlan writes a file of a home folder, and returns its path.
func writePlan(t *testing.T, home, name, text string) string {
	t.Helper()
	path := filepath.Join(home, ".claude", "plans", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func approvedBy(kind askback.ActorKind, c askback.Confirmation) askback.Ask {
	return askback.Ask{
		Kind: askback.Confirm, Confirmation: &c, Status: askback.Answered,
		Outcome: &askback.Outcome{
			Status: askback.Answered, Decision: askback.Approve, Actor: askback.Actor{Kind: kind, Name: "ana"},
		},
	}
}

// A plan that is only in a file is shown with the name of the file. An approval by a person allows the call with
// its exact arguments, unless the file has another plan by then.
func TestPlanInAFileIsShown(t *testing.T) {
	home := t.TempDir()
	path := writePlan(t, home, "a.md", "# Move the users\n1. copy\n")
	call := readEvent(t, home, planEvent(path)).Call
	c := *call.Request.Confirmation
	if c.Description != "Move the users" || c.Dangerous ||
		!strings.HasSuffix(c.Context, path+":\n\n# Move the users\n1. copy\n") {
		t.Errorf("got %q, %q", c.Description, c.Context)
	}
	want := fmt.Sprintf(`"behavior":"allow","updatedInput":{"planFilePath":%q}`, path)
	if out, ok := call.Decide(approvedBy(askback.ActorPerson, c)); !ok || !strings.Contains(string(out), want) {
		t.Errorf("got %s, want %s in it", out, want)
	}
	if out, ok := call.Decide(approvedBy(askback.ActorPolicy, c)); ok {
		t.Errorf("a standing approval of the arguments allows a plan that they do not contain: %s", out)
	}
	writePlan(t, home, "a.md", "# Drop the users\n")
	if out, ok := call.Decide(approvedBy(askback.ActorPerson, c)); ok {
		t.Errorf("the approval of another plan was used: %s", out)
	}
	if other := readEvent(t, home, planEvent(path)).Call; other.Request.Key == call.Request.Key {
		t.Error("another plan in the same file finds the ask of the first one")
	}
}

// A file that cannot be shown is named, with the reason, and no single key approves its plan. Only Markdown in
// the folders of the agent is read.
func TestPlanThatCannotBeReadIsNamed(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	secret := filepath.Join(elsewhere, "secret.md")
	if err := os.WriteFile(secret, []byte("# Secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "link.md")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "folder.md")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, reason := range map[string]string{
		filepath.Join(home, "missing.md"):  "it is not in the folders of the agent",
		writePlan(t, home, "key.pem", "x"): "it is not a Markdown file",
		secret:                             "it is not in the folders of the agent",
		filepath.Join(home, "..", filepath.Base(secret)): "it is not in the folders of the agent",
		link:                                    "escapes",
		folder:                                  "it is not a regular file",
		writePlan(t, home, "empty.md", "\n"):    "it is empty",
		writePlan(t, home, "binary.md", "\xff"): "it is not text",
		writePlan(t, home, "long.md", strings.Repeat("a", 2e5)): "it is longer than",
	} {
		call := readEvent(t, home, planEvent(path)).Call
		c := call.Request.Confirmation
		if out, ok := call.Decide(approvedBy(askback.ActorPolicy, *c)); ok {
			t.Errorf("%s: a standing approval allows a plan that no one saw: %s", path, out)
		}
		if !c.Dangerous || !strings.Contains(c.Context, path) || !strings.Contains(c.Context, reason) ||
			strings.Contains(c.Context, "Secret") {
			t.Errorf("%s: got %v, %q, want %q in it", path, c.Dangerous, c.Context, reason)
		}
	}
}

// Claude Code shows its dialog for a sub-agent only after the hook, so the hook waits for a bounded time.
// Without a dialog, and for other calls, it waits until there is an answer.
func TestWaitForASubagentIsBounded(t *testing.T) {
	const subagent = `,"agent_id":"a7","agent_type":"release-helper"}`
	for raw, want := range map[string]time.Duration{
		strings.TrimSuffix(runBash, "}") + subagent: time.Minute,
		strings.TrimSuffix(askDB, "}") + subagent:   time.Minute,
		runBash: 0,
		strings.TrimSuffix(runBash, "}") + `,"agent_type":"main"}`: 0,
	} {
		job := readEvent(t, t.TempDir(), raw)
		if job.Wait != want || (job.Call.Late != "") != (want > 0) {
			t.Errorf("%s: got %v, %q, want %v", raw, job.Wait, job.Call.Late, want)
		}
	}
	ev := event(t, strings.TrimSuffix(runBash, "}")+subagent)
	if ev.Headless = true; ev.BlocksDialog() {
		t.Error("claude -p has no dialog")
	}
}

// A lateContext is a context whose deadline passes when passed is closed.
type lateContext struct {
	context.Context
	passed chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.passed }

func (c lateContext) Err() error {
	select {
	case <-c.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// When the time for a sub-agent has passed, the hook prints nothing, and its ask is withdrawn with the reason. A
// later answer is then rejected.
func TestAskOfASubagentIsWithdrawnAfterItsTime(t *testing.T) {
	server := askbacktest.New(t)
	ana := server.Person("ana")
	ev := event(t, strings.TrimSuffix(runBash, "}")+`,"agent_id":"a7","agent_type":"release-helper"}`)
	ctx := lateContext{t.Context(), make(chan struct{})}
	done := make(chan hook.Reply)
	go func() {
		defer close(done)
		out, err := runHook(ctx, server.Agent("local"), ev)
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	ask, err := ana.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	close(ctx.passed)
	if out := <-done; out.Output != nil {
		t.Errorf("got %s, want no decision", out.Output)
	}
	if o := server.Asks()[0].Outcome; o == nil || !strings.Contains(o.Reason, "Claude Code now shows its own dialog") {
		t.Errorf("got %+v, want it withdrawn with the reason", o)
	}
	late := askback.Decide(askback.Approve, "")
	if _, err := ana.Answer(t.Context(), ask.ID, late); !errors.Is(err, askback.ErrSettled) {
		t.Errorf("a later answer: got %v, want %v", err, askback.ErrSettled)
	}
}
