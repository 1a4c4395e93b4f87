package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/hook"
)

const (
	permit = `{"session_id":"c1","turn_id":"t1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	call   = `{"session_id":"c1","turn_id":"t1","cwd":"/srv","hook_event_name":"PreToolUse","tool_use_id":"call_1","tool_name":"Bash","tool_input":{"command":"make"}}`
	asking = `{"session_id":"c1","turn_id":"t1","cwd":"/srv","hook_event_name":"PreToolUse","tool_use_id":"call_1","tool_name":"request_user_input","tool_input":{"questions":[{"id":"db","header":"DB","question":"Which DB?","options":[{"label":"Postgres","description":""},{"label":"SQLite","description":""}]}]}}`
)

func event(t *testing.T, raw string) codex.Event {
	t.Helper()
	ev, err := codex.Read([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// run handles an event with a new runner, as another process would, and returns the reply.
func run(ctx context.Context, client hook.Client, ev codex.Event) (hook.Reply, error) {
	job, err := codex.Handle(ev, true)
	if err != nil {
		return hook.Reply{}, err
	}
	return new(hook.Runner).Do(ctx, "", client, job)
}

// If the model repeats the id of a call, or Codex sends no id, the same question or call is asked again. An
// approval lets only one call run.
func TestRepeatedCallIsAskedAgain(t *testing.T) {
	for name, raw := range map[string]string{"permission": permit, "guarded call": call, "question": asking} {
		t.Run(name, func(t *testing.T) {
			server := askbacktest.New(t)
			first, second := `"allow"`, "not twice"
			if raw == asking {
				first, second = "SQLite", "Postgres"
				server.Person("ana", askbacktest.Answer("Which DB?", first), askbacktest.Answer("Which DB?", second))
			} else {
				server.Person("ana", askbacktest.Approve("Bash"), askbacktest.Deny("Bash", second))
			}
			client := server.Agent("local")
			var got []string
			for range 2 {
				out, err := run(t.Context(), client, event(t, raw))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(out.Output))
			}
			if !strings.Contains(got[0], first) || !strings.Contains(got[1], second) || len(server.Asks()) != 2 {
				t.Errorf("got %q of %d asks, want %s and %s", got, len(server.Asks()), first, second)
			}
			if a := server.Asks()[0]; raw != asking {
				if _, err := client.Consume(t.Context(), a.ID, a.Outcome.Digest); !errors.Is(err, askback.ErrConsumed) {
					t.Errorf("got %v, want the approval consumed", err)
				}
			}
		})
	}
}

// Two calls share an ask only if everything that Codex sends about them is equal. The model makes the id of a
// call, and may repeat it in another turn or session.
func TestDifferentCallsHaveDifferentKeys(t *testing.T) {
	keys := map[string]string{}
	for _, change := range [][2]string{
		{"", ""},
		{`"c1"`, `"c2"`},
		{`"t1"`, `"t2"`},
		{`"call_1"`, `"call_2"`},
		{`"/srv"`, `"/tmp"`},
		{`"Bash"`, `"apply_patch"`},
		{`"make"`, `"make test"`},
		{`PreToolUse`, `PermissionRequest`},
		{`"cwd"`, `"agent_id":"a1","cwd"`},
		{`"cwd"`, `"agent_type":"explorer","cwd"`},
	} {
		raw := strings.Replace(call, change[0], change[1], 1)
		r, ok := requestOf(event(t, raw))
		if before, known := keys[r.Key]; !ok || known {
			t.Errorf("%s has the key of %s", raw, before)
		}
		keys[r.Key] = raw
	}
	if r, _ := requestOf(
		event(t, strings.Replace(call, `{"command":"make"}`, `{ "command" : "make" }`, 1)),
	); keys[r.Key] != call {
		t.Error("the same call has another key")
	}
}

// Codex has a dialog for its permissions, and for questions in plan mode.
func TestOnlyPermissionsAndPlanQuestionsHaveADialog(t *testing.T) {
	plan := strings.Replace(asking, `"cwd"`, `"permission_mode":"plan","cwd"`, 1)
	for raw, want := range map[string]bool{
		permit: true, plan: true, asking: false, call: false,
		strings.Replace(permit, `"cwd"`, `"agent_id":"a1","cwd"`, 1):        false,
		strings.Replace(call, `"cwd"`, `"permission_mode":"plan","cwd"`, 1): false,
	} {
		if got := codex.HasDialog(event(t, raw)); got != want {
			t.Errorf("%s: got %v, want %v", raw, got, want)
		}
	}
}

// An approval that cannot be consumed allows nothing.
func TestUnconsumedApprovalAllowsNothing(t *testing.T) {
	for _, raw := range []string{permit, call} {
		server := askbacktest.New(t)
		server.Person("ana", askbacktest.Approve("Bash"))
		out, err := run(t.Context(), failingConsumer{server.Agent("local")}, event(t, raw))
		if err == nil || out.Output != nil {
			t.Errorf("got %s, %v, want an error and no decision", out.Output, err)
		}
	}
}

// A failingConsumer is a client that cannot consume approvals.
type failingConsumer struct{ hook.Client }

func (failingConsumer) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

// The end of a turn withdraws the asks of the turn, and no call of the turn is allowed.
func TestEndOfTurnWithdrawsItsAsks(t *testing.T) {
	for _, raw := range []string{permit, call, asking} {
		server := askbacktest.New(t)
		ana, client := server.Person("ana"), server.Agent("local")
		done := make(chan hook.Reply, 1)
		go func() {
			out, err := run(t.Context(), client, event(t, raw))
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
		if _, err := ana.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t.Context(), client,
			event(t, `{"session_id":"c1","turn_id":"t1","hook_event_name":"Interrupt"}`)); err != nil {
			t.Fatal(err)
		}
		if out := <-done; strings.Contains(string(out.Output), `"allow"`) ||
			server.Asks()[0].Status != askback.Cancelled {
			t.Errorf("got %s of a %s ask, want it cancelled", out.Output, server.Asks()[0].Status)
		}
	}
}

// No input causes a panic, and only an approval allows a call (T5).
func FuzzRead(f *testing.F) {
	for _, raw := range []string{permit, call, asking, `{"session_id":"c1","hook_event_name":"SessionEnd"}`, `{"session_id":"c1","turn_id":"t","hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{"a":[1,{"b":null}]}}`} {
		f.Add([]byte(raw), "yes")
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		ev, err := codex.Read(raw)
		if err != nil {
			return
		}
		r, ok := requestOf(ev)
		if _, err := r.Normalize(); ok && err != nil {
			t.Errorf("%s: the request is rejected: %v", raw, err)
		}
		ask := askOf(r)
		if out, decided := decisionOf(ev, ask); decided {
			t.Errorf("%s: got the decision %s for a pending ask", raw, out)
		}
		outcomes := []askback.Outcome{
			{Status: askback.Answered, Decision: askback.Deny, Reason: text, Input: json.RawMessage(`{}`)},
			{Status: askback.Answered, Comment: text},
		}
		for _, status := range []askback.Status{askback.Declined, askback.Cancelled, askback.Expired} {
			outcomes = append(outcomes, askback.Outcome{Status: status, Reason: text},
				askback.Outcome{Status: status, Decision: askback.Approve, Comment: text})
		}
		for _, o := range outcomes {
			ask.Status, ask.Outcome = o.Status, &o
			out, decided := decisionOf(ev, ask)
			if allows(t, out) {
				t.Errorf("%s: %+v is a decision that allows: %s", raw, o, out)
			}
			if ok && ask.Confirmation != nil && codex.Gated(ev) && !decided {
				t.Errorf("%s: %+v lets a guarded call run", raw, o)
			}
		}
		if ok && ask.Confirmation == nil && codex.Gated(ev) {
			t.Errorf("%s: a guarded call is asked about as a question", raw)
		}
		codex.EndsAsk(ev, ask)
	})
}

// allows reports whether the output of a hook allows a call.
func allows(t *testing.T, out []byte) bool {
	if out == nil {
		return false
	}
	var o struct {
		Specific struct {
			Permission string `json:"permissionDecision"`
			Decision   struct {
				Behavior string `json:"behavior"`
			} `json:"decision"`
			Updated json.RawMessage `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return o.Specific.Permission != "deny" && o.Specific.Decision.Behavior != "deny" || o.Specific.Updated != nil
}

// The keys of asks must not change, because a later version uses the keys to find the asks of this version.
func TestKeysAreStable(t *testing.T) {
	for raw, want := range map[string]string{
		permit: "codex:f47ca899770473f0267036001d8eec8321ffc09d1591b763f3bb9962366c5028",
		call:   "codex:6f39688dc94c1d9600de81cc12463b939585923f1c9560d5cde0bc306de10781",
	} {
		if r, _ := requestOf(event(t, raw)); r.Key != want {
			t.Errorf("%s: got %s, want %s", raw, r.Key, want)
		}
	}
}
