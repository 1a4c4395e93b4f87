package main

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/sqlite"
)

// corruptions are SQL statements that corrupt a database, with the kind of violation
// that the checker must report.
var corruptions = []struct {
	name  string
	how   string
	fault fault
}{
	{"ask and history deleted", `delete from records where id = $ask; delete from history where subject = $ask`, lost},
	{"ask deleted", `delete from records where id = $ask`, lost},
	{
		"answer undone", `delete from history where type in ('question_answered', 'question_consumed');
		update records set version = 1, open = 1, status = 'pending', state = cast('{"v":1,"status":"pending"}' as blob)`, lost,
	},
	{"key removed", `update records set key = null`, lost},
	{
		"answer changed",
		`update records set state = cast(replace(cast(state as text), 'approved', 'denied') as blob)`, duplicated,
	},
	{
		"second outcome",
		`insert into history select seq + 1, stream, n + 1, subject, 'question_declined', at, data, null
		from history order by seq desc limit 1; update records set version = version + 1`, duplicated,
	},
	{
		"approval consumed twice", `insert into history select seq + 1, stream, n + 1, subject, type, at, data, null
		from history order by seq desc limit 1; update records set version = version + 1`, duplicated,
	},
	{"event deleted", `delete from history where type = 'question_answered'`, inconsistent},
	{"last event deleted", `delete from history where type = 'question_consumed'`, inconsistent},
	{"gap in sequence numbers", `update history set seq = seq + 1 where type = 'question_consumed'`, inconsistent},
	{
		"gap in sequence numbers of a session", `update history set n = n + 1 where type = 'question_consumed'`,
		inconsistent,
	},
	{"version without event", `update records set version = version + 1`, inconsistent},
	{"wrong column", `update records set open = 1`, inconsistent},
	{"event without record", `insert into history select seq + 1, 'ses_x', 1, 'ask_x', 'question_pending', at, data, null from history limit 1 offset 2`, inconsistent},
}

func TestCheckDetectsCorruption(t *testing.T) {
	for _, d := range corruptions {
		t.Run(d.name, func(t *testing.T) {
			c, id := databaseWithApproval(t)
			corrupt(t, c.path, id, d.how)
			bad, err := c.check(t.Context())
			if err != nil || !slices.ContainsFunc(bad, func(v violation) bool { return v.fault == d.fault }) {
				t.Errorf("got %v, %v; want a violation of kind %s", bad, err, d.fault)
			}
		})
	}
}

func TestAuditDetectsCorruptionAfterCheck(t *testing.T) {
	for _, d := range corruptions {
		t.Run(d.name, func(t *testing.T) {
			c, id := databaseWithApproval(t)
			if bad, err := c.check(t.Context()); err != nil || len(bad) > 0 {
				t.Fatalf("before: %v, %v", bad, err)
			}
			corrupt(t, c.path, id, d.how)
			if d.name == "key removed" {
				t.Skip("keys are checked once, after their acknowledgement")
			}
			if bad, err := c.audit(t.Context()); err != nil || len(bad) == 0 {
				t.Errorf("got %v, %v; want violations", bad, err)
			}
		})
	}
}

func TestAuditAcceptsIntactDatabase(t *testing.T) {
	c, _ := databaseWithApproval(t)
	for range 2 {
		if bad, err := c.audit(t.Context()); err != nil || len(bad) > 0 {
			t.Errorf("got %v, %v", bad, err)
		}
	}
}

// databaseWithApproval creates a database with a consumed approval. It returns a checker with the
// acknowledgements, and the id of the ask.
func databaseWithApproval(t *testing.T) (c *checker, id string) {
	t.Helper()
	l := newAckLog()
	c = newChecker(filepath.Join(t.TempDir(), "approval.db"), l)
	db, err := sqlite.Open(c.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(db, nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: loadAsker})
	person := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	a, err := agent.Ask(t.Context(), askback.Request{Key: "k", Confirmation: &askback.Confirmation{ToolName: "deploy"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err = person.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Consume(t.Context(), a.ID, a.Confirmation.Digest)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	l.add(ack{Op: opAsked, Key: ownedKey(loadAsker, "k"), ID: a.ID})
	l.add(ack{Op: opSettled, ID: a.ID, Text: outcomeText(a.Outcome)})
	l.add(ack{Op: opConsumed, ID: a.ID})
	return c, a.ID
}

func corrupt(t *testing.T, path, id, how string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	// The checksums are removed, so that the store does not detect the corruption. A bug in Askback would
	// write valid checksums.
	const noChecksums = "; update records set sum = null, fixed_sum = null; update history set sum = null"
	_, err = db.ExecContext(t.Context(), how+noChecksums, sql.Named("ask", id))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A failed call is a violation, too.
func TestAckLogDetectsContradictions(t *testing.T) {
	for _, second := range []ack{
		{Op: opAsked, Key: "k", ID: "ask_2"},
		{Op: opSettled, ID: "ask_1", Text: "declined"},
		{Op: opConsumed, ID: "ask_1"},
		{Op: opFailed, Text: "disk on fire"},
	} {
		l := newAckLog()
		for _, a := range []ack{
			{Op: opReady},
			{Op: opAsked, Key: "k", ID: "ask_1"},
			{Op: opSettled, ID: "ask_1", Text: "answered"},
			{Op: opConsumed, ID: "ask_1"},
		} {
			if bad := l.add(a); len(bad) > 0 {
				t.Fatalf("%v: %v", a, bad)
			}
		}
		if bad := l.add(second); len(bad) != 1 {
			t.Errorf("%v: got %v, want one violation", second, bad)
		}
	}
}
