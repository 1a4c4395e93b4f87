package lifecycle

import (
	"fmt"
	"time"

	"github.com/askback/askback"
)

// A GrantState is the state of a grant. A grant is in force until it is revoked or has expired.
type GrantState struct {
	Grant   askback.Grant `store:",inline"`
	Expired bool          `store:"expired,moving"` // whether the expiry of the grant is in the history
	// Examine is the time from which the pending asks are examined, because the grant may cover some of them.
	// It is zero if they have been examined. After is the id of the last ask that was examined, or "".
	Examine time.Time `store:"examine,moving"`
	After   string    `store:"after,moving"`
}

// GrantMade begins a grant.
type GrantMade struct {
	Grant askback.Grant
	At    time.Time
}

// GrantUsed counts an ask that the grant approves.
type GrantUsed struct {
	Ask askback.Ask
	At  time.Time
}

// GrantExamined records that pending asks were examined, up to the ask After. If After is "", all were examined.
type GrantExamined struct {
	After string
	At    time.Time
}

// examineAgain is the time after a grant was made when the pending asks are examined once more. An ask that was
// being opened when the grant was made was not approved by it, and was not pending yet. Opening an ask takes at
// most five seconds.
const examineAgain = 6 * time.Second

// GrantRequired checks that the grant is in force. If the grant is not in force, or MakerValid is false, the
// error is [askback.ErrNotApproved]. Otherwise the grant is committed without a change, so that a concurrent
// revocation is a conflict (F8).
type GrantRequired struct {
	MakerValid bool // whether the token or the sign-in of the maker of the grant is still valid
	At         time.Time
}

// GrantRevoked ends the grant: a person withdrew it.
type GrantRevoked struct {
	By  string
	Via askback.Channel
	At  time.Time
}

// GrantExpired ends the grant if it has expired at the time At. Otherwise it changes
// nothing.
type GrantExpired struct{ At time.Time }

func (GrantMade) input()     {}
func (GrantUsed) input()     {}
func (GrantExamined) input() {}
func (GrantRequired) input() {}
func (GrantRevoked) input()  {}
func (GrantExpired) input()  {}

// Step returns the result of an input. The first input of a grant must be [GrantMade]. Each later input is
// [GrantUsed], [GrantExamined], [GrantRequired], [GrantRevoked] or [GrantExpired], in any order. If Step
// returns an error, nothing changes.
//
// The error is [askback.ErrNotApproved] if the grant does not cover the ask or is not in force. For an input
// that these rules do not allow, Step returns another error.
func (s GrantState) Step(in Input) (Result[GrantState], error) {
	if made, ok := in.(GrantMade); ok != (s.Grant.ID == "") {
		return unchanged(s), fmt.Errorf("%T for grant %q: GrantMade must be the first input, and only the first", in,
			s.Grant.ID)
	} else if ok {
		return grantMade(made)
	}
	switch in := in.(type) {
	case GrantUsed:
		return grantUsed(s, in)
	case GrantExamined:
		return grantExamined(s, in)
	case GrantRequired:
		return grantRequired(s, in)
	case GrantRevoked:
		return grantRevoked(s, in)
	case GrantExpired:
		return grantExpired(s, in)
	}
	return unchanged(s), fmt.Errorf("%T is not an input of a grant", in)
}

// Columns returns the parts of the state by which a store selects the record of the grant.
func (s GrantState) Columns() Columns {
	if s.ended() {
		return Columns{Status: "ended"}
	}
	due := s.Grant.ExpiresAt
	if !s.Examine.IsZero() && s.Examine.Before(due) {
		due = s.Examine
	}
	return Columns{Open: true, Status: "granted", Due: due}
}

// Examines reports whether the pending asks must be examined at the time now.
func (s GrantState) Examines(now time.Time) bool {
	return !s.ended() && !s.Examine.IsZero() && !now.Before(s.Examine)
}

func (s GrantState) ended() bool { return s.Expired || !s.Grant.RevokedAt.IsZero() }

func grantMade(in GrantMade) (Result[GrantState], error) {
	s := GrantState{Grant: in.Grant, Examine: in.At}
	s.Grant.CreatedAt, s.Grant.Uses, s.Grant.RevokedAt, s.Grant.LastUsedAt = in.At, 0, time.Time{}, time.Time{}
	return changed(s), nil // the history of the ask has the event
}

func grantUsed(s GrantState, in GrantUsed) (Result[GrantState], error) {
	if s.ended() || !s.Grant.Covers(in.Ask, in.At) {
		return unchanged(s), askback.ErrNotApproved
	}
	s.Grant.Uses, s.Grant.LastUsedAt = s.Grant.Uses+1, in.At
	return changed(s), nil // the history of the ask has the event
}

func grantExamined(s GrantState, in GrantExamined) (Result[GrantState], error) {
	if !s.Examines(in.At) {
		return unchanged(s), nil
	}
	again := s.Grant.CreatedAt.Add(examineAgain)
	switch s.After = in.After; {
	case in.After != "":
	case s.Examine.Before(again):
		s.Examine = again
	default:
		s.Examine = time.Time{}
	}
	return changed(s), nil
}

func grantRequired(s GrantState, in GrantRequired) (Result[GrantState], error) {
	if s.ended() || !in.MakerValid || !in.At.Before(s.Grant.ExpiresAt) {
		return unchanged(s), askback.ErrNotApproved
	}
	return changed(s), nil
}

func grantRevoked(s GrantState, in GrantRevoked) (Result[GrantState], error) {
	if s.ended() {
		return unchanged(s), nil
	}
	s.Grant.RevokedAt = in.At
	return changed(s, Event{Type: askback.EventGrantRevoked, By: in.By, Via: in.Via, Grant: new(s.Grant)}), nil
}

func grantExpired(s GrantState, in GrantExpired) (Result[GrantState], error) {
	if s.ended() || in.At.Before(s.Grant.ExpiresAt) {
		return unchanged(s), nil
	}
	s.Expired = true
	return changed(s, Event{Type: askback.EventGrantExpired, Grant: new(s.Grant)}), nil
}
