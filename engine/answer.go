package engine

import (
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
)

// errDangerous is the error of an answer to a dangerous call through a channel that may not
// decide it.
var errDangerous = fmt.Errorf(
	"a dangerous call is decided on its page after a log-in, in a terminal, or over the API: %w", askback.ErrForbidden,
)

// checkDangerous returns an error if the action would settle a dangerous call through a channel whose people
// have not logged in. Such a channel should refuse the answer itself, with a better explanation. For a
// settled ask checkDangerous returns nil, because the step then returns the error.
func (c *client) checkDangerous(action access.Action, a *askback.Ask) error {
	settles := action == access.ActAnswer || action == access.ActDecline
	if settles && !a.Settled() && a.Confirmation != nil && a.Confirmation.Dangerous &&
		!lifecycle.AtFrontend(c.Who.Channel) {
		return errDangerous
	}
	return nil
}

// answered returns the input of the state machine for an answer. For a confirmation it adds the digest of
// edited arguments, which the machine cannot compute. For a new grant it also adds the id, the token and the
// number of pending asks that the grant covers. It rejects a grant for a session that ends with this ask. For a
// settled ask it adds no grant, and ignores an error in the arguments.
func (c *client) answered(t *txn.Tx, a *lifecycle.AskState, answer askback.Answer) (lifecycle.Answered, error) {
	in := lifecycle.Answered{By: c.Who.Name, Via: c.Who.Channel, Answer: answer, At: t.Now()}
	if a.Ask.Kind != askback.Confirm {
		return in, nil
	}
	if err := txn.DigestEdited(a, &in); err != nil && !a.Ask.Settled() {
		return in, err
	}
	if answer.Decision != askback.ApproveAll || a.Ask.Settled() {
		return in, nil
	}
	if answer.Grant != nil && answer.Grant.Scope == askback.ScopeSession && a.OwnSession() {
		return in, askback.Invalid{{
			Pointer: "/grant/scope", Detail: "this ask has a session of its own, which ends with it",
			Fix: `"scope": "tool_and_input"`,
		}}
	}
	var err error
	if in.Token, err = c.engine.people.Root(t.Context(), c.Who.Token); err != nil {
		return in, err
	}
	if in.GrantID, err = t.DB.IDs.New(ids.Grant, in.At); err != nil {
		return in, err
	}
	if g, ok := a.PlannedGrant(in); ok {
		in.Waiting, err = t.CountCovered(g)
	}
	return in, err
}
