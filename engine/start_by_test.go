package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A restrictedRunner has agents that only some principals may start.
type restrictedRunner struct {
	*scriptRunner
	startBy map[string][]string
}

func (r restrictedRunner) StartBy(agent string) ([]string, bool) {
	names, restricted := r.startBy[agent]
	return names, restricted
}

// Only the principals in start_by may start an agent and write to its runs. A token with the name of a person
// does not act as that person. The agent's own schedule and webhooks may start it without being listed.
func TestStartByLimitsStartsOfAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := says("", call("ask", `{"question":"Which?"}`))
		r := restrictedRunner{
			&scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {ask}}},
			map[string][]string{
				"poem": {"ana", "@oncall", "token:ci", "agent:poem"},
			},
		}
		e := engine.New(memstore.New(), &engine.Options{
			Runner: r, Settings: engine.Settings{Groups: map[string][]string{"oncall": {"ben", "eve"}}},
		})
		start := func(kind askback.Kind, name string) (askback.Session, error) {
			return e.As(askback.Principal{Kind: kind, Name: name}).Start(t.Context(),
				askback.SessionRequest{Agent: "poem", Prompt: "Go.", Unattended: true})
		}
		for _, c := range []struct {
			kind askback.Kind
			name string
			want error
		}{
			{askback.Responder, "ana", nil},
			{askback.Responder, "ben", nil},
			{askback.Responder, "cem", askback.ErrStartBy},
			{askback.Responder, "ci", askback.ErrStartBy},
			{askback.Responder, "token:ci", askback.ErrStartBy},
			{askback.Responder, "agent:poem", askback.ErrStartBy},
			{askback.Responder, "hosted:poem", askback.ErrStartBy},
			{askback.Responder, "@oncall", askback.ErrStartBy},
			{askback.Agent, "ci", nil},
			{askback.Agent, "ana", askback.ErrStartBy},
			{askback.Agent, "poem", askback.ErrStartBy},
			{askback.Agent, "hosted:poem", nil}, // the agent's own schedule and its signed webhooks
			{askback.Agent, "hosted:child", askback.ErrStartBy},
		} {
			if _, err := start(c.kind, c.name); !errors.Is(err, c.want) {
				t.Errorf("%s %s: got %v, want %v", c.kind, c.name, err, c.want)
			}
		}
		one, err := start(askback.Agent, "ci")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]error{"ana": nil, "cem": askback.ErrStartBy} {
			for _, cmd := range []askback.Command{
				askback.SendMessage{Text: "Delete production."}, askback.ResumeSession{},
			} {
				_, err := e.As(askback.Principal{Kind: askback.Responder, Name: name}).Send(t.Context(), one.ID, cmd)
				if !errors.Is(err, want) {
					t.Errorf("%T by %s: got %v, want %v", cmd, name, err, want)
				}
			}
		}
		if _, err := e.As(askback.Principal{Kind: askback.Responder, Name: "cem"}).Send(t.Context(), one.ID,
			askback.EndSession{}); err != nil {
			t.Errorf("anyone may cancel it: %v", err)
		}
	})
}

// If start_by is empty, no principal may start the agent. An agent without start_by is not restricted.
func TestEmptyStartByAllowsNoStart(t *testing.T) {
	r := restrictedRunner{&scriptRunner{}, map[string][]string{"poem": {}}}
	ana := engine.New(memstore.New(),
		&engine.Options{Runner: r}).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	for agent, want := range map[string]error{"poem": askback.ErrStartBy, "child": nil} {
		if _, err := ana.Start(t.Context(),
			askback.SessionRequest{Agent: agent, Prompt: "Go."}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", agent, err, want)
		}
	}
}

// A run starts a restricted agent as a sub-agent only if start_by has the agent of the run.
func TestStartByLimitsSubAgents(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"agent:poem"}, `result 1: {"task":1,"result":"Result."}` + "\n" + `{"task":2,"result":"Result."}`},
		{
			[]string{"ana", "token:poem"},
			`result 1: {"task":1,"error":"The agent poem may not start the agent child."}` + "\n" +
				`{"task":2,"error":"The agent poem may not start the agent child."}`,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {says("", call("spawn", `{}`)), says("End.")}, "child": {says("Result.")},
			}}
			h := &host{t: t, runner: r, wrapped: restrictedRunner{r, map[string][]string{"child": c.names}}}
			h.start(memstore.New())
			defer h.stop()
			s := h.run("Go.")
			h.check(fmt.Sprint(c.names), h.heard(s.ID)[2], c.want)
		})
	}
}
