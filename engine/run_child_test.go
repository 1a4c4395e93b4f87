package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// A child of an unattended run is unattended, so the child cannot ask people either. The person who started
// the parent also started the child.
func TestChildOfUnattendedRunIsUnattended(t *testing.T) {
	for _, kind := range []askback.Kind{askback.Agent, askback.Responder} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {says("", call("spawn", `{}`)), says("End.")}, "child": {says("Result.")},
			}})
			defer h.stop()
			one, err := h.engine.As(askback.Principal{Kind: kind, Name: "eve"}).Start(t.Context(),
				askback.SessionRequest{Agent: "poem", Prompt: "Go."})
			if err != nil {
				t.Fatal(err)
			}
			h.settled(one.ID)
			ana := askback.Principal{Kind: askback.Responder, Name: "ana"}
			children, err := h.engine.Reports(ana).Children(t.Context(), one.ID)
			if err != nil || len(children) != 2 {
				t.Fatalf("got %d children, %v, want 2", len(children), err)
			}
			for _, c := range children {
				want := fmt.Sprint(false, "eve")
				if kind == askback.Agent {
					want = fmt.Sprint(true, "")
				}
				h.check("unattended, started by", fmt.Sprint(h.runner.unattended(c.ID), c.StartedBy), want)
			}
		})
	}
}

// A tool returns todos, and the session then has these todos. If the list is not valid, the model gets an
// error.
func TestTodosOfToolReplaceTodosOfSession(t *testing.T) {
	for text, want := range map[string]string{
		"Save it": "[{Save it pending}] result 1: stored", "": "[] result 1: The todos were not changed: ",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{
				scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("read", `{}`)), says("End.")}},
			})
			h.runner.execute = func(context.Context, conversation.Call) conversation.Executed {
				return conversation.Executed{Text: "stored", Todos: []askback.Todo{{Content: text, Status: "pending"}}}
			}
			defer h.stop()
			s := h.run("Go.")
			if got := fmt.Sprint(s.Todos, " ", h.heard(s.ID)[2]); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
