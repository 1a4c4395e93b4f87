package engine

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/lifecycle"
)

// answerEvent completes an Answered event with what the state machine cannot
// compute: the digest of edited arguments, and the id of a new grant.
func (e *Engine) answerEvent(ctx context.Context, token string, s lifecycle.State, a askback.Answer, ev lifecycle.Answered) (lifecycle.Input, error) {
	ev.Answer = a
	if s.Ask.Kind != askback.Confirm {
		return ev, nil
	}
	if err := e.digestEdited(s, &ev); err != nil && !s.Ask.Settled() {
		return nil, err
	}
	if a.Decision != askback.ApproveAll || s.Ask.Settled() {
		return ev, nil
	}
	if a.Grant != nil && a.Grant.Scope == askback.ScopeSession && s.Ask.SessionID == ids.Swap(s.Ask.ID, ids.Session) {
		return nil, askback.Invalid{{
			Pointer: "/grant/scope", Detail: "this ask has a session of its own, which ends with it", Fix: `"scope": "tool_and_input"`,
		}}
	}
	var err error
	if ev.Token, err = e.rootID(ctx, token); err != nil {
		return nil, err
	}
	ev.GrantID, err = ids.New(ids.Grant, ev.At, e.rand)
	return ev, err
}

// digestEdited sets the digest of arguments that a person edited (F7). They are
// parsed as strictly as those of the agent. It removes an edit that leaves the
// digest unchanged.
func (e *Engine) digestEdited(s lifecycle.State, ev *lifecycle.Answered) error {
	if len(ev.Answer.Input) == 0 || ev.Answer.Decision != askback.Approve {
		return nil
	}
	c := *s.Ask.Confirmation
	v, err := jcs.Parse(ev.Answer.Input)
	if err == nil && v.Kind != jcs.Object {
		return nil // package askback returns the error for it
	}
	c.Input = ev.Answer.Input
	sum, err := digest("/input", s.Ask.Agent, c)
	if err != nil {
		return err
	}
	if sum == s.Ask.Confirmation.Digest {
		ev.Answer.Input = nil
		return nil
	}
	ev.Digest = sum
	return nil
}
