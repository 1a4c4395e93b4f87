package askback

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Grant is a standing approval that a person made with [ApproveAll] (D1, F8).
// Asks it covers are answered by it at once, as a policy and never as a person.
// It always ends by itself.
type Grant struct {
	ID        string
	Owner     string // the name of the token that may use it
	Agent     string // and the label it asks with
	ToolName  string
	Server    string
	Scope     Scope
	SessionID string // of [ScopeSession]
	Digest    string // of [ScopeInput]: the exact arguments
	AskID     string // the ask whose approval made it; "" if an older release did
	// Input holds the arguments of that ask, as the agent sent them. It is nil
	// if they are longer than MaxGrantInput; the ask has them as long as it is kept.
	Input     json.RawMessage
	Dangerous bool   // made on a dangerous call; others cover none
	By        string // the person who made it
	CreatedAt time.Time
	ExpiresAt time.Time
	Uses      int
	RevokedAt time.Time // zero: not revoked

	// Token is the id of the token that its maker showed, or says who signed in, without which the
	// grant approves nothing; "" is the program itself. It is not on the wire.
	Token string
}

// A Scope says how much a grant covers, of one tool and one agent.
type Scope string

// The scopes, from wide to narrow. [ScopeInput] is the default; a wider one is
// chosen by a person who was shown what it covers.
const (
	ScopeTool    Scope = "tool"           // whatever its arguments
	ScopeSession Scope = "session"        // whatever its arguments, in one session
	ScopeInput   Scope = "tool_and_input" // these very arguments
)

// A GrantRequest says what [ApproveAll] grants; the zero value is the tool with
// these very arguments, for [DefaultGrant].
type GrantRequest struct {
	Scope     Scope
	ExpiresIn time.Duration
}

// How long grants last.
const (
	DefaultGrant = 24 * time.Hour
	MaxGrant     = 366 * 24 * time.Hour
)

// MaxGrantInput is how many bytes of arguments a grant keeps to be shown. Grants
// are listed, and looked through for each confirmation of their agent.
const MaxGrantInput = 1 << 16

// normalize fills in what is unsaid.
func (g GrantRequest) normalize(bad *problems) GrantRequest {
	switch g.Scope {
	case "":
		g.Scope = ScopeInput
	case ScopeTool, ScopeSession, ScopeInput:
	default:
		bad.add("/grant/scope", "a scope is tool_and_input, session or tool", `"scope": "tool_and_input"`)
	}
	if g.ExpiresIn == 0 {
		g.ExpiresIn = DefaultGrant
	}
	if g.ExpiresIn < time.Second || g.ExpiresIn > MaxGrant {
		bad.add("/grant/expires_in", "a grant lasts a second to a year", `"expires_in": "24h"`)
	}
	return g
}

// Covers says whether a grant approves an ask of this owner at a time. Nobody
// who could not answer the ask can have approved it beforehand.
func (g Grant) Covers(a Ask, now time.Time) bool {
	c := a.Confirmation
	if c == nil || !g.RevokedAt.IsZero() || !now.Before(g.ExpiresAt) {
		return false
	}
	if g.Owner != a.Owner || g.Agent != a.Agent || g.ToolName != c.ToolName || g.Server != c.Server {
		return false
	}
	if c.Dangerous && !g.Dangerous || a.Quorum > 1 || !a.addressed(g.By) {
		return false
	}
	switch g.Scope {
	case ScopeTool:
		return true
	case ScopeSession:
		return g.SessionID == a.SessionID
	case ScopeInput:
		return g.Digest == c.Digest
	}
	return false
}

// A GrantQuery selects grants. The zero value selects those that still hold.
type GrantQuery struct {
	Ended  bool   // those that are over or revoked instead
	Agent  string // the agent's label
	Cursor string // NextCursor of the page before
	Limit  int    // 1 to 200; 0 is 50
}

// Check says whether a query can be answered; the error is [Invalid].
func (q GrantQuery) Check() error {
	var bad problems
	checkLimit(&bad, q.Limit)
	return bad.err()
}

func checkLimit(bad *problems, limit int) {
	if limit < 0 || limit > MaxLimit {
		bad.add("/limit", fmt.Sprintf("a limit is 1 to %d", MaxLimit), fmt.Sprintf("limit=%d", DefaultLimit))
	}
}

// A GrantPage is a part of a list of grants, newest first.
type GrantPage struct {
	Items      []Grant
	NextCursor string // "" after the last page
}

// A Desk is where a person looks after more than one ask. The errors are those
// of [Inbox].
type Desk interface {
	// Grants returns standing approvals.
	Grants(ctx context.Context, q GrantQuery) (GrantPage, error)
	// Revoke ends a grant. When it returns, no ask is approved by it any more.
	// Revoked before, it is returned as it is.
	Revoke(ctx context.Context, id string) (Grant, error)
	// People returns those who may answer, and Agents those who ask, by name.
	People(ctx context.Context) ([]Person, error)
	Agents(ctx context.Context) ([]Asking, error)
	// Stats say how long agents wait, and for whom.
	Stats(ctx context.Context) (Stats, error)
}
