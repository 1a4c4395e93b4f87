package protocols_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

func TestMain(m *testing.M) { clienttest.Main(m) }

// A run is the result that a script of this folder prints at its end.
type run struct {
	Status int             `json:"status"`
	Reply  json.RawMessage `json:"reply"`
	Result json.RawMessage `json:"result"`
	State  string          `json:"state"`
	Same   bool            `json:"same"`
}

// start starts a script, which asks with a key. The function that it returns waits for the end of the script.
func start(t *testing.T, p *clienttest.Instance, script, key string, more map[string]any) (wait func() run) {
	t.Helper()
	config := map[string]any{
		"modules": filepath.Join(clienttest.Packages(t), "node_modules"), "url": p.URL, "token": p.AgentToken,
		"key": key,
	}
	for name, value := range more {
		config[name] = value
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script, string(raw))
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (r run) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, said.String())
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s", script, err, out.String())
		}
		return r
	}
}

// restart kills the server and starts it again.
func restart(p *clienttest.Instance) {
	p.Kill()
	p.Start()
}

// open waits until there are n open asks and returns them, the confirmation first.
func open(p *clienttest.Instance, n int) []askback.Ask {
	asks := p.Open(n)
	slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
	return asks
}

// A run of AG-UI is resumed with the decisions of people after the server was killed twice. The SDK validates
// the events and its own requests.
func TestInterruptsOfAGUIAreResumed(t *testing.T) {
	p := clienttest.New(t)
	for _, c := range []struct {
		name   string
		decide askback.Answer
		want   string
	}{
		{"approved", askback.Decide(askback.Approve, ""), `{"ran":{"to":"prod"},"region":"eu"}`},
		{
			"other arguments",
			askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to":"staging"}`)},
			`{"ran":{"to":"staging"},"region":"eu"}`,
		},
		{"denied", askback.Decide(askback.Deny, "not on Fridays"), `{"ran":null,"region":"eu"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait := start(t, p, "agui.mjs", c.name, map[string]any{"interrupts": 2})
			asks := open(p, 2)
			if got := string(asks[0].Confirmation.Input); got != `{"to":"prod"}` ||
				asks[0].Confirmation.ToolName != "deploy" {
				t.Errorf("the call is %s of %s", got, asks[0].Confirmation.ToolName)
			}
			restart(p)
			p.Answer(asks[0].ID, c.decide)
			restart(p)
			p.Answer(asks[1].ID, askback.Choose("eu"))
			got := wait()
			if string(got.Result) != c.want {
				t.Errorf("got %s, want %s: %s", got.Result, c.want, got.Reply)
			}
			ask, err := p.Robot.Get(t.Context(), asks[0].ID)
			if err != nil || ask.ConsumedAt.IsZero() == (c.decide.Decision == askback.Approve) {
				t.Errorf("consumed at %v, %v", ask.ConsumedAt, err)
			}
		})
	}
}

// An interrupt that a person declines is cancelled, and nothing runs. A used approval runs nothing a second
// time.
func TestOnlyApprovalRunsCallOfAGUI(t *testing.T) {
	p := clienttest.New(t)
	wait := start(t, p, "agui.mjs", "declined", map[string]any{"interrupts": 1})
	if _, err := p.Person.Decline(t.Context(), p.Open(1)[0].ID, "not mine"); err != nil {
		t.Fatal(err)
	}
	if got := wait(); string(got.Result) != `{"ran":null,"region":null}` ||
		!strings.Contains(string(got.Reply), `"cancelled"`) {
		t.Errorf("got %s: %s", got.Result, got.Reply)
	}
	wait = start(t, p, "agui.mjs", "approved", map[string]any{"interrupts": 1})
	p.Answer(p.Open(1)[0].ID, askback.Decide(askback.Approve, ""))
	if got := wait(); string(got.Result) != `{"ran":{"to":"prod"},"region":null}` {
		t.Errorf("got %s: %s", got.Result, got.Reply)
	}
	// The reply may have been lost, so the same request with the same key gets it again. Another key asks again.
	if got := start(t, p, "agui.mjs", "approved", map[string]any{"interrupts": 1})(); got.Status != 200 ||
		string(got.Result) != `{"ran":{"to":"prod"},"region":null}` {
		t.Errorf("got %d %s, want the reply again", got.Status, got.Result)
	}
	wait = start(t, p, "agui.mjs", "again", map[string]any{"interrupts": 1})
	p.Answer(p.Open(1)[0].ID, askback.Decide(askback.Deny, ""))
	if got := wait(); string(got.Result) != `{"ran":null,"region":null}` {
		t.Errorf("got %s: %s", got.Result, got.Reply)
	}
}

// A task of A2A gets the answer of a person as its next message, after the server was killed.
func TestTaskOfA2AGetsTheAnswer(t *testing.T) {
	p := clienttest.New(t)
	wait := start(t, p, "a2a.mjs", "text", map[string]any{"parts": []any{map[string]any{"text": "Which database?"}}})
	ask := p.Open(1)[0]
	restart(p)
	p.Answer(ask.ID, askback.Choose("SQLite"))
	if got := wait(); got.State != "TASK_STATE_COMPLETED" || !got.Same ||
		string(got.Result) != `"done: [{\"text\":\"SQLite\"}]"` {
		t.Errorf("got %s, the same task: %v, %s", got.State, got.Same, got.Result)
	}
}

// Only an approval confirms a call for which an agent wants a confirmation.
func TestTaskOfA2AGetsTheDecision(t *testing.T) {
	p := clienttest.New(t)
	parts := []any{map[string]any{
		"data": map[string]any{"id": "adk-1", "name": "adk_request_confirmation", "args": map[string]any{
			"originalFunctionCall": map[string]any{"id": "c1", "name": "deploy", "args": map[string]any{"to": "prod"}},
			"toolConfirmation":     map[string]any{"hint": "Deploys.", "confirmed": false},
		}},
		"metadata": map[string]any{"adk_type": "function_call", "adk_is_long_running": true},
	}}
	for _, c := range []struct {
		decision askback.Decision
		want     string
	}{{askback.Approve, `"confirmed\":true`}, {askback.Deny, `"confirmed\":false`}} {
		wait := start(t, p, "a2a.mjs", string(c.decision), map[string]any{"parts": parts})
		ask := p.Open(1)[0]
		if ask.Kind != askback.Confirm || string(ask.Confirmation.Input) != `{"to":"prod"}` {
			t.Fatalf("got %+v", ask)
		}
		p.Answer(ask.ID, askback.Decide(c.decision, ""))
		if got := wait(); !strings.Contains(string(got.Result), c.want[1:]) {
			t.Errorf("%s: got %s", c.decision, got.Result)
		}
	}
}
