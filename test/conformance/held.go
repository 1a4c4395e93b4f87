package conformance

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// holding lists the test cases for subjects that hold answers for at least half a minute.
var holding = []testCase{
	{"HeldAnswerIsUndoneByItsAuthorOnly", heldIsUndone},
	{"HeldAnswerIsHiddenFromTheAgent", heldIsHidden},
	{"SentAnswerWinsOverHeldOne", heldLoses},
	{"WithdrawalDropsHeldAnswer", heldAndWithdrawn},
	{"NewAnswerReplacesHeldOne", heldIsReplaced},
	{"ReassigningDropsHeldAnswer", heldAndReassigned},
	{"DangerousCallIsNotHeld", heldNever},
	{"InvalidAnswerIsNotHeld", heldIsChecked},
}

// wantHeld requires that the ask is pending and that these people hold an answer.
func (f fixture) wantHeld(a askback.Ask, names ...string) {
	f.Helper()
	if a.Settled() || len(a.Held) != len(names) {
		f.Fatalf("got %s, want a pending ask with answers held by %v", text(a), names)
	}
	for _, name := range names {
		if h, ok := a.HeldBy(name); !ok || !h.SendsAt.After(h.At) {
			f.Errorf("got %s, want an answer held by %s, sent later than it was given", text(a), name)
		}
	}
}

func heldIsUndone(f fixture) {
	ana, ben := f.person("ana"), f.person("ben")
	a := f.ask(f.agent(), database())
	f.wantHeld(f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite"))), "ana")
	f.wantHeld(f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite"))), "ana")
	f.wantHeld(f.noError(ben.Undo(f.ctx(), a.ID)), "ana")
	f.wantHeld(f.noError(ben.HoldDecline(f.ctx(), a.ID, "no idea")), "ana", "ben")
	got := f.noError(ana.Get(f.ctx(), a.ID))
	if h, _ := got.HeldBy("ben"); !h.Declines || h.Reason != "no idea" {
		f.Errorf("got %+v, want that ben declines", h)
	}
	for range 2 {
		f.wantHeld(f.noError(ana.Undo(f.ctx(), a.ID)), "ben")
	}
	f.noError(ben.Undo(f.ctx(), a.ID))
	f.wantPending(a)
	f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")))
}

func heldIsHidden(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	a := f.ask(agent, database())
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.wantHeld(f.noError(agent.Get(f.ctx(), a.ID)))
	f.wantHeld(f.noError(ben.Get(f.ctx(), a.ID)), "ana")
	for name, client := range map[string]askback.Client{"agent": agent, "ben": ben} {
		page, err := client.List(f.ctx(), askback.Query{})
		if err != nil || len(page.Items) != 1 || (len(page.Items[0].Held) == 1) == (name == "agent") {
			f.Errorf("the list of %s: got %s, %v", name, text(page), err)
		}
	}
	_, err := agent.Hold(f.ctx(), a.ID, askback.Choose("SQLite"))
	f.wantError(err, askback.ErrForbidden)
	_, err = agent.HoldDecline(f.ctx(), a.ID, "")
	f.wantError(err, askback.ErrForbidden)
	_, err = agent.Undo(f.ctx(), a.ID)
	f.wantError(err, askback.ErrForbidden)
	f.wantHeld(f.noError(ben.Get(f.ctx(), a.ID)), "ana")
}

func heldLoses(f fixture) {
	ana, ben := f.person("ana"), f.person("ben")
	a := f.ask(f.agent(), database())
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	won := f.noError(ben.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")))
	got, err := ana.Undo(f.ctx(), a.ID)
	f.wantSettled(got, err, won)
	got, err = ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite"))
	f.wantSettled(got, err, won)
	f.wantSame(f.noError(ben.Hold(f.ctx(), a.ID, askback.Choose("PostgreSQL"))), won)
}

func heldAndWithdrawn(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.ask(agent, database())
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	ended := f.noError(agent.Cancel(f.ctx(), a.ID, "found it"))
	got, err := ana.Undo(f.ctx(), a.ID)
	f.wantSettled(got, err, ended)
}

func heldIsReplaced(f fixture) {
	ana := f.person("ana")
	q := confirmation()
	q.Confirmation.Dangerous = false
	a := f.ask(f.agent(), q)
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	got := f.noError(ana.Hold(f.ctx(), a.ID, askback.Decide(askback.Deny, "a slip")))
	f.wantHeld(got, "ana")
	if h := got.Held[0]; h.Decision != askback.Deny || h.Reason != "a slip" {
		f.Errorf("got %+v, want the denial", h)
	}
	if got := f.noError(
		ana.Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, "after all")),
	); !got.Outcome.Approved() {
		f.Errorf("got %s, want the approval that was sent", text(got))
	}
}

func heldAndReassigned(f fixture) {
	ana, ben := f.person("ana"), f.person("ben")
	q := database()
	q.To = []string{"ana", "ben"}
	a := f.ask(f.agent(), q)
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.noError(ben.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.noError(ben.Reassign(f.ctx(), a.ID, askback.Reassignment{To: []string{"ben"}}))
	f.wantHeld(f.noError(ben.Get(f.ctx(), a.ID)), "ben")
	_, err := ana.Undo(f.ctx(), a.ID)
	f.wantError(err, askback.ErrNotFound)
}

func heldNever(f fixture) {
	ana := f.person("ana")
	a := f.ask(f.agent(), confirmation())
	if got := f.noError(ana.Hold(f.ctx(), a.ID, askback.Decide(askback.Approve, ""))); !got.Outcome.Approved() {
		f.Errorf("got %s, want an approval", text(got))
	}
}

func heldIsChecked(f fixture) {
	ana := f.person("ana")
	a := f.ask(f.agent(), database())
	_, err := ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite", "PostgreSQL"))
	f.wantInvalid(err, "/answers/0/selected")
	f.wantPending(a)
}

// heldIsSent tests that the first held answer is sent when its time has come, and settles the ask. It needs a
// subject with a clock.
func heldIsSent(f fixture, clock Clock) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	a := f.ask(agent, database())
	f.noError(ana.Hold(f.ctx(), a.ID, askback.Choose("SQLite")))
	clock.Advance(time.Second)
	f.noError(ben.Hold(f.ctx(), a.ID, askback.Choose("PostgreSQL")))
	clock.Advance(limits.MaxUndo)
	got := f.noError(agent.Get(f.ctx(), a.ID))
	if !got.Settled() || got.Outcome.Actor.Name != "ana" || got.Outcome.Answers[0].String() != "SQLite" {
		f.Fatalf("got %s, want the answer of ana, whose time came first", text(got))
	}
	_, err := ben.Undo(f.ctx(), a.ID)
	f.wantError(err, askback.ErrSettled)
}
