package sdk_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// The adapters for Python are called with objects as the frameworks pass them. An approval allows the
// approved arguments once, and everything else is a denial (F9).
func TestPythonAdaptersFollowTheDecision(t *testing.T) {
	t.Parallel()
	adapters := []struct {
		name string
		// edits is true if a person may change the arguments. reasons is true if the framework gets the
		// reason of a denial.
		edits, reasons bool
	}{
		{"agent_framework", false, false},
		{"crewai", true, false},
		{"google_adk", false, false},
		{"langchain", true, true},
		{"openai_agents", false, true},
		{"pydantic_ai", true, true},
	}
	d := driver{args: []string{python(t), "adapters.py"}, environ: pythonPath(t)}
	server := clienttest.New(t)
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) {
			p := d.start(t, server.URL, token(t, server, a.name+" denied"), a.name)
			server.Answer(server.Open(1)[0].ID, askback.Decide(askback.Deny, "not on Fridays"))
			if r := p.agentResult(); len(r.Ran) != 0 {
				t.Errorf("denied: got %+v", r)
			} else if a.reasons {
				contains(t, r.Text, "not on Fridays")
			}

			secret := token(t, server, a.name)
			p = d.start(t, server.URL, secret, a.name)
			open := server.Open(1)[0]
			answer, want := askback.Decide(askback.Approve, ""), "prod"
			if a.edits {
				answer.Input, want = json.RawMessage(`{"to": "staging"}`), "staging"
			}
			if open.Confirmation.NoEdit == a.edits {
				t.Errorf("got no_edit %v", open.Confirmation.NoEdit)
			}
			server.Answer(open.ID, answer)
			if r := p.agentResult(); len(r.Ran) != 1 || r.Ran[0]["to"] != want {
				t.Errorf("approved: got %+v", r)
			}
			if r := d.start(t, server.URL, secret, a.name).agentResult(); len(r.Ran) != 0 {
				t.Errorf("the used approval: got %+v", r)
			}
		})
	}
	// CrewAI runs the tool after an error of a hook, so the hook blocks it.
	if r := d.start(t, "http://127.0.0.1:1", "none", "crewai").agentResult(); len(r.Ran) != 0 {
		t.Errorf("without a server: got %+v", r)
	}
}

// An action of LangChain that allows only an answer is a question. It is open together with the calls that need
// an approval (D1, F9).
func TestPythonAdapterForLangChainAsksQuestions(t *testing.T) {
	t.Parallel()
	d := driver{args: []string{python(t), "adapters.py"}, environ: pythonPath(t)}
	server := clienttest.New(t)
	p := d.start(t, server.URL, token(t, server, "langchain question"), "langchain_question")
	for _, a := range server.Open(2) {
		if a.Kind == askback.Confirm {
			server.Answer(a.ID, askback.Decide(askback.Approve, ""))
			continue
		}
		if a.Questions[0].Text != "Which database?" || len(a.Questions[0].Options) != 2 {
			t.Errorf("got the question %+v", a.Questions[0])
		}
		server.Answer(a.ID, askback.Answer{Answers: []askback.QuestionAnswer{
			{ID: "q1", Selected: []string{"SQLite"}, Notes: "for now"},
		}})
	}
	if r := p.agentResult(); r.Text != `SQLite [notes: "for now"]` || len(r.Ran) != 1 {
		t.Errorf("got %+v", r)
	}
}

// token returns the secret of another agent, which has no asks.
func token(t *testing.T, server *clienttest.Instance, name string) string {
	t.Helper()
	return strings.TrimSpace(server.Run("token", "add", "--kind", "agent", "--name", name))
}
