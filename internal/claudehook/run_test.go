package claudehook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/claudehook"
)

const (
	runBash = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	ranBash = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"}}`
	askDB   = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which DB?","header":"DB","options":[{"label":"Postgres","description":""},{"label":"SQLite","description":""}],"multiSelect":false}]}}`
)

func event(t *testing.T, raw string) claudehook.Event {
	t.Helper()
	ev, err := claudehook.Read([]byte(raw), "")
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// headless is the same call where nobody sits.
func headless(t *testing.T, raw string) claudehook.Event {
	t.Helper()
	ev := event(t, strings.Replace(raw, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1))
	ev.Headless = true
	return ev
}

func wantOutput(t *testing.T, got claudehook.Reply, err error, part string) {
	t.Helper()
	if err != nil || !json.Valid(got.Output) || !strings.Contains(string(got.Output), part) {
		t.Errorf("got %s, %v; want %s in it", got.Output, err, part)
	}
}

// A question is answered from elsewhere, and a permission is spent by its use (F7, F9).
func TestAHookAsksAndWaits(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana", askbacktest.Answer("Which DB?", "SQLite"), askbacktest.Approve("Bash"))
	seat := desk.Agent("local")
	out, err := claudehook.Run(t.Context(), seat, event(t, askDB))
	wantOutput(t, out, err, `"answers":{"Which DB?":"SQLite"}`)
	out, err = claudehook.Run(t.Context(), seat, event(t, runBash))
	wantOutput(t, out, err, `"behavior":"allow"`)
	a := desk.Asks()[1]
	if _, err := seat.Consume(t.Context(), a.ID, a.Outcome.Digest); !errors.Is(err, askback.ErrConsumed) {
		t.Errorf("got %v, want the approval spent", err)
	}
}

// The same words asked again are a new ask: an old approval is no approval.
func TestAnOldAnswerIsNoAnswer(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana", askbacktest.Approve("Bash"), askbacktest.Deny("Bash", "not twice"))
	seat := desk.Agent("local")
	out, err := claudehook.Run(t.Context(), seat, event(t, runBash))
	wantOutput(t, out, err, `"allow"`)
	out, err = claudehook.Run(t.Context(), seat, event(t, runBash))
	wantOutput(t, out, err, `not twice`)
	if n := len(desk.Asks()); n != 2 {
		t.Errorf("got %d asks, want 2", n)
	}
}

// noticing is a seat that tells of each ask it made or found.
type noticing struct {
	claudehook.Client
	asked chan askback.Ask
}

func (n noticing) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	a, err := n.Client.Ask(ctx, r)
	n.asked <- a
	return a, err
}

// An open ask is found again by a repeated hook: a person sees one card, and
// both hooks get the answer.
func TestARepeatedHookAttaches(t *testing.T) {
	desk := askbacktest.New(t)
	ana := desk.Person("ana")
	seat := noticing{desk.Agent("local"), make(chan askback.Ask, 2)}
	outs := make(chan claudehook.Reply, 2)
	for range 2 {
		go func() {
			out, err := claudehook.Run(t.Context(), seat, event(t, askDB))
			if err != nil {
				t.Error(err)
			}
			outs <- out
		}()
	}
	one, other := <-seat.asked, <-seat.asked
	if one.ID != other.ID || len(desk.Asks()) != 1 {
		t.Errorf("got %s and %s of %d asks, want one", one.ID, other.ID, len(desk.Asks()))
	}
	if _, err := ana.Answer(t.Context(), one.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wantOutput(t, <-outs, nil, "SQLite")
	}
}

// When the dialog at the desk is quicker the hook ends, and its card with it.
func TestAHookThatEndsWithdraws(t *testing.T) {
	desk := askbacktest.New(t)
	ana := desk.Person("ana")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan claudehook.Reply, 1)
	go func() {
		out, err := claudehook.Run(ctx, desk.Agent("local"), event(t, runBash))
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
	if a := desk.Asks()[0]; a.Status != askback.Cancelled {
		t.Errorf("got %s, want it cancelled", a.Status)
	}
}

