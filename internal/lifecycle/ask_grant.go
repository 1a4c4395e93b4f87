package lifecycle

import (
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// Covered approves the ask by a grant. Grant is the state of the grant before this use.
type Covered struct {
	Grant askback.Grant
	At    time.Time
}

// PlannedGrant returns the grant that an answer makes if it settles the ask. It reports false if the answer makes
// no grant.
func (s AskState) PlannedGrant(in Answered) (askback.Grant, bool) {
	answer, err := in.Answer.Normalize(s.Ask)
	if err != nil || answer.Grant == nil {
		return askback.Grant{}, false
	}
	return newGrant(s, in, *answer.Grant), true
}

// newGrant returns the grant that approve_all makes on this ask. The grant is for the owner, the agent and
// the tool of the ask. It covers dangerous calls only if the call of this ask is dangerous.
func newGrant(s AskState, in Answered, r askback.GrantRequest) askback.Grant {
	c := s.Ask.Confirmation
	g := askback.Grant{
		ID: in.GrantID, Owner: s.Owner, Agent: s.Ask.Agent, ToolName: c.ToolName, Server: c.Server, Scope: r.Scope,
		Dangerous: c.Dangerous, By: in.By, CreatedAt: in.At, ExpiresAt: in.At.Add(r.ExpiresIn),
		Token: in.Token, AskID: s.Ask.ID,
	}
	if len(c.Input) <= limits.MaxGrantInput {
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

// grantKey returns a string by which grant requests are compared. It returns "" for nil.
func grantKey(r *askback.GrantRequest) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s for %s", r.Scope, r.ExpiresIn)
}

// covered approves the ask by a grant. The error is [askback.ErrNotApproved] if the ask is not a
// confirmation, or is pending and not covered by the grant. It is [askback.ErrSettled] if the ask has another
// outcome.
func covered(s AskState, in Covered) (Result[AskState], error) {
	g := in.Grant
	if s.Ask.Kind != askback.Confirm || !s.Ask.Settled() && !g.Covers(s.Ask, in.At) {
		return unchanged(s), askback.ErrNotApproved
	}
	use := UseGrant{ID: g.ID, Ask: s.Ask, At: in.At}
	r, err := settle(s, askback.EventQuestionAnswered, askback.Outcome{
		Status: askback.Answered, Decision: askback.Approve, Digest: s.Ask.Confirmation.Digest, GrantID: g.ID,
		Actor: askback.Actor{Kind: askback.ActorPolicy, Name: g.By}, At: in.At,
	})
	if err != nil || r.Unchanged {
		return r, err
	}
	g.Uses, g.LastUsedAt = g.Uses+1, in.At
	g.Input = nil // the ask has the grant, and the event grant_made has the arguments of the grant
	r.History = append(r.History, Event{Type: askback.EventGrantUsed, Grant: &g})
	r.Effects = append([]Effect{use}, r.Effects...)
	return r, nil
}
