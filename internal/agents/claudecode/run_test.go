package claudecode_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/limits"
)

const (
	runBash = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	ranBash = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"}}`
	askDB   = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which DB?","header":"DB","options":[{"label":"Postgres","description":""},{"label":"SQLite","description":""}],"multiSelect":false}]}}`
)

func event(t *testing.T, raw string) claudecode.Event {
	t.Helper()
	ev, err := claudecode.Read([]byte(raw), "")
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// headless returns the event that a headless session sends for the call of a permission request.
func headless(t *testing.T, raw string) claudecode.Event {
	t.Helper()
	ev := event(t, strings.Replace(raw, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1))
	ev.Headless = true
	return ev
}

func wantOutput(t *testing.T, got hook.Reply, err error, part string) {
	t.Helper()
	if err != nil || !json.Valid(got.Output) || !strings.Contains(string(got.Output), part) {
		t.Errorf("got %s, %v; want %s in it", got.Output, err, part)
	}
}

// runHook handles an event with a new runner, as another process would, and returns the reply.
func runHook(ctx context.Context, client hook.Client, ev claudecode.Event) (hook.Reply, error) {
	return runEvent(ctx, new(hook.Runner), "", client, ev)
}

// A hook waits for the answer, and consumes an approval (F7, F9).
func TestHookAsksAndWaits(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Answer("Which DB?", "SQLite"), askbacktest.Approve("Bash"))
	client := server.Agent("local")
	out, err := runHook(t.Context(), client, event(t, askDB))
	wantOutput(t, out, err, `"answers":{"Which DB?":"SQLite"}`)
	out, err = runHook(t.Context(), client, event(t, runBash))
	wantOutput(t, out, err, `"behavior":"allow"`)
	a := server.Asks()[1]
	if _, err := client.Consume(t.Context(), a.ID, a.Outcome.Digest); !errors.Is(err, askback.ErrConsumed) {
		t.Errorf("got %v, want the approval consumed", err)
	}
}

// A repeated call makes a new ask, because an old approval does not apply to it.
func TestOldApprovalIsNotReused(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Approve("Bash"), askbacktest.Deny("Bash", "not twice"))
	client := server.Agent("local")
	out, err := runHook(t.Context(), client, event(t, runBash))
	wantOutput(t, out, err, `"allow"`)
	out, err = runHook(t.Context(), client, event(t, runBash))
	wantOutput(t, out, err, `not twice`)
	if n := len(server.Asks()); n != 2 {
		t.Errorf("got %d asks, want 2", n)
	}
}

// A recordingClient is a client that sends each ask that it makes to the channel asked.
type recordingClient struct {
	hook.Client
	asked chan askback.Ask
}

func (n recordingClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	a, err := n.Client.Ask(ctx, r)
	n.asked <- a
	return a, err
}

// Two hooks of one call share an ask, and both get its answer.
func TestRepeatedHookFindsItsAsk(t *testing.T) {
	server := askbacktest.New(t)
	ana := server.Person("ana")
	client := recordingClient{server.Agent("local"), make(chan askback.Ask, 2)}
	outs := make(chan hook.Reply, 2)
	for range 2 {
		go func() {
			out, err := runHook(t.Context(), client, event(t, askDB))
			if err != nil {
				t.Error(err)
			}
			outs <- out
		}()
	}
	one, other := <-client.asked, <-client.asked
	if one.ID != other.ID || len(server.Asks()) != 1 {
		t.Errorf("got %s and %s of %d asks, want one", one.ID, other.ID, len(server.Asks()))
	}
	if _, err := ana.Answer(t.Context(), one.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wantOutput(t, <-outs, nil, "SQLite")
	}
}

// A hook that is cancelled withdraws its ask. The reply of the hook then has no decision.
func TestCancelledHookWithdrawsItsAsk(t *testing.T) {
	server := askbacktest.New(t)
	ana := server.Person("ana")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan hook.Reply, 1)
	go func() {
		out, err := runHook(ctx, server.Agent("local"), event(t, runBash))
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	if _, err := ana.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if out := <-done; out.Output != nil {
		t.Errorf("got %s, want no decision", out.Output)
	}
	if a := server.Asks()[0]; a.Status != askback.Cancelled {
		t.Errorf("got %s, want it cancelled", a.Status)
	}
}