// A deferred call stays open when its session ends, and the resumed session
// finds the answer, given long after.
func TestADeferredCallIsAnsweredLater(t *testing.T) {
	desk := askbacktest.New(t)
	ana := desk.Person("ana")
	seat := desk.Agent("local")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan claudehook.Reply, 1)
	go func() {
		out, err := claudehook.Run(ctx, seat, headless(t, askDB))
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
	for _, name := range []string{claudehook.SessionEnd, claudehook.Stop} {
		if out, err := claudehook.Run(t.Context(), seat, claudehook.Event{Name: name, SessionID: "s1"}); out.Output != nil || err != nil {
			t.Errorf("%s: got %s, %v", name, out.Output, err)
		}
	}
	desk.Advance(72 * time.Hour)
	if _, err := ana.Answer(t.Context(), ask.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	resumed := headless(t, askDB)
	resumed.PromptID, resumed.PermissionMode, resumed.CWD = "", "acceptEdits", "/srv/"
	out, err := claudehook.Run(t.Context(), seat, resumed)
	wantOutput(t, out, err, `"answers":{"Which DB?":"SQLite"}`)
}

// What was answered at the desk is retired by the tool having run, in its own
// session only.
func TestAToolThatRanRetiresItsAsk(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana")
	seat := desk.Agent("local")
	for _, raw := range []string{runBash, strings.Replace(runBash, `"s1"`, `"s2"`, 1), askDB} {
		r, ok := claudehook.Request(event(t, raw))
		if !ok {
			t.Fatalf("%s asks nothing", raw)
		}
		if _, err := seat.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	status := func() (out []askback.Status) {
		for _, a := range desk.Asks() {
			out = append(out, a.Status)
		}
		return out
	}
	if out, err := claudehook.Run(t.Context(), seat, event(t, ranBash)); out.Output != nil || err != nil {
		t.Errorf("got %s, %v", out.Output, err)
	}
	if got := status(); got[0] != askback.Cancelled || got[1] != askback.Pending || got[2] != askback.Pending {
		t.Errorf("got %v, want the first cancelled", got)
	}
	if err := claudehook.Retire(t.Context(), seat, claudehook.Event{Name: claudehook.Stop, SessionID: "s1"}); err != nil {
		t.Error(err)
	}
	if got := status(); got[1] != askback.Pending || got[2] != askback.Cancelled {
		t.Errorf("got %v, want the third cancelled too", got)
	}
}

// broken is a seat where everything fails.
type broken struct{ claudehook.Client }

func (broken) Ask(context.Context, askback.Request) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

func (broken) List(context.Context, askback.Query) (askback.Page, error) {
	return askback.Page{}, askback.ErrUnreachable
}

// spent is a seat where every approval is used up.
type spent struct{ claudehook.Client }

func (spent) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrConsumed
}

// Whatever goes wrong there is no decision: the dialog at the desk decides (F9).
func TestNoDecisionOnErrors(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana", askbacktest.Approve("Bash"))
	for raw, seat := range map[string]claudehook.Client{askDB: broken{}, ranBash: broken{}, runBash: spent{desk.Agent("local")}} {
		if out, err := claudehook.Run(t.Context(), seat, event(t, raw)); out.Output != nil || err == nil {
			t.Errorf("%s: got %s, %v; want an error and no output", raw, out.Output, err)
		}
	}
}

// full is a seat where too many wait already.
type full struct{ claudehook.Client }

func (full) Wait(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrTooMany
}

// What cannot be waited for is withdrawn, also where nobody sits: without a
// decision the run goes on, and no answer would be heard.
func TestAnAskThatNobodyWaitsForIsWithdrawn(t *testing.T) {
	for name, ev := range map[string]claudehook.Event{"a permission": event(t, runBash), "a call that can be deferred": headless(t, askDB)} {
		desk := askbacktest.New(t)
		desk.Person("ana")
		out, err := claudehook.Run(t.Context(), full{desk.Agent("local")}, ev)
		if out.Output != nil || !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("%s: got %s, %v; want no decision", name, out.Output, err)
		}
		if a := desk.Asks()[0]; a.Status != askback.Cancelled {
			t.Errorf("%s: got %s, want it cancelled", name, a.Status)
		}
	}
}

