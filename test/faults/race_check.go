package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/store"
)

// A raceChecker compares the replies of a race with the stored state.
type raceChecker struct {
	*race
	counts  map[string]int
	final   askback.Ask // the contested approval
	grants  []askback.Grant
	history []store.Event
	stored  map[string]*askback.Outcome // the outcomes of the asks that a grant may cover, keyed by id
	made    map[string]*grantHistory    // keyed by the id of the grant
	failed  bool                        // the session failed at the deadline
	bad     []violation
}

// A grantHistory summarizes the events of a grant.
type grantHistory struct {
	uses    int
	ended   string // type of the event that ended the grant
	revoked bool
}

func (c *raceChecker) violate(f fault, format string, args ...any) {
	c.bad = append(c.bad, violated(f, format, args...))
}

// read reads the final state of the race: asks and grants with a client that can read all
// of them, and events from the store.
func (c *raceChecker) read(ctx context.Context, who askback.Client, s store.Store) (err error) {
	if c.final, err = who.Get(ctx, c.asked.ID); err != nil {
		return err
	}
	for _, ended := range []bool{false, true} {
		page, err := who.Grants(ctx, askback.GrantQuery{Agent: c.label(), Ended: ended})
		if err != nil {
			return err
		}
		c.grants = append(c.grants, page.Items...)
	}
	c.stored = map[string]*askback.Outcome{}
	for _, t := range c.replies {
		if (t.action == actionAskCovered || t.action == actionAskOther) && t.err == nil {
			a, err := who.Get(ctx, t.ask.ID)
			if err != nil {
				return err
			}
			c.stored[a.ID] = a.Outcome
		}
	}
	c.history, err = s.History(ctx, c.asked.SessionID, 0, store.MaxList)
	return err
}

// check compares the final state with the replies.
func (c *raceChecker) check() {
	c.checkOutcome()
	c.checkSpent()
	c.checkHistory()
	c.checkGrants()
	c.checkGrantedAsks()
}

// checkOutcome compares the outcome of the ask with the replies, the deadline and the
// expected digest.
func (c *raceChecker) checkOutcome() {
	o := c.final.Outcome
	if o == nil {
		c.violate(lost, "all answers were given, but the ask is pending")
		return
	}
	c.counts["the ask was "+string(o.Status)+" "+string(o.Decision)]++
	for _, t := range c.replies {
		if t.action != actionAnswer && t.action != actionCancel {
			continue
		}
		won := o.Actor == askback.Actor{Kind: askback.ActorPerson, Name: t.who}
		if t.action == actionCancel {
			won = o.Status == askback.Cancelled
		}
		switch {
		case won != (t.err == nil):
			c.violate(duplicated, "%s got %v, but the outcome is by %s", t.who, t.err, o.Actor)
		case t.err != nil && !errors.Is(t.err, askback.ErrSettled):
			c.violate(failed, "%s: %v", t.who, t.err)
		case jsonText(t.ask.Outcome) != jsonText(o):
			c.violate(duplicated, "%s got %s, but the outcome is %s", t.who, jsonText(t.ask.Outcome), jsonText(o))
		}
	}
	if late := !c.asked.Deadline.IsZero() && !o.At.Before(c.asked.Deadline); late != (o.Status == askback.Expired) {
		c.violate(accepted, "the outcome is %s at %v, but the deadline was %v", o.Status, o.At, c.asked.Deadline)
	}
	if want := c.approvedDigest(); o.Digest != want {
		c.violate(accepted, "the outcome approves %q, want %q", o.Digest, want)
	}
}

// approvedDigest returns the digest that the outcome must have, or "" if the ask was not approved. If cem
// approved edited arguments, it returns the digest of the edited arguments.
func (c *raceChecker) approvedDigest() string {
	switch o := c.final.Outcome; {
	case !o.Approved():
		return ""
	case o.Actor.Name == "cem":
		digest, err := jcs.ConfirmationDigest(c.label(), contestedServer, raceTool, editedInput)
		if err != nil {
			panic(err)
		}
		return digest
	}
	return c.asked.Confirmation.Digest
}

