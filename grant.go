package askback

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/askback/askback/internal/limits"
)

// A Grant is a standing approval that a person made with [ApproveAll] (D1, F8).
// New asks that it covers are approved without delay, by [ActorPolicy] and not by a person.
// Asks that are pending when it is made, and that it covers, are approved in the same way, except asks with a held
// answer. Every grant expires.
type Grant struct {
	ID        string `api:"id" store:"-"`                    // the id of the grant
	Owner     string `api:"owner" store:"owner,keep"`        // the name of the token that may use it
	Agent     string `api:"agent" store:"agent,keep"`        // the agent label that asks must have
	ToolName  string `api:"tool_name" store:"tool,keep"`     // the tool that it covers
	Server    string `api:"server,null" store:"server"`      // the MCP server of the tool
	Scope     Scope  `api:"scope" store:"scope,keep"`        // the calls that it covers
	SessionID string `api:"session_id,null" store:"session"` // if the scope is [ScopeSession]: the session
	// Digest is the digest of the exact arguments, if the scope is [ScopeInput].
	Digest string `api:"digest,null" store:"digest"`
	// the ask whose answer made it; "" if an older release made it
	AskID string `api:"ask_id,null,after=id" store:"ask"`
	// Input holds the arguments of the ask, as the agent sent them. It is nil if the arguments are longer
	// than 64 KiB. The ask has them as long as it is stored.
	Input json.RawMessage `api:"input" store:"input"`
	// Dangerous is set if the grant was made for a dangerous call. Only such a grant covers dangerous calls.
	Dangerous bool      `api:"dangerous" store:"dangerous"`
	By        string    `api:"by" store:"by,keep"`                // the person who made it
	CreatedAt time.Time `api:"created_at" store:"created,keep"`   // the time when it was made
	ExpiresAt time.Time `api:"expires_at" store:"expires,keep"`   // the time when it ends
	Uses      int       `api:"uses" store:"uses,keep,moving"`     // how often it approved a call
	RevokedAt time.Time `api:"revoked_at" store:"revoked,moving"` // zero: not revoked

	LastUsedAt time.Time `api:"last_used_at" store:"last_used,moving"` // when it last approved a call; zero: not known
	// MakerEnded is set in lists if the token or the sign-in of By has ended. The grant then approves
	// nothing.
	MakerEnded bool `api:"maker_ended,omitempty" store:"-"`

	// Token identifies the token or the sign-in that By used. When it ends, the grant approves nothing more.
	// Token is "" if the program itself made the grant. It is not part of the JSON.
	Token string `api:"-" store:"token"`
}

// A Scope determines which calls of a tool by an agent a grant covers.
type Scope string

// The scopes, from wide to narrow. [ScopeInput] is the default. A frontend that offers a wider scope must
// show its effect.
const (
	ScopeTool    Scope = "tool"           // any arguments
	ScopeSession Scope = "session"        // any arguments, in one session
	ScopeInput   Scope = "tool_and_input" // exactly the same arguments
)

// A GrantRequest describes the grant that [ApproveAll] makes. The zero value covers
// the tool with exactly the same arguments for a day.
type GrantRequest struct {
	Scope     Scope         `request:"scope"`
	ExpiresIn time.Duration `request:"expires_in"`
}

// normalize returns the request with its defaults filled in, and adds its problems to bad.
func (g GrantRequest) normalize(bad *problems) GrantRequest {
	switch g.Scope {
	case "":
		g.Scope = ScopeInput
	case ScopeTool, ScopeSession, ScopeInput:
	default:
		bad.add("/grant/scope", "must be tool_and_input, session or tool", `"scope": "tool_and_input"`)
	}
	if g.ExpiresIn == 0 {
		g.ExpiresIn = limits.DefaultGrant
	}
	if g.ExpiresIn < time.Second || g.ExpiresIn > limits.MaxGrant {
		bad.add("/grant/expires_in", "must be from one second to one year", `"expires_in": "24h"`)
	}
	return g
}

// Covers reports whether the grant approves a at the time now. A grant approves only asks that its maker may
// decide, and no ask that several people must approve. Covers does not check [Grant.Token].
func (g Grant) Covers(a Ask, now time.Time) bool {
	c := a.Confirmation
	if c == nil || !g.RevokedAt.IsZero() || !now.Before(g.ExpiresAt) {
		return false
	}
	if g.Owner != a.Owner || g.Agent != a.Agent || g.ToolName != c.ToolName || g.Server != c.Server {
		return false
	}
	if c.Dangerous && !g.Dangerous || a.Quorum > 1 || !a.MayDecide(g.By) {
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

// A GrantQuery selects grants. The zero value selects the grants in force.
type GrantQuery struct {
	Ended  bool   // select grants that expired or were revoked instead
	Agent  string // the agent's label
	Cursor string // NextCursor of the previous page
	Limit  int    // 1 to 200; 0 is 50
}

// Check returns an [Invalid] if the query is not valid. It does not check the cursor.
func (q GrantQuery) Check() error {
	var bad problems
	checkLimit(&bad, q.Limit)
	return bad.err()
}

func checkLimit(bad *problems, limit int) {
	if limit < 0 || limit > MaxLimit {
		bad.add("/limit", fmt.Sprintf("must be from 1 to %d", MaxLimit), fmt.Sprintf("limit=%d", DefaultLimit))
	}
}

// A GrantPage is a part of a list of grants, newest first.
type GrantPage struct {
	Items      []Grant `api:"items"`            // the entries of this page
	NextCursor string  `api:"next_cursor,null"` // "" after the last page
}

// Grants is the interface to standing approvals. Its methods may return the errors that
// every method of [Asker] may return.
type Grants interface {
	// Grants returns a page of standing approvals.
	Grants(ctx context.Context, q GrantQuery) (GrantPage, error)
	// Revoke ends a grant. After Revoke returns, the grant approves no further ask. A grant that is already
	// revoked is returned unchanged.
	Revoke(ctx context.Context, id string) (Grant, error)
}
