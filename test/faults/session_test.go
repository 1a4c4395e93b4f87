package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/sqlite"
)

// The audit compares the counts and the history of a session with its asks (E8).
func TestAuditDetectsCorruptedSession(t *testing.T) {
	for what, how := range map[string]string{
		"intact":                       ``,
		"wrong total":                  `update records set state = cast(replace(cast(state as text), '"total":2', '"total":3') as blob) where kind = 'session'`,
		"wrong number of pending asks": `update records set state = cast(replace(cast(state as text), '"pending":1', '"pending":0') as blob) where kind = 'session'`,
		"started twice":                `update history set type = 'session_started' where type = 'state_change'`,
		"never started":                `update history set type = 'session_renamed' where type = 'session_started'`,
		"deleted":                      `delete from records where kind = 'session'`,
		"gap in the history":           `update history set n = n + 1 where type = 'message'`,
	} {
		c := databaseWithSession(t)
		corrupt(t, c.path, "", how)
		if bad, err := c.audit(t.Context()); err != nil || (len(bad) == 0) != (how == "") {
			t.Errorf("%s: got %v, %v", what, bad, err)
		}
	}
}

// databaseWithSession creates a database with a session that has two asks, one answer and
// a message, and returns a checker for it.
func databaseWithSession(t *testing.T) *checker {
	t.Helper()
	c := newChecker(filepath.Join(t.TempDir(), "session.db"), newAckLog())
	db, err := sqlite.Open(c.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(db, nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: loadAsker})
	person := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	var last askback.Ask
	for range 2 {
		last, err = agent.Ask(t.Context(), askback.Request{
			SessionKey: "s",
			Questions:  []askback.Question{{Text: "Which one?", Options: askback.Options("red", "green")}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = person.Answer(t.Context(), last.ID, askback.Choose("red"))
	_, sendErr := agent.Send(t.Context(), last.SessionID, askback.Report{Text: "thank you"})
	if err := errors.Join(err, sendErr, db.Close()); err != nil {
		t.Fatal(err)
	}
	return c
}
