package engine

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/lifecycle"
)

// answered returns the input for an answer. For a confirmation it adds what the machine
// cannot compute: the digest of edited arguments, and the id and the token of a new grant.
// For a settled ask it adds no grant, and ignores an error in the arguments.
func (c *client) answered(t *tx, a *lifecycle.AskState, answer askback.Answer) (lifecycle.Input, error) {
	in := lifecycle.Answered{By: c.who.Name, Via: c.who.Channel, Answer: answer, At: t.now}
	if a.Ask.Kind != askback.Confirm {
		return in, nil
	}
	if err := digestEdited(a, &in); err != nil && !a.Ask.Settled() {
		return nil, err
	}
	if answer.Decision != askback.ApproveAll || a.Ask.Settled() {
		return in, nil
	}
	if answer.Grant != nil && answer.Grant.Scope == askback.ScopeSession && a.OwnSession() {
		return nil, askback.Invalid{{
			Pointer: "/grant/scope", Detail: "this ask has a session of its own, which ends with it", Fix: `"scope": "tool_and_input"`,
		}}
	}
	var err error
	if in.Token, err = t.engine.Root(t.ctx, c.who.Token); err != nil {
		return nil, err
	}
	in.GrantID, err = ids.New(ids.Grant, in.At, t.engine.rand)
	return in, err
}

// digestEdited sets in.Digest to the digest of the arguments that a person edited and
// approved (F7). They are parsed as strictly as those of the agent. If the digest is that of
// the original arguments, digestEdited removes the edit. It does nothing for other
// decisions, without an edit, and for JSON that is not an object.
func digestEdited(s *lifecycle.AskState, in *lifecycle.Answered) error {
	if len(in.Answer.Input) == 0 || in.Answer.Decision != askback.Approve {
		return nil
	}
	c := *s.Ask.Confirmation
	v, err := jcs.Parse(in.Answer.Input)
	if err == nil && v.Kind != jcs.Object {
		return nil // package askback returns the error for it
	}
	c.Input = in.Answer.Input
	sum, err := digest("/input", s.Ask.Agent, c)
	if err != nil {
		return err
	}
	if sum == s.Ask.Confirmation.Digest {
		in.Answer.Input = nil
		return nil
	}
	in.Digest = sum
	return nil
}
