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
	"github.com/askback/askback/internal/instance"
)

func TestWhoWasNeverToldIsNamed(t *testing.T) {
	var then, now [agentCount]stand
	then[0], now[0] = stand{turn: 3, id: "ask_a", waiting: true}, stand{turn: 4}               // was told
	then[1], now[1] = stand{turn: 5, id: "ask_b", waiting: true}, stand{turn: 5, id: "ask_b"}  // was not
	then[2], now[2] = stand{turn: 7, id: "ask_c", waiting: false}, stand{turn: 7, id: "ask_c"} // did not wait
	got := untold(then, now)
	if len(got) != 1 || got[0].fault != lost {
		t.Fatalf("got %v, want that agent 1 was never told", got)
	}
	if want := "agent 1 waited for ask_b when the server was killed, and was never told how it ended"; got[0].what != want {
		t.Errorf("got %q, want %q", got[0].what, want)
	}
}

// Whoever gave the outcome is told so, and nobody else is.
func TestWhatAnAnswererIsToldIsHeldAgainstTheOutcome(t *testing.T) {
	ana := &askback.Outcome{Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Comment: "1"}
	settled := fmt.Errorf("answer: %w", askback.ErrSettled)
	for _, c := range []struct {
		what    string
		outcome *askback.Outcome
		err     error
		want    []fault
	}{
		{"she won", ana, nil, nil},
		{"another won", &askback.Outcome{Status: askback.Declined, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ben"}}, settled, nil},
		{"she won and is told that she lost", ana, settled, []fault{doubled}},
		{"another won and she is told that she did", &askback.Outcome{Status: askback.Answered, Comment: "2"}, nil, []fault{doubled}},
		{"nobody says who won", nil, settled, []fault{failed}},
		{"it failed", nil, askback.ErrForbidden, []fault{failed}},
	} {
		c2 := &crowd{ledger: newLedger()}
		p := &person{crowd: c2, holder: holder{name: "ana"}}
		p.settled(t.Context(), c.what, askback.Ask{ID: "ask_1", Outcome: c.outcome}, c.err, p.own("1"))
		var got []fault
		for _, v := range c2.bad {
			got = append(got, v.fault)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

func TestLateAnswererIsToldAnotherOutcomeThanTheAgent(t *testing.T) {
	c := &crowd{ledger: newLedger()}
	told := func(name string) askback.Ask {
		return askback.Ask{ID: "ask_1", Outcome: &askback.Outcome{Status: askback.Declined, Actor: askback.Actor{Name: name}}}
	}
	c.settled(t.Context(), "wait", told("ana"), nil, func(*askback.Outcome) bool { return true })
	c.settled(t.Context(), "decline", told("ben"), askback.ErrSettled, func(*askback.Outcome) bool { return false })
	if len(c.bad) != 1 || c.bad[0].fault != doubled {
		t.Errorf("got %v, want that one ask had two outcomes", c.bad)
	}
}

// A call that a server broke off goes on at the next one, found by its proof.
func TestCallGoesOnAtTheNextServer(t *testing.T) {
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
		panic(http.ErrAbortHandler) // as if it was killed
	})
	l := &line{place: place}
	_, again, err := call(t.Context(), l, "token", func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Answer(ctx, "ask_1", askback.Choose("red"))
	})
	if next == nil || !again || err == nil || errors.Is(err, askback.ErrUnreachable) {
		t.Errorf("got %t, %v; want the refusal of the second server", again, err)
	}
}

func TestProgramsShareNothingWithTheUser(t *testing.T) {
	t.Setenv("ASKBACK_URL", "http://127.0.0.1:1")
	t.Setenv("XDG_STATE_HOME", "/nowhere")
	var states []string
	for _, v := range alone("/scratch") {
		if len(v) > 8 && v[:8] == "ASKBACK_" {
			t.Errorf("got %s", v)
		}
		if len(v) > 15 && v[:15] == "XDG_STATE_HOME=" {
			states = append(states, v[15:])
		}
	}
	if len(states) != 1 || states[0] != stateOf("/scratch") {
		t.Errorf("got %v, want %s", states, stateOf("/scratch"))
	}
}
