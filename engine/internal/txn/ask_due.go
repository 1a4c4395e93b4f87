package txn

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// applyDue steps an ask whose held answer or deadline is due.
func (t *Tx) applyDue(r *AskRecord) error {
	if next := r.State.Moves(); next.IsZero() || t.now.Before(next) {
		return nil
	}
	in := lifecycle.Due{At: t.now}
	for _, h := range r.State.Held {
		ok, err := t.mayStillSend(&r.State, h)
		if err != nil {
			return err
		}
		if !ok {
			in.Lost = append(in.Lost, h.Name)
			continue
		}
		if g, ok := r.State.PlannedGrant(lifecycle.AnswerOf(h, t.now)); ok {
			n, err := t.CountCovered(g)
			if err != nil {
				return err
			}
			in.Grants = append(in.Grants, lifecycle.HeldGrant{By: h.Name, Waiting: n})
		}
	}
	return r.Step(t, in)
}

// mayStillSend reports whether a held answer may still be sent. The token or the sign-in with which the
// answer was given must be valid, and its arguments must have the approved digest.
func (t *Tx) mayStillSend(s *lifecycle.AskState, h askback.Held) (bool, error) {
	in := lifecycle.Answered{Answer: h.Answer()}
	if len(h.Input) > 0 && (DigestEdited(s, &in) != nil || in.Digest != h.Digest) {
		return false, nil
	}
	return t.DB.Valid(t.ctx, h.Token, h.Name, t.now)
}
