package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/acp"
	"github.com/askback/askback/internal/hook"
)

// An outcomes client settles each ask at once with the same outcome.
type outcomes struct {
	hook.Client
	outcome askback.Outcome
	asked   sync.Map
}

func (o *outcomes) Ask(_ context.Context, r askback.Request) (askback.Ask, error) {
	ask := askback.Ask{ID: r.Key, Status: o.outcome.Status, Confirmation: r.Confirmation, Outcome: &o.outcome}
	o.asked.Store(r.Key, ask)
	return ask, nil
}

func (o *outcomes) Wait(_ context.Context, id string) (askback.Ask, error) {
	ask, _ := o.asked.Load(id)
	return ask.(askback.Ask), nil
}

func (o *outcomes) Ack(context.Context, string) (askback.Ask, error) { return askback.Ask{}, nil }

func (o *outcomes) Cancel(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, nil
}

// unapproved are outcomes that approve nothing.
var unapproved = []askback.Outcome{
	{Status: askback.Answered, Decision: askback.Deny, Reason: "yes"},
	{Status: askback.Declined, Reason: "yes"},
	{Status: askback.Expired},
	{Status: askback.Cancelled},
	{Status: askback.Answered, Comment: "yes"},
}

// Whatever the agent sends, Askback chooses no option that allows something without an approval.
func FuzzAgent(f *testing.F) {
	for i := range unapproved {
		f.Add(strings.Join([]string{initialized, opened, toolCall, permission}, "\n"), i)
		f.Add(strings.Join([]string{initialized, toolCall, permission, permission, closed}, "\n"), i)
		f.Add(strings.Join([]string{initialized, permission, `{"id":`, `[]`, `null`, allowed}, "\n"), i)
	}
	f.Fuzz(func(t *testing.T, messages string, which int) {
		var agent, editor bytes.Buffer
		p := &acp.Proxy{
			Asks:    &outcomes{outcome: unapproved[uint(which)%uint(len(unapproved))]},
			Command: "agent", Run: "r", Note: func(string) {},
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
