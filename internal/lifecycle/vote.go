package lifecycle

import (
	"slices"

	"github.com/askback/askback"
)

// voted records the approval of a person if the quorum is more than one. It reports whether the step ends
// with this result. The step ends if more approvals are needed, or if the approval is a repeat. Otherwise the
// answer settles the ask, and the returned state has the approval that completes the quorum.
func voted(s AskState, in Answered, a askback.Answer) (Result[AskState], bool) {
	if s.Ask.Quorum <= 1 || a.Decision != askback.Approve {
		return unchanged(s), false
	}
	if s.Ask.Voted(in.By) {
		return unchanged(s), !s.Ask.Settled() || s.Ask.Outcome.Approved()
	}
	if s.Ask.Settled() {
		return unchanged(s), false
	}
	s.Ask.Votes = append(slices.Clip(s.Ask.Votes), askback.Vote{
		Name: in.By, Decision: a.Decision, Reason: a.Reason, Channel: in.Via, At: in.At,
	})
	s.Held = withoutHeld(s.Held, in.By)
	s.actedOnScreen(in.By, in.Via, in.At)
	r := changed(s,
		Event{Type: askback.EventQuestionVoted, By: in.By, Via: in.Via, Decision: a.Decision, Reason: a.Reason})
	return r, len(s.Ask.Votes) < s.Ask.Quorum
}

// checkApprover returns an [askback.NotApproverError] if the author of the input in may not decide the ask.
// It checks answers, declines and claims. Claims are checked because they postpone the deadline.
func (s AskState) checkApprover(in Input) error {
	var by string
	switch in := in.(type) {
	case Answered:
		by = in.By
	case Declined:
		by = in.By
	case Held:
		by = in.By
	case Claimed:
		by = in.By
	default:
		return nil
	}
	if s.Ask.IsApprover(by) {
		return nil
	}
	return askback.NotApproverError{Who: s.Ask.Deciders()}
}
