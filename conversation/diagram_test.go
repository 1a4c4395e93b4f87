package conversation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/conversation"
	"github.com/askback/askback/test/kit/golden"
)

//go:generate go test -run ^TestDiagramMatchesMachine$ . -update

// docs/conversation.md lists every change of phase. The test finds these changes: it tries each input in each
// state that a few steps can reach.
func TestDiagramMatchesMachine(t *testing.T) {
	golden.Check(t, "../docs/conversation.md", `# The machine of a hosted run

*Generated from the machine, package `+"`conversation`"+`: do not edit. Write the page anew with `+"`make generate`"+`, or
`+"`go test ./conversation -run TestDiagramMatchesMachine -update`"+`. The same test fails while this page and the machine
differ.*

For contributors. The transcripts in `+"`conversation/testdata`"+` specify what an input does in each phase;
[hosted runs](design/hosted-runs.md#the-machine) has the reasons.

`+"```mermaid\nstateDiagram-v2\n"+strings.Join(phaseChanges(t), "\n")+"\n```\n")
}

// phaseChanges returns the lines of the diagram.
func phaseChanges(t *testing.T) (edges []string) {
	t.Helper()
	seen := map[string]bool{}
	states := []conversation.State{{}}
	for range 7 {
		var next []conversation.State
		for _, s := range states {
			for _, in := range diagramInputs(s) {
				r, err := s.Step(in)
				if err != nil || r.Unchanged {
					continue
				}
				edge := fmt.Sprintf("    %s --> %s: %s", or(string(s.Phase), "[*]"), r.State.Phase,
					strings.TrimPrefix(fmt.Sprintf("%T", in), "conversation."))
				if !slices.Contains(edges, edge) {
					edges = append(edges, edge)
				}
				if key := diagramKey(t, r.State); !seen[key] {
					seen[key] = true
					next = append(next, r.State)
				}
			}
		}
		states = next
	}
	order := []string{"[*]", "requesting", "executing", "awaiting", "delegating", "idle"}
	slices.SortStableFunc(edges, func(a, b string) int {
		return slices.Index(order, strings.Fields(a)[0]) - slices.Index(order, strings.Fields(b)[0])
	})
	return edges
}

// diagramKey returns the same text for states that the diagram does not distinguish.
func diagramKey(t *testing.T, s conversation.State) string {
	t.Helper()
	s.Open = slices.Clone(s.Open)
	for i := range s.Open {
		s.Open[i].N = 0
	}
	s.Request, s.InTurn, s.Calls, s.Asks, s.Spawned = 0, 0, 0, 0, 0
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// diagramInputs returns the inputs to try in a state.
func diagramInputs(s conversation.State) []conversation.Input {
	at, call := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), 0
	if s.Phase == "" {
		return []conversation.Input{conversation.Started{
			Prompt: conversation.Message{Role: conversation.RoleUser, Text: "Go."},
			Limits: conversation.Limits{Attempts: 2}, At: at,
		}}
	}
	if len(s.Open) > 0 {
		call = s.Open[0].N
	}
	calls := func(plans ...conversation.Plan) (all []conversation.Call) {
		for _, p := range plans {
			all = append(all, conversation.Call{Tool: "t", Plan: p})
		}
		return all
	}
	tool, ask := conversation.Plan{Kind: conversation.KindTool}, conversation.Plan{Kind: conversation.KindAsk}
	confirm, children := conversation.Plan{Kind: conversation.KindTool, Confirm: true}, conversation.Plan{
		Kind: conversation.KindDelegate, Tasks: 1,
	}
	return []conversation.Input{
		conversation.ModelReplied{Request: s.Request, At: at},
		conversation.ModelReplied{Request: s.Request, Calls: calls(tool, ask, ask, children, tool), At: at},
		conversation.ModelReplied{Request: s.Request, Calls: calls(confirm, children), At: at},
		conversation.ModelReplied{Request: s.Request, Calls: calls(children, ask), At: at},
		conversation.ModelReplied{Request: s.Request, Calls: calls(tool), At: at},
		conversation.ModelFailed{Request: s.Request, Attempt: s.Attempt, Retry: true, At: at},
		conversation.ModelFailed{Request: s.Request, Attempt: s.Attempt, At: at},
		conversation.ToolStarted{Call: call, At: at},
		conversation.ToolFinished{Call: call, At: at},
		conversation.AskSettled{Call: call, At: at},
		conversation.AskSettled{Call: call, Approved: true, At: at},
		conversation.AskSettled{Call: call, Fails: "no one answered", At: at},
		conversation.ChildFinished{Call: call, At: at},
		conversation.PersonWrote{Text: "And", At: at},
		conversation.Due{At: at.Add(time.Hour)},
		conversation.TurnCancelled{At: at},
		conversation.RunCancelled{At: at},
		conversation.RunFailed{Error: "gone", At: at},
	}
}

// or returns the first text, or the second if the first is empty.
func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