// The ask of a deferred call stays open when its session ends, and the resumed session
// gets a much later answer.
func TestDeferredCallIsAnsweredLater(t *testing.T) {
	server := askbacktest.New(t)
	ana := server.Person("ana")
	client := server.Agent("local")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan hook.Reply, 1)
	go func() {
		out, err := runHook(ctx, client, headless(t, askDB))
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	ask, err := ana.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	wantOutput(t, <-done, nil, `"permissionDecision":"defer"`)
	for _, name := range []string{claudecode.SessionEnd, claudecode.Stop} {
		if out, err := runHook(t.Context(), client, claudecode.Event{Name: name, SessionID: "s1"}); out.Output != nil ||
			err != nil {
			t.Errorf("%s: got %s, %v", name, out.Output, err)
		}
	}
	server.Advance(72 * time.Hour)
	if _, err := ana.Answer(t.Context(), ask.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	resumed := headless(t, askDB)
	resumed.PromptID, resumed.PermissionMode, resumed.CWD = "", "acceptEdits", "/srv/"
	out, err := runHook(t.Context(), client, resumed)
	wantOutput(t, out, err, `"answers":{"Which DB?":"SQLite"}`)
}

// A tool that ran ends the ask about its call, and the end of a turn ends the other asks of its session.
// Neither event ends an ask of another session.
func TestAskIsCancelledAfterItsToolRan(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana")
	client := server.Agent("local")
	for _, raw := range []string{runBash, strings.Replace(runBash, `"s1"`, `"s2"`, 1), askDB} {
		r, ok := requestOf(event(t, raw))
		if !ok {
			t.Fatalf("%s has no request", raw)
		}
		if _, err := client.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	status := func() (out []askback.Status) {
		for _, a := range server.Asks() {
			out = append(out, a.Status)
		}
		return out
	}
	if out, err := runHook(t.Context(), client, event(t, ranBash)); out.Output != nil || err != nil {
		t.Errorf("got %s, %v", out.Output, err)
	}
	if got := status(); got[0] != askback.Cancelled || got[1] != askback.Pending || got[2] != askback.Pending {
		t.Errorf("got %v, want the first cancelled", got)
	}
	if err := withdrawEnded(t.Context(), client, claudecode.Event{Name: claudecode.Stop, SessionID: "s1"}); err != nil {
		t.Error(err)
	}
	if got := status(); got[1] != askback.Pending || got[2] != askback.Cancelled {
		t.Errorf("got %v, want the third cancelled too", got)
	}
}

// A brokenClient is a client whose Ask and List fail.
type brokenClient struct{ hook.Client }

func (brokenClient) Ask(context.Context, askback.Request) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

func (brokenClient) List(context.Context, askback.Query) (askback.Page, error) {
	return askback.Page{}, askback.ErrUnreachable
}

// A consumedClient is a client whose approvals are all consumed.
type consumedClient struct{ hook.Client }

func (consumedClient) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrConsumed
}

// After an error there is no decision, even about a call that was approved (F9).
func TestHookPrintsNoDecisionAfterAnError(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Approve("Bash"))
	for raw, client := range map[string]hook.Client{
		askDB: brokenClient{}, ranBash: brokenClient{}, runBash: consumedClient{server.Agent("local")},
	} {
		if out, err := runHook(t.Context(), client, event(t, raw)); out.Output != nil || err == nil {
			t.Errorf("%s: got %s, %v; want an error and no output", raw, out.Output, err)
		}
	}
}

// A fullServer is a client whose server has too many waiting calls.
type fullServer struct{ hook.Client }

func (fullServer) Wait(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrTooMany
}

// If a hook cannot wait for its ask, the ask is withdrawn, even if the call is deferrable. Without a decision
// the run continues, so the answer could not be delivered.
func TestAskIsWithdrawnIfItsHookCannotWait(t *testing.T) {
	for name, ev := range map[string]claudecode.Event{
		"a permission": event(t, runBash), "a call that can be deferred": headless(t, askDB),
	} {
		server := askbacktest.New(t)
		server.Person("ana")
		out, err := runHook(t.Context(), fullServer{server.Agent("local")}, ev)
		if out.Output != nil || !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("%s: got %s, %v; want no decision", name, out.Output, err)
		}
		if a := server.Asks()[0]; a.Status != askback.Cancelled {
			t.Errorf("%s: got %s, want it cancelled", name, a.Status)
		}
	}
}

