package askback

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// A Keyring gives out and takes back the means to act as a principal.
type Keyring interface {
	// Tokens returns every token, oldest first.
	Tokens(ctx context.Context) ([]Token, error)
	// CreateToken makes a token. Only its hash is kept: this is the one time
	// that its secret is seen.
	CreateToken(ctx context.Context, r TokenRequest) (t Token, secret string, err error)
	// RevokeToken ends a token at once. Ending it again is no error.
	RevokeToken(ctx context.Context, id string) (Token, error)
	// LoginSecret returns what logs in one browser, once, within [LoginTime],
	// as the principal that asks for it.
	LoginSecret(ctx context.Context) (secret string, err error)
}

const (
	// LoginTime is how long a log-in link can be used.
	LoginTime = 10 * time.Minute
	// BrowserTime is how long a browser stays logged in.
	BrowserTime = 30 * 24 * time.Hour
	// SignInTime is how long it stays so when somebody else said who it is: after a
	// day it is asked again.
	SignInTime = 24 * time.Hour
)

// A Token lets its holder act as a principal. Its secret is not kept.
type Token struct {
	ID        string
	Kind      Kind
	Name      string
	Via       Via // where it is used; outcomes carry it
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}

// A TokenRequest says for whom a token is.
type TokenRequest struct {
	Kind      Kind
	Name      string
	ExpiresIn time.Duration // 0: never
}

// Check says whether such a token can be made; the error is [Invalid].
func (r TokenRequest) Check() error {
	var bad problems
	switch r.Kind {
	case Agent, Responder, Operator, Admin:
	default:
		bad.add("/kind", "a token is for an agent, a responder, an operator or an admin", `"kind": "responder"`)
	}
	if strings.TrimSpace(r.Name) == "" {
		bad.add("/name", "is blank", `"name": "ana"`)
	}
	if strings.HasPrefix(r.Name, "@") {
		bad.add("/name", "a name that begins with @ is that of a group, and nothing could be put to its holder", `"name": "ana"`)
	}
	name(&bad, "/name", r.Name, MaxName)
	if r.ExpiresIn < 0 || r.ExpiresIn > MaxTimeout {
		bad.add("/expires_in", "a token ends after it is made, and within ten years", `"expires_in": "30d"`)
	}
	return bad.err()
}

type tokenJSON struct {
	ID        string `json:"id"`
	Kind      Kind   `json:"kind"`
	Name      string `json:"name"`
	Via       Via    `json:"via"`
	CreatedAt stamp  `json:"created_at"`
	ExpiresAt stamp  `json:"expires_at"`
	RevokedAt stamp  `json:"revoked_at"`
}

// MarshalJSON writes a token with null for the times that are not.
func (t Token) MarshalJSON() ([]byte, error) {
	return marshal(tokenJSON{
		t.ID, t.Kind, t.Name, t.Via, stamp{t.CreatedAt}, stamp{t.ExpiresAt}, stamp{t.RevokedAt},
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Token) UnmarshalJSON(b []byte) error {
	var j tokenJSON
	err := json.Unmarshal(b, &j)
	*t = Token{j.ID, j.Kind, j.Name, j.Via, j.CreatedAt.Time, j.ExpiresAt.Time, j.RevokedAt.Time}
	return err
}
