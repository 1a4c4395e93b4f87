package login

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// claims are the claims of a token, which are read strictly. Package encoding/json would ignore the case of
// names, and accept duplicates.
type claims struct{ jcs.Value }

// strictNames are the claims that decide whether a token is accepted, and for whom.
var strictNames = []string{
	"iss", "sub", "aud", "exp", "nbf", "nonce", "email", "email_verified", "typ", "cnf", "events", "at_hash", "c_hash",
}

// readClaims parses claims. It rejects input that two parsers could read differently. An example is a name of
// strictNames that is not in lower case.
func readClaims(b []byte) (claims, error) {
	v, err := jcs.Parse(b)
	if err != nil {
		return claims{}, err
	}
	for _, m := range v.Members() {
		if slices.ContainsFunc(strictNames,
			func(name string) bool { return name != m.Name && strings.EqualFold(name, m.Name) }) {
			return claims{}, fmt.Errorf("the claim %q is not written in lower case", m.Name)
		}
	}
	return claims{v}, nil
}

// claimsOf returns the claims of an ID token or of a reply of the UserInfo endpoint. The
// error is [ErrInvalid].
func claimsOf(source interface{ Claims(any) error }) (c claims, err error) {
	var payload json.RawMessage
	if err = source.Claims(&payload); err == nil {
		c, err = readClaims(payload)
	}
	if err != nil {
		return claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return c, nil
}

func (c claims) has(name string) bool { _, ok := c.Get(name); return ok }

// text returns a claim that is a string, or "" if there is no such claim. For a claim of
// another type it returns "?", which is not a valid value of any claim.
func (c claims) text(name string) string {
	v, ok := c.Get(name)
	if !ok {
		return ""
	}
	if v.Kind != jcs.String {
		return "?"
	}
	return v.Text()
}

// lacksEmail reports whether the claim email or the claim email_verified is missing.
func (c claims) lacksEmail() bool { return !c.has("email") || !c.has("email_verified") }

// maxEmail is the maximum length of an e-mail address in bytes (RFC 5321).
const maxEmail = 254

// verifiedEmail returns the e-mail address if it is valid, and the issuer has verified that
// it belongs to this person. Some issuers write true as a string.
func (c claims) verifiedEmail() (email string, ok bool) {
	v, _ := c.Get("email_verified")
	verified := v.Kind == jcs.Bool && v.Bool() || v.Kind == jcs.String && v.Text() == "true"
	email = c.text("email")
	a, err := mail.ParseAddress(email)
	if !verified || err != nil || a.Address != email || len(email) > maxEmail {
		return "", false
	}
	return email, true
}