// A call that cannot be shown unchanged is an error, so that the tool can be blocked. Other events that make
// no ask are not errors.
func TestUnshowableCallIsAnError(t *testing.T) {
	large := `"make #` + strings.Repeat("x", limits.MaxInput) + `"`
	for raw, want := range map[string]error{
		strings.Replace(runBash, `"make"`, large, 1):                                   hook.ErrCannotAsk,
		strings.Replace(runBash, `"make"`, `12345678901234567890`, 1):                  hook.ErrCannotAsk,
		strings.Replace(runBash, `"Bash"`, `"mcp__askback__ask_user_question"`, 1):     nil,
		strings.Replace(runBash, claudecode.PermissionRequest, "Notification", 1):      nil,
		strings.Replace(askDB, `"Which DB?"`, `""`, 1):                                 nil,
		strings.Replace(ranBash, `"make"`, large, 1):                                   nil,
		strings.Replace(askDB, claudecode.PermissionRequest, claudecode.PreToolUse, 1): nil,
	} {
		server := askbacktest.New(t)
		out, err := runHook(t.Context(), server.Agent("local"), event(t, raw))
		if out.Output != nil || !errors.Is(err, want) || len(server.Asks()) != 0 {
			t.Errorf("%.120s: got %s, %v, %d asks; want %v", raw, out.Output, err, len(server.Asks()), want)
		}
	}
}

// The configuration that askback init writes has the header of this package, and all events of this package
// except Interrupt, which only Codex sends. Only sessions with the entrypoint sdk-cli are headless.
func TestInitConfiguresEachEvent(t *testing.T) {
	files, err := claudecode.Config.FilesFor(config.User,
		config.Options{URL: "https://x.example", HookURL: "https://x.example" + claudecode.Path})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := files[1].Edit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"https://x.example" + claudecode.Path, claudecode.EntrypointHeader, "$" + claudecode.EntrypointVariable,
		claudecode.PermissionRequest, claudecode.PreToolUse, claudecode.Elicitation, claudecode.ElicitationResult,
		claudecode.PostToolUse, claudecode.PostToolUseFailure, claudecode.UserPromptSubmit, claudecode.Stop,
		claudecode.SessionEnd,
	} {
		if !strings.Contains(string(settings), `"`+name+`"`) {
			t.Errorf("%s is not in %s", name, settings)
		}
	}
	if !claudecode.IsHeadless("sdk-cli") || claudecode.IsHeadless("cli") || claudecode.IsHeadless("sdk-ts") ||
		claudecode.IsHeadless("") {
		t.Error("want only sdk-cli to be headless")
	}
}

// No input causes a panic, and an outcome without an answer never allows anything (T5).
func FuzzRead(f *testing.F) {
	for _, raw := range []string{runBash, ranBash, askDB, `{"hook_event_name":"Elicitation","session_id":"s","mcp_server_name":"x","requested_schema":{"properties":{"a":{"type":"array","items":{"enum":["a","b"]}}}}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := claudecode.Read(raw, "")
		if err != nil {
			return
		}
		r, ok := requestOf(ev)
		ask := askback.Ask{
			Agent: r.Agent, Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, Title: r.Title,
		}
		if _, err := r.Normalize(); ok && err != nil {
			t.Errorf("%s: the request is rejected: %v", raw, err)
		}
		if out, decided := decisionOf(ev, ask); decided {
			t.Errorf("%s: got the decision %s for a pending ask", raw, out)
		}
		for _, status := range []askback.Status{askback.Declined, askback.Cancelled, askback.Expired} {
			ask.Status, ask.Outcome = status, &askback.Outcome{Status: status}
			if out, _ := decisionOf(ev, ask); strings.Contains(string(out), "allow") ||
				strings.Contains(string(out), "accept") {
				t.Errorf("%s: %s is a decision that allows: %s", raw, status, out)
			}
		}
		claudecode.EndsAsk(ev, ask)
	})
}

// The keys of asks must not change, because a later version uses the keys to find the asks of this version.
func TestKeysAreStable(t *testing.T) {
	for raw, want := range map[string]string{
		runBash: "claude-code:980f8bd0ad6dbc72e2ba9ea7db96e2ae7a9fe9496a9ee1d31554acd288d4e741",
		strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`,
			1): "claude-code:547aac08588cc4837304d421525f07d1f186f638bb84b409dfe79051d902fd1f",
	} {
		if r, _ := requestOf(event(t, raw)); r.Key != want {
			t.Errorf("%s: got %s, want %s", raw, r.Key, want)
		}
	}
}
