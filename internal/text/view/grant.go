package view

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Grant is an [askback.Grant], a standing approval, for display (F8).
type Grant struct {
	ID        safetext.Text
	Agent     safetext.Text
	Filter    string        // Agent without marks, escaped as the value of a query
	Owner     safetext.Text // name of the token that may use the approval, if the name differs from Agent
	Tool      safetext.Text
	Server    safetext.Text
	Scope     string        // scope, in words
	Limit     safetext.Text // session or digest of the arguments that limits the approval; empty without such a limit
	Arguments safetext.Text // arguments of the call for which the approval was made; empty if they are too long to keep
	FirstLine safetext.Text // the beginning of Arguments, in one line
	Ask       safetext.Text // id of the ask with which the approval was made
	Exact     bool          // whether the approval covers only these arguments
	FreeText  bool          // whether the approval covers any arguments of a free-text tool; see [FreeText]
	Dangerous bool          // whether the approval covers calls that are marked dangerous
	By        safetext.Text
	Since     time.Time
	Until     time.Time
	RevokedAt time.Time // zero if the approval is not revoked
	Uses      int
	LastUsed  time.Time // zero if no use is known
	Idle      bool      // whether the approval is idle, because the token or the sign-in of By has ended
}

// OfGrant returns the view of a grant.
func OfGrant(g askback.Grant) Grant {
	v := Grant{
		ID: safetext.Line(g.ID), Agent: safetext.Name(g.Agent), Tool: safetext.CodeName(g.ToolName),
		Server: safetext.CodeName(g.Server), Filter: url.QueryEscape(g.Agent), Scope: ScopeText(g.Scope),
		Dangerous: g.Dangerous, By: safetext.Name(g.By), Since: g.CreatedAt, Until: g.ExpiresAt,
		RevokedAt: g.RevokedAt, Uses: g.Uses, LastUsed: g.LastUsedAt, Idle: g.MakerEnded,
	}
	if g.Owner != g.Agent {
		v.Owner = safetext.Name(g.Owner)
	}
	v.Ask = safetext.Line(g.AskID)
	if len(g.Input) > 0 {
		v.Arguments, _ = FormatJSON(g.Input)
		v.FirstLine = oneLine(g.Input)
	}
	v.FreeText = g.Scope != askback.ScopeInput && FreeText(g.ToolName)
	switch g.Scope {
	case askback.ScopeSession:
		v.Limit = safetext.Line(g.SessionID)
	case askback.ScopeInput:
		v.Limit, v.Exact = safetext.Line(g.Digest), true
	}
	return v
}

var scopeTexts = map[askback.Scope]string{
	askback.ScopeTool:    "this tool, with any arguments",
	askback.ScopeSession: "this tool, with any arguments, in one session",
	askback.ScopeInput:   "exactly these arguments",
}

// ScopeText describes a scope. It returns "" for an unknown scope.
func ScopeText(s askback.Scope) string { return scopeTexts[s] }

// IdleGrant is the sentence that explains an idle grant.
const IdleGrant = "It approves nothing now: the token or the log-in of the person who gave it has ended."

// Ended reports whether the grant is revoked or expired.
func (g Grant) Ended(now time.Time) bool { return !g.RevokedAt.IsZero() || !now.Before(g.Until) }

// A Breadth is the breadth of a grant.
type Breadth uint8

// The breadths, from narrow to wide. People should look at wide grants first.
const (
	Narrow Breadth = iota // exactly the same arguments
	Wide                  // any arguments, or dangerous calls
	Widest                // any arguments of dangerous calls, or any free text
)

// Breadth returns the breadth of the grant.
func (g Grant) Breadth() Breadth {
	switch {
	case g.FreeText, g.Dangerous && !g.Exact:
		return Widest
	case g.Dangerous, !g.Exact:
		return Wide
	}
	return Narrow
}

// A GrantGroup contains the grants of the agents with one label and one token.
type GrantGroup struct {
	Agent  safetext.Text
	Owner  safetext.Text // name of the token, as in [Grant]
	Grants []Grant       // the widest grant first
}

// GroupGrants groups grants by agent and token. The groups are sorted by name. In a group, the widest grant
// is first.
func GroupGrants(grants []Grant) []GrantGroup {
	var groups []GrantGroup
	for _, g := range grants {
		i, found := slices.BinarySearchFunc(groups, g, func(group GrantGroup, g Grant) int {
			return cmp.Or(cmp.Compare(group.Agent.String(), g.Agent.String()),
				cmp.Compare(group.Owner.String(), g.Owner.String()))
		})
		if !found {
			groups = slices.Insert(groups, i, GrantGroup{Agent: g.Agent, Owner: g.Owner})
		}
		groups[i].Grants = append(groups[i].Grants, g)
	}
	for _, group := range groups {
		slices.SortStableFunc(group.Grants, func(a, b Grant) int { return cmp.Compare(b.Breadth(), a.Breadth()) })
	}
	return groups
}

// Usage describes how often the grant approved a call.
func (g Grant) Usage() string {
	switch g.Uses {
	case 0:
		return "not used yet"
	case 1:
		return "used once"
	}
	return "used " + Count(g.Uses, "time")
}

// AskPath returns the path of the page of the ask with which the grant was made.
func (g Grant) AskPath() string { return askback.PagePath(g.Ask.String()) }
