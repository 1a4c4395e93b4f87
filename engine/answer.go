package engine

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/canon"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
)

// answered adds to an answer what the machine cannot make: the digest of edited
// arguments, and an id for a grant.
func (e *Engine) answered(ctx context.Context, token string, s lifecycle.State, a askback.Answer, ev lifecycle.Answered) (lifecycle.Event, error) {
	ev.Answer = a
	if s.Ask.Kind != askback.Confirm {
		return ev, nil
	}
	if err := e.edited(s, &ev); err != nil && !s.Ask.Settled() {
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
	if ev.Token, err = e.root(ctx, token); err != nil {
		return nil, err
	}
	ev.GrantID, err = ids.New(ids.Grant, ev.At, e.rand)
	return ev, err
}

// edited gives edited arguments a digest of their own (F7). They are read as
// strictly as those of the agent. What means the same is not edited.
func (e *Engine) edited(s lifecycle.State, ev *lifecycle.Answered) error {
	if len(ev.Answer.Input) == 0 || ev.Answer.Decision != askback.Approve {
		return nil
	}
	c := *s.Ask.Confirmation
	v, err := canon.Parse(ev.Answer.Input)
	if err == nil && v.Kind != canon.Object {
		return nil // the root package says so
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
