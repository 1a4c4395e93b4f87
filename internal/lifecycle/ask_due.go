package lifecycle

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// OwnSession reports whether the session of the ask is implicit. An implicit session has
// the id of its ask with another prefix, and no record.
func (s AskState) OwnSession() bool {
	return strings.TrimPrefix(s.Ask.SessionID, "ses_") == strings.TrimPrefix(s.Ask.ID, "ask_")
}

// Columns returns the parts of the state by which a store selects the record of the ask.
func (s AskState) Columns() Columns {
	a := s.Ask
	return Columns{Open: !a.Settled(), Unacked: a.Unacked(), Status: string(a.Status), To: a.People(), Due: s.Due()}
}

// Due returns the time at which the ask must be stepped, by [Due] or by [FollowedUp], or zero for never.
func (s AskState) Due() time.Time {
	due := s.Moves()
	if next, ok := s.NextFollowUp(); ok && (due.IsZero() || next.At.Before(due)) {
		return next.At
	}
	return due
}

// Moves returns the time from which [Due] changes the ask, or zero if it never does: the time of the
// next held answer or of the deadline.
func (s AskState) Moves() time.Time {
	at := s.Expires()
	if h, ok := s.nextHeld(); ok && (at.IsZero() || h.SendsAt.Before(at)) {
		return h.SendsAt
	}
	return at
}

// Expires returns the time at which [Due] ends the ask, or zero if it never does. Claims postpone the
// deadline to [limits.ClaimHold] after the last claim, but by at most [limits.MaxClaimHold] (F5).
func (s AskState) Expires() time.Time {
	a := s.Ask
	if a.Settled() || a.Deadline.IsZero() || a.OnTimeout == askback.OnTimeoutWait {
		return time.Time{}
	}
	due := a.Deadline
	for _, c := range a.Claims {
		if held := c.At.Add(limits.ClaimHold); held.After(due) {
			due = held
		}
	}
	if last := a.Deadline.Add(limits.MaxClaimHold); due.After(last) {
		due = last
	}
	return due
}

// due sends the held answers that are due. If the ask has expired, due sends all held answers and then ends
// the ask, unless an answer has settled it.
func due(s AskState, in Due) (Result[AskState], error) {
	expires := s.Expires()
	expired := !expires.IsZero() && !in.At.Before(expires)
	r := unchanged(s)
	for {
		h, ok := r.State.nextHeld()
		if !ok || in.At.Before(h.SendsAt) && !expired {
			break
		}
		r = r.then(sendHeld(r.State, h, in))
	}
	if !expired || r.State.Ask.Settled() {
		return r, nil
	}
	o := askback.Outcome{
		Status: askback.Expired, Reason: "no one answered in time", Actor: askback.Actor{Kind: askback.ActorTimer},
		At: in.At,
	}
	if r.State.unreached() {
		o.Reason = askback.ReasonUnreached
	}
	if s.Ask.OnTimeout == askback.OnTimeoutDefault {
		o.Answers, o.Defaulted = s.Ask.Defaults(), true
	}
	end, err := settle(r.State, askback.EventQuestionExpired, o)
	return r.then(end), err
}

// unreached reports whether each attempt to send the ask to people has failed, and no person is known to have
// seen the ask.
func (s AskState) unreached() bool {
	tried := false
	for _, d := range s.Deliveries {
		switch {
		case ToCallback(d):
		case d.Status == askback.DeliverySent, d.Receipt != "", !d.SeenAt.IsZero():
			return false
		default:
			tried = tried || d.Attempts > 0
		}
	}
	return tried && len(s.Ask.Claims) == 0 && len(s.Ask.Votes) == 0
}
