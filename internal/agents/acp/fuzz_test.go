package acp_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/acp"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// unapproved lists outcomes that approve nothing.
var unapproved = hooktest.Unapproved("yes")

// Whatever the agent sends, Askback chooses an option that allows something only after an approval.
func FuzzAgent(f *testing.F) {
	for i := range unapproved {
		f.Add(strings.Join([]string{initialized, opened, toolCall, permission}, "\n"), i)
		f.Add(strings.Join([]string{initialized, toolCall, permission, permission, closed}, "\n"), i)
		f.Add(strings.Join([]string{initialized, permission, `{"id":`, `[]`, `null`, allowed}, "\n"), i)
	}
	f.Fuzz(func(t *testing.T, messages string, outcome int) {
		var agent, editor bytes.Buffer
		p := &acp.Proxy{
			Asks:    &hooktest.Client{Outcome: unapproved[uint(outcome)%uint(len(unapproved))]},
			Command: "agent", Run: "r", Program: agents.OverACP, Note: func(string) {},
		}
		p.Start(&agent, &editor)
		if err := p.FromEditor(strings.NewReader(initialize + "\n" + newSession + "\n")); err != nil {
			t.Fatal(err)
		}
		if err := p.FromAgent(t.Context(), strings.NewReader(messages)); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		rejecting := rejectingOptions(messages)
		for line := range strings.Lines(agent.String()) {
			var m struct {
				Result struct {
					Outcome struct {
						Outcome  string `json:"outcome"`
						OptionID string `json:"optionId"`
					} `json:"outcome"`
				} `json:"result"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("sent %s: %v", line, err)
			}
			if o := m.Result.Outcome; o.Outcome == "selected" && !slices.Contains(rejecting, o.OptionID) {
				t.Fatalf("sent %s", line)
			}
		}
	})
}

// rejectingOptions returns the ids of the options that reject a request.
func rejectingOptions(messages string) (ids []string) {
	for line := range strings.Lines(messages) {
		var m struct {
			Params struct {
				Options []struct {
					ID   string `json:"optionId"`
					Kind string `json:"kind"`
				} `json:"options"`
			} `json:"params"`
		}
		_ = json.Unmarshal([]byte(line), &m)
		for _, o := range m.Params.Options {
			if o.Kind == "reject_once" {
				ids = append(ids, o.ID)
			}
		}
	}
	return ids
}
