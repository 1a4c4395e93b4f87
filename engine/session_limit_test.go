package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// startSessions starts sessions of the agent with these keys.
func startSessions(t *testing.T, p *fixture, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if _, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
}

// The number of open sessions of an agent is limited, including sessions that its asks begin. The agent can
// still use its open sessions, and other agents are not affected.
func TestOpenSessionsOfAnAgentAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{MaxSessions: 5})
		startSessions(t, p, 0, 5)
		refused := func(what string, err error) {
			t.Helper()
			retry, ok := errors.AsType[*askback.RetryError](err)
			if !ok || !errors.Is(err, askback.ErrTooMany) ||
				!strings.Contains(retry.Why, "has 5 open sessions, the maximum") || retry.After <= 0 {
				t.Errorf("%s: got %v, want %v with the number and a time", what, err, askback.ErrTooMany)
			}
		}
		_, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "new"})
		refused("a new session", err)
		withKey := question()
		withKey.SessionKey = "new"
		_, err = p.agent.Ask(t.Context(), withKey)
		refused("an ask that begins a session", err)
		if again, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "3"}); err != nil || !again.Repeated {
			t.Errorf("a session that is open: got %+v, %v", again, err)
		}
		withKey.SessionKey = "3"
		p.ask(withKey)
		p.ask(question()) // this ask has only an implicit session
		other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		if _, err := other.Start(t.Context(), askback.SessionRequest{}); err != nil {
			t.Errorf("another agent: %v", err)
		}
		one, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "0"})
		if err == nil {
			_, err = p.agent.Send(t.Context(), one.ID, askback.EndSession{})
		}
		if err != nil {
			t.Fatal(err)
		}
		startSessions(t, p, 10, 11)
	})
}

// If an agent has too many sessions, the turn of a session that was idle for a day ends. The agent may then
// start another session. An ask continues the session whose turn was ended. The turn of a session with an
// open ask does not end.
func TestNewSessionEndsTurnOfIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{MaxSessions: 3})
		withKey := question()
		withKey.SessionKey = "asked"
		asked := p.ask(withKey)
		startSessions(t, p, 0, 2)
		<-time.After(24 * time.Hour)
		startSessions(t, p, 2, 4)
		if _, err := p.agent.Start(t.Context(), askback.SessionRequest{}); !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("with one session that has an open ask and two that are new: got %v, want %v", err,
				askback.ErrTooMany)
		}
		if got := p.get(asked.ID); got.Settled() {
			t.Errorf("the open ask is %s", got.Status)
		}
		one, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "0"})
		if err != nil || one.Status != askback.SessionCompleted || one.Phase != "idle" {
			t.Errorf("the oldest session is %s %q, %v, want its turn completed", one.Status, one.Phase, err)
		}
		withKey.SessionKey = "0"
		p.ask(withKey)
		if one, err = p.agent.Session(t.Context(), one.ID); err != nil || one.Status != askback.SessionWaiting {
			t.Errorf("after an ask the session is %s, %v", one.Status, err)
		}
	})
}

// An agent cannot ask in a session of another agent, whether by its id or by its key.
func TestAskInSessionOfAnotherAgentIsRejected(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	one, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	other := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
	r := question()
	r.SessionID = one.ID
	if a, err := other.Ask(t.Context(), r); !errors.As(err, &askback.Invalid{}) ||
		!strings.Contains(err.Error(), "no such session, or it is not yours") {
		t.Errorf("by id: got %+v, %v, want an error", a, err)
	}
	r.SessionID, r.SessionKey = "", "run"
	if a, err := other.Ask(t.Context(), r); err != nil || a.SessionID == one.ID {
		t.Errorf("by key: got session %s, %v, want another one than %s", a.SessionID, err, one.ID)
	}
	if one, err = p.agent.Session(t.Context(), one.ID); err != nil || one.AsksTotal != 0 {
		t.Errorf("the session has %d asks, %v, want none", one.AsksTotal, err)
	}
}
