package lifecycle

import (
	"fmt"

	"github.com/askback/askback"
)

// grant is what approve_all makes of this ask: for who asked, for this tool, and
// only as dangerous as what the person saw.
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

// wish is what a person wanted granted, in one word.
func wish(r *askback.GrantRequest) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s for %s", r.Scope, r.ExpiresIn)
}

// covered approves by a grant, which never covers more than it says, whoever
// found it.
func covered(s State, ev Covered) (State, []Entry, error) {
	g := ev.Grant
	if s.Ask.Kind != askback.Confirm || !s.Ask.Settled() && !g.Covers(s.Ask, ev.At) {
		return s, nil, askback.ErrNotApproved
	}
	next, history, err := settle(s, nil, askback.Outcome{
		Status: askback.Answered, Decision: askback.Approve, Digest: s.Ask.Confirmation.Digest, GrantID: g.ID,
		By: askback.By{Kind: askback.ByPolicy, Name: g.By}, At: ev.At,
	})
	if err != nil || len(history) == 0 {
		return s, nil, err
	}
	g.Input = nil // it is in the entry of the ask, and told once when the grant is made
	return next, append(history, Entry{Type: "grant_used", Grant: &g}), nil
}
