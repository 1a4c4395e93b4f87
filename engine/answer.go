package engine

import (
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/jcs"
)

// errDangerous is the error of an answer to a dangerous call through a channel that may not
// decide it.
var errDangerous = fmt.Errorf("a dangerous call is decided on its page after a log-in, in a terminal, or over the API: %w", askback.ErrForbidden)

// isLoggedIn reports whether people who use a channel have logged in, or work at the terminal of
// the agent. Other channels identify a person by an account of a service, an address or a link,
// which are shared more easily. A program that uses the library may name no channel.
func isLoggedIn(via askback.Channel) bool {
	switch via {
	case askback.ChannelWeb, askback.ChannelTerminal, askback.ChannelAPI, askback.ChannelHook, askback.ChannelMCP, "":
		return true
	}
	return false
}

// checkDangerous returns an error if the action would settle a dangerous call through a channel
// of people who have not logged in. These channels refuse it with a better explanation; this
// check holds also for one that does not. A settled ask has its own error.
func (c *client) checkDangerous(action access.Action, a *askback.Ask) error {
	settles := action == access.ActAnswer || action == access.ActDecline
	if settles && !a.Settled() && a.Confirmation != nil && a.Confirmation.Dangerous && !isLoggedIn(c.who.Channel) {
		return errDangerous
	}
	return nil
}

// answered returns the input for an answer. For a confirmation it adds what the machine
// cannot compute: the digest of edited arguments, and the id and the token of a new grant.
// For a settled ask it adds no grant, and ignores an error in the arguments.
func (c *client) answered(t *tx, a *lifecycle.AskState, answer askback.Answer) (lifecycle.Answered, error) {
	in := lifecycle.Answered{By: c.who.Name, Via: c.who.Channel, Answer: answer, At: t.now}
	if a.Ask.Kind != askback.Confirm {
		return in, nil
	}
	if err := digestEdited(a, &in); err != nil && !a.Ask.Settled() {
		return in, err
	}
	if answer.Decision != askback.ApproveAll || a.Ask.Settled() {
		return in, nil
	}
	if answer.Grant != nil && answer.Grant.Scope == askback.ScopeSession && a.OwnSession() {
		return in, askback.Invalid{{
			Pointer: "/grant/scope", Detail: "this ask has a session of its own, which ends with it", Fix: `"scope": "tool_and_input"`,
		}}
	}
	var err error
	if in.Token, err = t.engine.Root(t.ctx, c.who.Token); err != nil {
		return in, err
	}
	in.GrantID, err = t.engine.ids.New(ids.Grant, in.At)
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
