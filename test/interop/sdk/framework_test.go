package sdk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A framework is an agent in the folder frameworks, which deploys after an approval.
type framework struct {
	name string
	// edits is true if a person may change the arguments. ends is true if the framework itself rejects a run
	// that has already continued.
	edits, ends bool
}

var frameworks = []framework{
	{"ai-sdk", false, false},
	{"langchain", true, false},
	{"mastra", false, true},
	{"openai-agents", false, false},
}

// An agentResult is the output of a program of a framework.
type agentResult struct {
	Ran  []object `json:"ran"`
	Text string   `json:"text"`
}

func (p *caller) agentResult() (r agentResult) {
	p.t.Helper()
	if err := <-p.done; err != nil {
		p.t.Fatalf("the agent failed: %v: %s", err, p.out.String())
	}
	lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		p.t.Fatalf("%v: %s", err, p.out.String())
	}
	return r
}

// An agent of each framework pauses for an approval and follows the decision, even if it or the server was
// killed in between (F9).
func TestAgentsOfFrameworksPauseForApproval(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, f := range frameworks {
		raw, err := os.ReadFile(filepath.Join("frameworks", f.name+".ts"))
		if err != nil {
			t.Fatal(err)
		}
		files[f.name+".ts"] = string(raw)
	}
	dir := compile(t, files)
	for _, f := range frameworks {
		t.Run(f.name, func(t *testing.T) {
			server := clienttest.New(t)
			start := func(state string) *caller {
				args := []string{
					node(t), filepath.Join(dir, f.name+".js"), filepath.Join(dir, f.name+state), f.name + "-" + state,
				}
				return driver{args: args}.start(t, server.URL, server.AgentToken, `{"to":"prod"}`)
			}
			t.Run("approved after restarts", func(t *testing.T) { f.approved(t, server, start) })
			t.Run("denied", func(t *testing.T) {
				p := start("denied")
				server.Answer(server.Open(1)[0].ID, askback.Decide(askback.Deny, "not on Fridays"))
				r := p.agentResult()
				if len(r.Ran) != 0 {
					t.Errorf("the tool ran: %+v", r)
				}
				contains(t, r.Text, "not on Fridays")
			})
			t.Run("other arguments", func(t *testing.T) { f.otherArguments(t, server, start("other")) })
		})
	}
}

func (f framework) approved(t *testing.T, server *clienttest.Instance, start func(state string) *caller) {
	p := start("approved")
	open := server.Open(1)[0]
	server.Restart()
	p.kill()
	p = start("approved")
	server.Answer(server.Open(1)[0].ID, askback.Decide(askback.Approve, ""))
	if r := p.agentResult(); len(r.Ran) != 1 || r.Ran[0]["to"] != "prod" || !strings.Contains(r.Text, "deployed") {
		t.Errorf("got %+v, want the approved call", r)
	}
	a, err := server.Robot.Get(t.Context(), open.ID)
	if err != nil || a.ConsumedAt.IsZero() {
		t.Errorf("got %+v, %v, want a consumed approval of the first ask", a, err)
	}
	if f.ends {
		if again := start("approved"); <-again.done == nil || strings.Contains(again.out.String(), "\"ran\"") {
			t.Errorf("the same state again: got %s, want an error", again.out.String())
		}
		return
	}
	if r := start("approved").agentResult(); len(r.Ran) != 0 || !strings.Contains(r.Text, "was used before") {
		t.Errorf("got %+v for the same state again, want no second call", r)
	}
}

// otherArguments lets a person change the arguments. It requires that this succeeds only if the framework can
// run the changed arguments.
func (f framework) otherArguments(t *testing.T, server *clienttest.Instance, p *caller) {
	open := server.Open(1)[0]
	edited := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to": "staging"}`)}
	_, err := server.Person.Answer(t.Context(), open.ID, edited)
	if (err == nil) != f.edits {
		t.Fatalf("got %v for changed arguments", err)
	}
	if err != nil {
		server.Answer(open.ID, askback.Decide(askback.Deny, ""))
	}
	r := p.agentResult()
	if got := len(r.Ran) == 1 && r.Ran[0]["to"] == "staging"; got != f.edits || len(r.Ran) > 1 {
		t.Errorf("got %+v", r)
	}
}
