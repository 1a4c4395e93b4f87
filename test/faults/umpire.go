package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/store"
)

// An umpire compares what everybody in a race was told with what is kept.
type umpire struct {
	*race
	counts  map[string]int
	final   askback.Ask // what all ran for
	grants  []askback.Grant
	history []store.Event
	kept    map[string]*askback.Outcome // of the asks that a grant may have approved
	made    map[string]*used            // by the id of the grant
	failed  bool                        // the deadline failed the session
	bad     []violation
}

// Used is what the history says of a grant.
type used struct {
	uses    int
	ended   string // the line that ended it
	revoked bool
}

func (u *umpire) wrong(f fault, format string, args ...any) {
	u.bad = append(u.bad, violated(f, format, args...))
}

// read reads how all stands, as somebody who may see everything.
func (u *umpire) read(ctx context.Context, who askback.Client, s store.Store) (err error) {
	if u.final, err = who.Get(ctx, u.asked.ID); err != nil {
		return err
	}
	for _, ended := range []bool{false, true} {
		page, err := who.Grants(ctx, askback.GrantQuery{Agent: u.label(), Ended: ended})
		if err != nil {
			return err
		}
		u.grants = append(u.grants, page.Items...)
	}
	u.kept = map[string]*askback.Outcome{}
	for _, t := range u.told {
		if (t.does == uses || t.does == strays) && t.err == nil {
			a, err := who.Get(ctx, t.ask.ID)
			if err != nil {
				return err
			}
			u.kept[a.ID] = a.Outcome
		}
	}
	u.history, err = s.History(ctx, u.asked.SessionID, 0, store.MaxList)
	return err
}

// judge compares what was read with what was told.
func (u *umpire) judge() {
	u.outcome()
	u.spent()
	u.lines()
	u.standing()
	u.policy()
}

// outcome holds what all were told of the ask against how it ended.
func (u *umpire) outcome() {
	o := u.final.Outcome
	if o == nil {
		u.wrong(lost, "everybody answered, and the ask is pending")
		return
	}
	u.counts["the ask was "+string(o.Status)+" "+string(o.Decision)]++
	for _, t := range u.told {
		if t.does != answers && t.does != cancels {
			continue
		}
		won := o.Actor == askback.Actor{Kind: askback.ActorPerson, Name: t.who}
		if t.does == cancels {
			won = o.Status == askback.Cancelled
		}
		switch {
		case won != (t.err == nil):
			u.wrong(doubled, "%s was told %v, and the outcome is by %s", t.who, t.err, o.Actor)
		case t.err != nil && !errors.Is(t.err, askback.ErrSettled):
			u.wrong(failed, "%s: %v", t.who, t.err)
		case written(t.ask.Outcome) != written(o):
			u.wrong(doubled, "%s was told %s, and the outcome is %s", t.who, written(t.ask.Outcome), written(o))
		}
	}
	if late := !u.asked.Deadline.IsZero() && !o.At.Before(u.asked.Deadline); late != (o.Status == askback.Expired) {
		u.wrong(accepted, "the outcome is %s at %v, and the deadline was %v", o.Status, o.At, u.asked.Deadline)
	}
	if want := u.approvedDigest(); o.Digest != want {
		u.wrong(accepted, "the outcome approves %q, and what was approved is %q", o.Digest, want)
	}
}

// approvedDigest is what the outcome should approve.
func (u *umpire) approvedDigest() string {
	switch o := u.final.Outcome; {
	case !o.Approved():
		return ""
	case o.Actor.Name == "cem":
		digest, err := jcs.ConfirmationDigest(u.label(), "infra", raceTool, editedInput)
		if err != nil {
			panic(err)
		}
		return digest
	}
	return u.asked.Confirmation.Digest
}

