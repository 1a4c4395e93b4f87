package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
)

func TestAgentWithoutOutcomeIsReported(t *testing.T) {
	var then, now [agentCount]agentState
	// This agent has received its outcome.
	then[0], now[0] = agentState{turn: 3, id: "ask_a", waiting: true}, agentState{turn: 4}
	// This agent has not received its outcome.
	then[1], now[1] = agentState{turn: 5, id: "ask_b", waiting: true}, agentState{turn: 5, id: "ask_b"}
	// This agent was not waiting for an outcome.
	then[2], now[2] = agentState{turn: 7, id: "ask_c", waiting: false}, agentState{turn: 7, id: "ask_c"}
	got := withoutOutcome(then, now)
	if len(got) != 1 || got[0].fault != lost {
		t.Fatalf("got %v, want a violation for agent 1", got)
	}
	if want := "agent 1 waited for ask_b when the server was killed, and received no " +
		"outcome afterwards"; got[0].what != want {
		t.Errorf("got %q, want %q", got[0].what, want)
	}
}

// A call without an error must return the outcome of its caller. A call with ErrSettled must return the
// outcome of another person.
func TestOutcomeMustMatchTheError(t *testing.T) {
	ana := &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Comment: "1",
	}
	settled := fmt.Errorf("answer: %w", askback.ErrSettled)
	for _, c := range []struct {
		what    string
		outcome *askback.Outcome
		err     error
		want    []fault
	}{
		{"own outcome", ana, nil, nil},
		{
			"outcome of another",
			&askback.Outcome{Status: askback.Declined, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ben"}},
			settled, nil,
		},
		{"own outcome, with ErrSettled", ana, settled, []fault{duplicated}},
		{"outcome of another, without an error", &askback.Outcome{Status: askback.Answered, Comment: "2"}, nil, []fault{
			duplicated,
		}},
		{"no outcome", nil, settled, []fault{failed}},
		{"another error", nil, askback.ErrForbidden, []fault{failed}},
	} {
		c2 := &clientPool{ackLog: newAckLog()}
		p := &person{clientPool: c2, account: account{name: "ana"}}
		p.recordOutcome(t.Context(), c.what, askback.Ask{ID: "ask_1", Outcome: c.outcome}, c.err, p.isOwn("1"))
		var got []fault
		for _, v := range c2.bad {
			got = append(got, v.fault)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

func TestSecondOutcomeOfAnAskIsReported(t *testing.T) {
	c := &clientPool{ackLog: newAckLog()}
	settled := func(name string) askback.Ask {
		return askback.Ask{
			ID: "ask_1", Outcome: &askback.Outcome{Status: askback.Declined, Actor: askback.Actor{Name: name}},
		}
	}
	c.recordOutcome(t.Context(), "wait", settled("ana"), nil, func(*askback.Outcome) bool { return true })
	c.recordOutcome(t.Context(), "decline", settled("ben"), askback.ErrSettled,
		func(*askback.Outcome) bool { return false })
	if len(c.bad) != 1 || c.bad[0].fault != duplicated {
		t.Errorf("got %v, want a violation for two outcomes", c.bad)
	}
}

func TestInterruptedCallIsRetriedAtTheNextServer(t *testing.T) {
	place, err := instance.At(t.TempDir() + "/served.db")
	if err != nil {
		t.Fatal(err)
	}
	serve := func(secret string, ask http.HandlerFunc) *httptest.Server {
		mux := http.NewServeMux()
		mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"proof":%q}`, instance.Proof(secret, r.URL.Query().Get("nonce")))
		})
		mux.HandleFunc("/api/", ask)
		s := httptest.NewServer(mux)
		t.Cleanup(s.Close)
		if err := place.Announce(instance.Server{Instance: secret, URL: s.URL, Secret: secret}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	var next *httptest.Server
	serve("first", func(http.ResponseWriter, *http.Request) {
		next = serve("second", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
		panic(http.ErrAbortHandler) // the connection ends, as after a kill of the server
	})
	l := &connection{place: place}
	_, retried, err := call(t.Context(), l, "token", func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Answer(ctx, "ask_1", askback.Choose("red"))
	})
	if next == nil || !retried || err == nil || errors.Is(err, askback.ErrUnreachable) {
		t.Errorf("got %t, %v; want the response of the second server", retried, err)
	}
}

func TestEnvironmentIsIsolated(t *testing.T) {
	t.Setenv("ASKBACK_URL", "http://127.0.0.1:1")
	t.Setenv("XDG_STATE_HOME", "/nowhere")
	var states []string
	for _, v := range isolatedEnv("/scratch") {
		if len(v) > 8 && v[:8] == "ASKBACK_" {
			t.Errorf("got %s", v)
		}
		if len(v) > 15 && v[:15] == "XDG_STATE_HOME=" {
			states = append(states, v[15:])
		}
	}
	if len(states) != 1 || states[0] != stateDir("/scratch") {
		t.Errorf("got %v, want %s", states, stateDir("/scratch"))
	}
}