func jsonText(o *askback.Outcome) string {
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// checkSpent checks that the approval, if there is one, was consumed exactly once and only
// with its digest.
func (c *raceChecker) checkSpent() {
	var want error = askback.ErrConsumed
	if !c.final.Outcome.Approved() {
		want = askback.ErrNotApproved
	}
	times := 0
	for _, t := range c.replies {
		if t.action != actionConsume {
			continue
		}
		right := c.final.Outcome.Approved() && t.digest == c.final.Outcome.Digest
		switch {
		case t.err == nil && !right:
			c.violate(accepted, "consumed with %s", t.digest)
		case t.err == nil:
			times++
		case errors.Is(t.err, want), errors.Is(t.err, askback.ErrNotApproved): // the call may have been too early
		case errors.Is(t.err, askback.ErrDigest) && !right:
		default:
			c.violate(failed, "consume with %s: %v", t.digest, t.err)
		}
	}
	c.checkSpentOnce("the ask", times, c.final.Outcome.Approved())
}

// checkSpentOnce checks that an approval was consumed at most once, and exactly once if
// approved is true.
func (c *raceChecker) checkSpentOnce(what string, times int, approved bool) {
	switch {
	case times > 1:
		c.violate(duplicated, "%s was consumed %d times", what, times)
	case times == 0 && approved:
		c.violate(rejected, "%s was approved but could not be consumed", what)
	case times == 1:
		c.counts["an approval was consumed once"]++
	}
}

// checkHistory checks the events of the session in their order, and collects the histories
// of the grants.
func (c *raceChecker) checkHistory() {
	c.made = map[string]*grantHistory{}
	histories := map[string]*askHistory{}
	for i, e := range c.history {
		if e.StreamSeq != int64(i+1) {
			c.violate(inconsistent, "event %d of the session has the number %d", i+1, e.StreamSeq)
		}
		if isSessionEvent(e) {
			c.failed = c.failed || e.Type == "session_failed"
			continue
		}
		if strings.HasPrefix(e.Type, "grant_") {
			c.checkGrantEvent(e)
			if e.Type == "grant_revoked" || e.Type == "grant_expired" {
				continue // about a grant, not about an ask
			}
		}
		l := histories[e.Subject]
		if l == nil {
			l = &askHistory{}
			histories[e.Subject] = l
		}
		c.bad = append(c.bad, l.apply(e)...)
	}
	l := histories[c.final.ID]
	if l == nil || l.settledBy != "question_"+string(c.final.Status) {
		c.violate(inconsistent, "the ask is %s, but its history is %+v", c.final.Status, l)
	}
}

// checkGrantEvent checks an event against the earlier events of its grant, and adds the event to the history
// of the grant.
func (c *raceChecker) checkGrantEvent(e store.Event) {
	var said struct{ Grant askback.Grant }
	if err := json.Unmarshal(e.Data, &said); err != nil {
		c.violate(inconsistent, "event %d: %v", e.Seq, err)
	}
	id := said.Grant.ID
	g := c.made[id]
	if (g == nil) != (e.Type == "grant_made") {
		c.violate(inconsistent, "event %d, %s, is out of place: a grant begins with one grant_made", e.Seq, e.Type)
	}
	if g == nil {
		g = &grantHistory{}
		c.made[id] = g
	}
	if g.ended != "" {
		c.violate(accepted, "event %d, %s, of grant %s follows %s", e.Seq, e.Type, id, g.ended)
	}
	switch e.Type {
	case "grant_used":
		g.uses++
		c.counts["a grant was used"]++
	case "grant_revoked", "grant_expired":
		g.ended, g.revoked = e.Type, e.Type == "grant_revoked"
		c.counts["a grant was "+strings.TrimPrefix(e.Type, "grant_")]++
	}
}

// checkGrants compares the listed grants with their history, and checks that the
// revocation succeeded.
func (c *raceChecker) checkGrants() {
	listed := map[string]bool{}
	for _, g := range c.grants {
		if listed[g.ID] {
			c.violate(duplicated, "grant %s is listed as active and as ended", g.ID)
		}
		listed[g.ID] = true
		h := c.made[g.ID]
		switch {
		case h == nil:
			c.violate(inconsistent, "grant %s has no history", g.ID)
		case h.uses != g.Uses:
			c.violate(lost, "grant %s was used %d times, but counts %d", g.ID, h.uses, g.Uses)
		case h.revoked != !g.RevokedAt.IsZero():
			c.violate(inconsistent, "grant %s was revoked at %v, but its history says %q", g.ID, g.RevokedAt, h.ended)
		}
	}
	for _, t := range c.replies {
		if t.action == actionRevoke && t.err != nil {
			c.violate(failed, "revoke: %v", t.err)
		}
	}
	if h := c.made[c.grant.ID]; h == nil || h.ended == "" {
		c.violate(lost, "the grant was revoked, but its history has no end")
	}
}

// checkGrantedAsks checks the asks that a grant may have approved, and that each approval
// is counted as a use of its grant.
func (c *raceChecker) checkGrantedAsks() {
	counted := map[string]int{}
	for _, t := range c.replies {
		if t.action != actionAskCovered && t.action != actionAskOther {
			continue
		}
		if c.failed && errors.Is(t.err, askback.ErrEnded) {
			c.counts["an ask came after the session failed"]++
			continue
		}
		if t.err != nil {
			c.violate(failed, "ask: %v", t.err)
			continue
		}
		a := t.ask
		if stored := c.stored[a.ID]; jsonText(stored) != jsonText(a.Outcome) && !c.endedWithSession(a, stored) {
			c.violate(duplicated, "%s was returned as %s, but the outcome is %s", a.ID, jsonText(a.Outcome),
				jsonText(stored))
		}
		if a.Outcome == nil {
			c.counts["an ask was left to people"]++
			continue
		}
		counted[a.Outcome.GrantID]++
		c.checkGranted(t)
	}
	for id, h := range c.made {
		if h.uses != counted[id] {
			c.violate(inconsistent, "grant %s approved %d asks, but was used %d times", id, counted[id], h.uses)
		}
	}
}

// endedWithSession reports whether an ask that was returned as pending was cancelled later
// because its session failed.
func (c *raceChecker) endedWithSession(returned askback.Ask, stored *askback.Outcome) bool {
	return c.failed && returned.Outcome == nil && stored.Status == askback.Cancelled &&
		stored.Actor.Kind == askback.ActorTimer
}

// checkGranted checks an ask that a grant approved, and the calls that consumed its
// approval.
func (c *raceChecker) checkGranted(t reply) {
	o := t.ask.Outcome
	switch {
	case o.Actor.Kind != askback.ActorPolicy || o.Digest != t.ask.Confirmation.Digest || c.made[o.GrantID] == nil:
		c.violate(accepted, "%s was approved as %s", t.ask.ID, jsonText(o))
	case t.action == actionAskOther:
		c.violate(accepted, "%s is not covered by the grant %s", t.ask.ID, o.GrantID)
	case t.revoked && o.GrantID == c.grant.ID:
		c.violate(accepted, "%s was approved by the grant %s after its revocation", t.ask.ID, o.GrantID)
	}
	g := c.made[o.GrantID]
	ended := g != nil && g.ended != ""
	times := 0
	for _, s := range c.replies {
		if s.action != actionConsumeGranted || s.ask.ID != t.ask.ID {
			continue
		}
		switch {
		case s.err == nil:
			times++
		case errors.Is(s.err, askback.ErrConsumed):
		case errors.Is(s.err, askback.ErrNotApproved) && ended: // the approvals of a grant end with the grant
		default:
			c.violate(failed, "consume %s: %v", t.ask.ID, s.err)
		}
	}
	c.checkSpentOnce(t.ask.ID, times, !ended)
	c.checkSpentInTime(t.ask.ID, o.GrantID)
}

// checkSpentInTime checks that an approval by a grant was not consumed after
// the end of the grant.
func (c *raceChecker) checkSpentInTime(ask, grant string) {
	ended := false
	for _, e := range c.history {
		switch {
		case e.Subject == grant && (e.Type == "grant_revoked" || e.Type == "grant_expired"):
			ended = true
		case e.Subject == ask && e.Type == "question_consumed" && ended:
			c.violate(accepted, "%s was consumed after the end of its grant %s", ask, grant)
		}
	}
}

// log returns all replies, grants and events of a race.
func (c *raceChecker) log() string {
	var b strings.Builder
	for _, t := range c.replies {
		fmt.Fprintln(&b, t)
	}
	for _, g := range c.grants {
		fmt.Fprintf(&b, "  grant %s: %s, used %d times, revoked %v\n", g.ID, g.Scope, g.Uses, g.RevokedAt)
	}
	for _, e := range c.history {
		fmt.Fprintf(&b, "  %d %s %s\n", e.Seq, e.Subject, e.Type)
	}
	return b.String()
}