// What a person cannot be shown as it is, is no silence: a gate can stay shut.
func TestACallThatCannotBeAskedIsSaidToBe(t *testing.T) {
	large := `"make #` + strings.Repeat("x", askback.MaxInput) + `"`
	for raw, want := range map[string]error{
		strings.Replace(runBash, `"make"`, large, 1):                                   claudehook.ErrUnaskable,
		strings.Replace(runBash, `"make"`, `12345678901234567890`, 1):                  claudehook.ErrUnaskable,
		strings.Replace(runBash, `"Bash"`, `"mcp__askback__ask_user_question"`, 1):     nil,
		strings.Replace(runBash, claudehook.PermissionRequest, "Notification", 1):      nil,
		strings.Replace(askDB, `"Which DB?"`, `""`, 1):                                 nil,
		strings.Replace(ranBash, `"make"`, large, 1):                                   nil,
		strings.Replace(askDB, claudehook.PermissionRequest, claudehook.PreToolUse, 1): nil,
	} {
		desk := askbacktest.New(t)
		out, err := claudehook.Run(t.Context(), desk.Agent("local"), event(t, raw))
		if out.Output != nil || !errors.Is(err, want) || len(desk.Asks()) != 0 {
			t.Errorf("%.120s: got %s, %v, %d asks; want %v", raw, out.Output, err, len(desk.Asks()), want)
		}
	}
}

// The configuration that is written names what is read here, and our events.
func TestTheConfigurationFits(t *testing.T) {
	files, err := agentconfig.Files("claude-code", agentconfig.User, agentconfig.Wish{URL: "https://x.example", HookURL: "https://x.example" + claudehook.Path})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := files[1].Edit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"https://x.example" + claudehook.Path, claudehook.EntrypointHeader, "$" + claudehook.EntrypointVariable, claudehook.PermissionRequest, claudehook.PreToolUse, claudehook.Elicitation, claudehook.ElicitationResult,
		claudehook.PostToolUse, claudehook.PostToolUseFailure, claudehook.UserPromptSubmit, claudehook.Stop, claudehook.SessionEnd,
	} {
		if !strings.Contains(string(settings), `"`+name+`"`) {
			t.Errorf("%s is not in %s", name, settings)
		}
	}
	if !claudehook.Headless("sdk-cli") || claudehook.Headless("cli") || claudehook.Headless("sdk-ts") || claudehook.Headless("") {
		t.Error("only claude -p has nobody at the desk")
	}
}

// No input panics, and whatever it is, pending asks decide nothing (T5).
func FuzzRead(f *testing.F) {
	for _, raw := range []string{runBash, ranBash, askDB, `{"hook_event_name":"Elicitation","session_id":"s","mcp_server_name":"x","requested_schema":{"properties":{"a":{"type":"array","items":{"enum":["a","b"]}}}}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := claudehook.Read(raw, "")
		if err != nil {
			return
		}
		r, ok := claudehook.Request(ev)
		ask := askback.Ask{Agent: r.Agent, Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context, Title: r.Title}
		if _, err := r.Normalize(); ok && err != nil {
			t.Errorf("%s: the request is refused: %v", raw, err)
		}
		if out, decided := claudehook.Decision(ev, ask); decided {
			t.Errorf("%s: decided %s before anybody did", raw, out)
		}
		for _, status := range []askback.Status{askback.Declined, askback.Cancelled, askback.Expired} {
			ask.Status, ask.Outcome = status, &askback.Outcome{Status: status}
			if out, _ := claudehook.Decision(ev, ask); strings.Contains(string(out), "allow") || strings.Contains(string(out), "accept") {
				t.Errorf("%s: %s lets it happen: %s", raw, status, out)
			}
		}
		claudehook.Retires(ev, ask)
	})
}