func written(o *askback.Outcome) string {
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// spent holds that an approval was spent once, and only what was approved.
func (u *umpire) spent() {
	var want error = askback.ErrConsumed
	if !u.final.Outcome.Approved() {
		want = askback.ErrNotApproved
	}
	times := 0
	for _, t := range u.told {
		if t.does != spends {
			continue
		}
		right := u.final.Outcome.Approved() && t.digest == u.final.Outcome.Digest
		switch {
		case t.err == nil && !right:
			u.wrong(accepted, "spent with %s", t.digest)
		case t.err == nil:
			times++
		case errors.Is(t.err, want), errors.Is(t.err, askback.ErrNotApproved): // perhaps it came too early
		case errors.Is(t.err, askback.ErrDigest) && !right:
		default:
			u.wrong(failed, "spend with %s: %v", t.digest, t.err)
		}
	}
	u.spentOnce("the ask", times, u.final.Outcome.Approved())
}

// spentOnce holds that what was approved was spent once by those who tried.
func (u *umpire) spentOnce(what string, times int, approved bool) {
	switch {
	case times > 1:
		u.wrong(doubled, "%s was spent %d times", what, times)
	case times == 0 && approved:
		u.wrong(rejected, "%s was approved and could not be spent", what)
	case times == 1:
		u.counts["an approval was spent once"]++
	}
}

// lines reads the history of the session, in its order.
func (u *umpire) lines() {
	u.made = map[string]*used{}
	lives := map[string]*life{}
	for i, e := range u.history {
		if e.StreamSeq != int64(i+1) {
			u.wrong(torn, "line %d of the session is number %d", i+1, e.StreamSeq)
		}
		if ofSession(e) {
			u.failed = u.failed || e.Type == "session_failed"
			continue
		}
		if strings.HasPrefix(e.Type, "grant_") {
			u.line(e)
			if e.Type == "grant_revoked" || e.Type == "grant_expired" {
				continue // of the grant, not of an ask
			}
		}
		l := lives[e.Subject]
		if l == nil {
			l = &life{}
			lives[e.Subject] = l
		}
		u.bad = append(u.bad, l.take(e)...)
	}
	l := lives[u.final.ID]
	if l == nil || l.settled != "question_"+string(u.final.Status) {
		u.wrong(torn, "the ask is %s, and its history says %+v", u.final.Status, l)
	}
}

// line takes a line about a grant.
func (u *umpire) line(e store.Event) {
	var said struct{ Grant askback.Grant }
	if err := json.Unmarshal(e.Data, &said); err != nil {
		u.wrong(torn, "line %d: %v", e.Seq, err)
	}
	id := said.Grant.ID
	g := u.made[id]
	if (g == nil) != (e.Type == "grant_made") {
		u.wrong(torn, "line %d, %s, is out of place: a grant is made once, first of all", e.Seq, e.Type)
	}
	if g == nil {
		g = &used{}
		u.made[id] = g
	}
	if g.ended != "" {
		u.wrong(accepted, "line %d, %s, of grant %s comes after %s", e.Seq, e.Type, id, g.ended)
	}
	switch e.Type {
	case "grant_used":
		g.uses++
		u.counts["a grant was used"]++
	case "grant_revoked", "grant_expired":
		g.ended, g.revoked = e.Type, e.Type == "grant_revoked"
		u.counts["a grant was "+strings.TrimPrefix(e.Type, "grant_")]++
	}
}

// standing holds grants as they are listed against their history.
func (u *umpire) standing() {
	listed := map[string]bool{}
	for _, g := range u.grants {
		if listed[g.ID] {
			u.wrong(doubled, "grant %s holds and does not hold", g.ID)
		}
		listed[g.ID] = true
		h := u.made[g.ID]
		switch {
		case h == nil:
			u.wrong(torn, "grant %s has no history", g.ID)
		case h.uses != g.Uses:
			u.wrong(lost, "grant %s was used %d times, and counts %d", g.ID, h.uses, g.Uses)
		case h.revoked != !g.RevokedAt.IsZero():
			u.wrong(torn, "grant %s was revoked at %v, and its history says %q", g.ID, g.RevokedAt, h.ended)
		}
	}
	for _, t := range u.told {
		if t.does == revokes && t.err != nil {
			u.wrong(failed, "revoke: %v", t.err)
		}
	}
	if h := u.made[u.grant.ID]; h == nil || h.ended == "" {
		u.wrong(lost, "the grant was revoked, and its history does not end")
	}
}

// policy holds the asks that a grant may have approved.
func (u *umpire) policy() {
	counted := map[string]int{}
	for _, t := range u.told {
		if t.does != uses && t.does != strays {
			continue
		}
		if u.failed && errors.Is(t.err, askback.ErrEnded) {
			u.counts["an ask came after the session failed"]++
			continue
		}
		if t.err != nil {
			u.wrong(failed, "ask: %v", t.err)
			continue
		}
		a := t.ask
		if kept := u.kept[a.ID]; written(kept) != written(a.Outcome) && !u.withdrawn(a, kept) {
			u.wrong(doubled, "%s was told %s, and the outcome is %s", a.ID, written(a.Outcome), written(kept))
		}
		if a.Outcome == nil {
			u.counts["an ask was left to people"]++
			continue
		}
		counted[a.Outcome.GrantID]++
		u.byGrant(t)
	}
	for id, h := range u.made {
		if h.uses != counted[id] {
			u.wrong(torn, "grant %s approved %d asks, and was used %d times", id, counted[id], h.uses)
		}
	}
}

// withdrawn says that an ask which was left to people ended with its session.
func (u *umpire) withdrawn(told askback.Ask, kept *askback.Outcome) bool {
	return u.failed && told.Outcome == nil && kept.Status == askback.Cancelled && kept.Actor.Kind == askback.ActorTimer
}

// byGrant looks at an ask that was approved when it was asked.
func (u *umpire) byGrant(t told) {
	o := t.ask.Outcome
	switch {
	case o.Actor.Kind != askback.ActorPolicy || o.Digest != t.ask.Confirmation.Digest || u.made[o.GrantID] == nil:
		u.wrong(accepted, "%s was approved as %s", t.ask.ID, written(o))
	case t.does == strays:
		u.wrong(accepted, "%s is not what the grant %s covers", t.ask.ID, o.GrantID)
	case t.revoked && o.GrantID == u.grant.ID:
		u.wrong(accepted, "%s was asked after the grant %s was revoked, and is approved by it", t.ask.ID, o.GrantID)
	}
	g := u.made[o.GrantID]
	ended := g != nil && g.ended != ""
	times := 0
	for _, s := range u.told {
		if s.does != respend || s.ask.ID != t.ask.ID {
			continue
		}
		switch {
		case s.err == nil:
			times++
		case errors.Is(s.err, askback.ErrConsumed):
		case errors.Is(s.err, askback.ErrNotApproved) && ended: // what it approved before does not run any more
		default:
			u.wrong(failed, "spend %s: %v", t.ask.ID, s.err)
		}
	}
	u.spentOnce(t.ask.ID, times, !ended)
	u.spentInTime(t.ask.ID, o.GrantID)
}

// spentInTime holds that nothing a grant approved is spent after its end.
func (u *umpire) spentInTime(ask, grant string) {
	ended := false
	for _, e := range u.history {
		switch {
		case e.Subject == grant && (e.Type == "grant_revoked" || e.Type == "grant_expired"):
			ended = true
		case e.Subject == ask && e.Type == "question_consumed" && ended:
			u.wrong(accepted, "%s was spent after the end of the grant %s that approved it", ask, grant)
		}
	}
}

// story is all that is known of a race.
func (u *umpire) story() string {
	var b strings.Builder
	for _, t := range u.told {
		fmt.Fprintln(&b, t)
	}
	for _, g := range u.grants {
		fmt.Fprintf(&b, "  grant %s: %s, used %d times, revoked %v\n", g.ID, g.Scope, g.Uses, g.RevokedAt)
	}
	for _, e := range u.history {
		fmt.Fprintf(&b, "  %d %s %s\n", e.Seq, e.Subject, e.Type)
	}
	return b.String()
}
