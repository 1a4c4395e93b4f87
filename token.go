package askback

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/limits"
)

// Tokens is the interface to tokens and log-in links.
type Tokens interface {
	// Tokens returns every token, oldest first.
	Tokens(ctx context.Context) ([]Token, error)
	// CreateToken creates a token and returns its secret. The secret cannot be
	// read again: only its hash is stored.
	CreateToken(ctx context.Context, r TokenRequest) (t Token, secret string, err error)
	// RevokeToken revokes a token with immediate effect. Revoking it again is not an error.
	RevokeToken(ctx context.Context, id string) (Token, error)
	// LoginSecret returns a secret that logs in one browser as this principal. The secret can be used once,
	// within ten minutes.
	LoginSecret(ctx context.Context) (secret string, err error)
}

// HostedPrefix begins the name of a hosted agent's principal, which owns its asks. No token has such a name.
const HostedPrefix = "hosted:"

// A Token is a credential of a principal. Its secret is not stored.
type Token struct {
	ID        string    `api:"id"`         // the id of the token
	Kind      Kind      `api:"kind"`       // the kind of principal, which decides what the token may do
	Name      string    `api:"name"`       // the name of the person or agent
	Channel   Channel   `api:"via"`        // the channel that outcomes record for its principal
	CreatedAt time.Time `api:"created_at"` // the time when it was created
	ExpiresAt time.Time `api:"expires_at"` // zero: never
	RevokedAt time.Time `api:"revoked_at"` // zero: not revoked

	// LastUsedAt is the time of the last call with the token. It is zero if no call is known. After a crash,
	// the calls of the last minute may be missing.
	LastUsedAt time.Time `api:"last_used_at"`

	// Browser is the browser that logged in. It is zero for other tokens, and if the browser is not known.
	Browser Browser `api:",inline"`
}

// A Browser is the browser of a person at the time when it logged in.
type Browser struct {
	Name    string `api:"browser,omitempty"` // the program and its system, such as "Firefox on Linux"
	Address string `api:"address,omitempty"` // the IP address
}

// A TokenRequest describes the token to create.
type TokenRequest struct {
	Kind      Kind          `request:"kind"`
	Name      string        `request:"name"`
	ExpiresIn time.Duration `request:"expires_in"` // 0: never
}

// Check returns an [Invalid] if the request is not valid.
func (r TokenRequest) Check() error {
	var bad problems
	if !slices.Contains(Kinds, r.Kind) {
		bad.add("/kind", "must be agent, responder, operator or admin", `"kind": "responder"`)
	}
	if strings.TrimSpace(r.Name) == "" {
		bad.add("/name", "is blank", `"name": "ana"`)
	}
	if strings.HasPrefix(r.Name, "@") {
		bad.add("/name", "names that begin with @ are reserved for groups", `"name": "ana"`)
	}
	if strings.HasPrefix(r.Name, HostedPrefix) {
		bad.add("/name", "names that begin with "+HostedPrefix+" are reserved for hosted agents", `"name": "ana"`)
	}
	checkName(&bad, "/name", r.Name, limits.MaxName)
	if r.ExpiresIn < 0 || r.ExpiresIn > limits.MaxTimeout {
		bad.add("/expires_in", "a token must expire in the future, within ten years", `"expires_in": "30d"`)
	}
	return bad.err()
}
