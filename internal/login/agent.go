package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/mail"
	"strings"
)

// Agent returns the name of the agent that shows an access token: a JWT of the
// issuer (RFC 9068) whose audience is the public URL and [ResourcePath]. Who it
// works for gives it its name, so that its asks are its own with the next token too:
// a verified e-mail, else the subject. The names of the two begin differently, since
// at some issuers people choose their subject. The error is [ErrInvalid] or
// [ErrUnreachable].
func (i *Issuer) Agent(ctx context.Context, token string) (name string, err error) {
	if !isJWT(token) {
		return "", ErrInvalid
	}
	verified, err := i.verify(ctx, token, i.settings.PublicURL+ResourcePath)
	if err != nil {
		return "", err
	}
	var says claims
	if err := verified.Claims(&says); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if says.Nonce != "" {
		return "", fmt.Errorf("%w: it tells a client who logged in, and opens nothing", ErrInvalid)
	}
	if email, ok := says.verified(); ok {
		return "oauth:" + email, nil
	}
	return "oauth-sub:" + plain(verified.Subject), nil
}

// claims are what a token says about a person.
type claims struct {
	Email    string `json:"email"`
	Verified *flag  `json:"email_verified"` // nil: it does not say
	Nonce    string `json:"nonce"`
}

// verified returns the address that is this person's own, in lower case, if the
// issuer says so.
func (c claims) verified() (email string, ok bool) {
	a, err := mail.ParseAddress(c.Email)
	if c.Verified == nil || !bool(*c.Verified) || err != nil || a.Address != c.Email || plain(c.Email) != c.Email {
		return "", false
	}
	return strings.ToLower(c.Email), true
}

// A flag is true or "true": some issuers write it as a text.
type flag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true" || string(b) == `"true"`
	return nil
}

// maxPlain is how long a name may be to stand as it is.
const maxPlain = 100

// plain is a text that people can read in one line and that is never another one
// written alike; what is no such text becomes its hash.
func plain(s string) string {
	visible := func(r rune) bool { return r > ' ' && r < 0x7f }
	if len(s) <= maxPlain && strings.IndexFunc(s, func(r rune) bool { return !visible(r) }) < 0 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + base64.RawURLEncoding.EncodeToString(sum[:])
}
