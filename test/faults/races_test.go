package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

func TestAFewRacesHaveOneOutcome(t *testing.T) {
	for _, where := range raceStores {
		p := newRaces(t.TempDir(), where, 1, "")
		if err := p.run(t.Context(), 40); err != nil || len(p.bad) > 0 || p.done != 40 {
			t.Errorf("%s: got %d races, %v, %v; want 40 and nothing wrong", where, p.done, p.bad, err)
		}
	}
}

// ran returns a race that is over, in which a grant approved something and was
// then revoked, and cem's edited approval won and was spent (F7, F8).
func ran(t *testing.T) *umpire {
	t.Helper()
	s := memstore.New()
	e := engine.New(s, nil)
	r := rand.New(rand.NewPCG(1, 1))
	c := newRace(1, r, []*engine.Engine{e}, span{time.Now().Add(time.Hour), time.Second})
	ctx := t.Context()
	if err := c.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	for _, run := range []runner{
		c.use, c.answer("cem", askback.Answer{Decision: askback.Approve, Input: editedInput}),
		c.answer("ana", askback.Decide(askback.Approve, "")), c.cancel, c.spend, c.spend, c.stray, c.revoke,
	} {
		run(ctx, r)
	}
	u := &umpire{race: c, counts: map[string]int{}}
	if err := u.read(ctx, e.As(racer("cem")), s); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFairRaceIsFoundFair(t *testing.T) {
	u := ran(t)
	if u.judge(); len(u.bad) > 0 {
		t.Errorf("got %v, want nothing, of\n%s", u.bad, u.story())
	}
}

// one returns the first that does a deed.
func (u *umpire) one(d deed, with func(told) bool) *told {
	i := slices.IndexFunc(u.told, func(t told) bool { return t.does == d && (with == nil || with(t)) })
	return &u.told[i]
}

// move puts the line of a type behind that of another.
func (u *umpire) move(line, behind string) {
	i := slices.IndexFunc(u.history, func(e store.Event) bool { return e.Type == line })
	moved := u.history[i]
	u.history = slices.Delete(u.history, i, i+1)
	j := slices.IndexFunc(u.history, func(e store.Event) bool { return e.Type == behind })
	u.history = slices.Insert(u.history, j+1, moved)
	for i := range u.history {
		u.history[i].StreamSeq = int64(i + 1)
	}
}

func TestEveryFoulIsSeen(t *testing.T) {
	beaten := func(t told) bool { return t.err != nil }
	won := func(t told) bool { return t.err == nil }
	fouls := []struct {
		name string
		do   func(u *umpire)
		want fault
	}{
		{"two people win", func(u *umpire) { u.one(answers, beaten).err = nil }, doubled},
		{"the agent's cancelling wins as well", func(u *umpire) { u.one(cancels, nil).err = nil }, doubled},
		{"nobody wins", func(u *umpire) { u.final.Outcome, u.final.Status = nil, askback.Pending }, lost},
		{"the loser is not told the winner", func(u *umpire) { u.one(answers, beaten).ask.Outcome = nil }, doubled},
		{"the loser is told a stranger's error", func(u *umpire) { u.one(answers, beaten).err = askback.ErrNotFound }, failed},
		{"edited arguments are approved as asked", func(u *umpire) {
			o := *u.final.Outcome
			o.Digest = u.asked.Confirmation.Digest
			u.final.Outcome = &o
		}, accepted},
		{"answered after the deadline", func(u *umpire) { u.asked.Deadline = u.final.Outcome.At }, accepted},
		{"spent twice", func(u *umpire) { u.one(spends, beaten).err = nil }, doubled},
		{"other arguments are spent", func(u *umpire) { u.one(spends, won).digest = u.asked.Confirmation.Digest }, accepted},
		{"an approval that nobody can spend", func(u *umpire) { u.one(spends, won).err = askback.ErrConsumed }, rejected},
		{"a grant's approval is spent twice", func(u *umpire) { u.one(respend, beaten).err = nil }, doubled},
		{"the grant is used after it was revoked", func(u *umpire) { u.move("grant_used", "grant_revoked") }, accepted},
		{"what the grant approved is spent after its end", func(u *umpire) {
			i := slices.IndexFunc(u.history, func(e store.Event) bool {
				return e.Type == "question_consumed" && e.Subject == u.one(uses, nil).ask.ID
			})
			spent := u.history[i]
			u.history = append(slices.Delete(u.history, i, i+1), spent)
			for i := range u.history {
				u.history[i].StreamSeq = int64(i + 1)
			}
		}, accepted},
		{"the grant is used before it was made", func(u *umpire) { u.move("grant_made", "grant_used") }, torn},
		{"a line is missing", func(u *umpire) { u.history = slices.Delete(u.history, 2, 3) }, torn},
		{"a use is not counted", func(u *umpire) { u.grants[0].Uses = 0 }, lost},
		{"the grant still holds", func(u *umpire) { u.grants[0].RevokedAt = time.Time{} }, torn},
		{"the grant is in two lists", func(u *umpire) { u.grants = append(u.grants, u.grants[0]) }, doubled},
		{"the revocation failed", func(u *umpire) { u.one(revokes, nil).err = askback.ErrBusy }, failed},
		{"asked after the revocation, and approved", func(u *umpire) { u.one(uses, nil).revoked = true }, accepted},
		{"something else is approved by the grant", func(u *umpire) { u.one(uses, nil).does = strays }, accepted},
		{"approved by a person nobody knows", func(u *umpire) {
			o := *u.one(uses, nil).ask.Outcome
			o.Actor.Kind = askback.ActorPerson
			u.one(uses, nil).ask.Outcome, u.kept[u.one(uses, nil).ask.ID] = &o, &o
		}, accepted},
		{"the asker is told another outcome", func(u *umpire) { u.kept[u.one(uses, nil).ask.ID] = nil }, doubled},
	}
	for _, f := range fouls {
		t.Run(f.name, func(t *testing.T) {
			u := ran(t)
			f.do(u)
			if u.judge(); !slices.ContainsFunc(u.bad, func(v violation) bool { return v.fault == f.want }) {
				t.Errorf("got %v, want something %s, of\n%s", u.bad, f.want, u.story())
			}
		})
	}
}
