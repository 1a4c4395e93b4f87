package lifecycle

import (
	"fmt"

	"github.com/askback/askback"
)

// grant returns the grant that approve_all makes on this ask. It is for the owner and
// the tool of the ask, and covers dangerous calls only if this one is dangerous.
func grant(s State, ev Answered, r askback.GrantRequest) askback.Grant {
	c := s.Ask.Confirmation
	g := askback.Grant{
		ID: ev.GrantID, Owner: s.Owner, Agent: s.Ask.Agent, ToolName: c.ToolName, Server: c.Server, Scope: r.Scope,
		Dangerous: c.Dangerous, By: ev.By, CreatedAt: ev.At, ExpiresAt: ev.At.Add(r.ExpiresIn),
		Token: ev.Token, AskID: s.Ask.ID,
	}
	if len(c.Input) <= askback.MaxGrantInput {
		g.Input = c.Input
	}
	switch r.Scope {
	case askback.ScopeSession:
		g.SessionID = s.Ask.SessionID
	case askback.ScopeInput:
		g.Digest = c.Digest
	}
	return g
}

// grantKey returns a text that is equal for equal grant requests, or "" for nil.
func grantKey(r *askback.GrantRequest) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s for %s", r.Scope, r.ExpiresIn)
}

// covered approves the ask by a grant. It checks that the grant covers the ask and
// does not rely on the caller.
func covered(s State, ev Covered) (State, []Event, error) {
	g := ev.Grant
	if s.Ask.Kind != askback.Confirm || !s.Ask.Settled() && !g.Covers(s.Ask, ev.At) {
		return s, nil, askback.ErrNotApproved
	}
	next, history, err := settle(s, nil, askback.Outcome{
		Status: askback.Answered, Decision: askback.Approve, Digest: s.Ask.Confirmation.Digest, GrantID: g.ID,
		Actor: askback.Actor{Kind: askback.ActorPolicy, Name: g.By}, At: ev.At,
	})
	if err != nil || len(history) == 0 {
		return s, nil, err
	}
	g.Input = nil // the ask has it, and the history has it in grant_made
	return next, append(history, Event{Type: askback.EventGrantUsed, Grant: &g}), nil
}
