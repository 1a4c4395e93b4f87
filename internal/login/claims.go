package login

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/askback/askback/internal/jcs"
)

// claims are what a token says, read strictly: the library takes a key in any case,
// and the last of several.
type claims struct{ jcs.Value }

// weighty are the claims that decide something.
var weighty = []string{
	"iss", "sub", "aud", "exp", "nbf", "nonce", "email", "email_verified", "typ", "cnf", "events", "at_hash", "c_hash",
}

// readClaims refuses what two readers could read as two things.
func readClaims(b []byte) (claims, error) {
	v, err := jcs.Parse(b)
	if err != nil {
		return claims{}, err
	}
	for _, m := range v.Members() {
		if slices.ContainsFunc(weighty, func(w string) bool { return w != m.Name && strings.EqualFold(w, m.Name) }) {
			return claims{}, fmt.Errorf("the claim %q is written in another way than it should be", m.Name)
		}
	}
	return claims{v}, nil
}

func (c claims) has(name string) bool { _, ok := c.Get(name); return ok }

// text is a claim that is a text; "" where there is none, and "?", which is no value of
// any that we take, where it is something else.
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

// silent says whether nothing is said of the person's address, or of whose it is.
func (c claims) silent() bool { return !c.has("email") || !c.has("email_verified") }

// maxEmail is how long an address can be (RFC 5321).
const maxEmail = 254

// verified returns the address that is this person's own, if the issuer says so. Some
// issuers write true as a text.
func (c claims) verified() (email string, ok bool) {
	v, _ := c.Get("email_verified")
	sure := v.Kind == jcs.Bool && v.Bool() || v.Kind == jcs.String && v.Text() == "true"
	email = c.text("email")
	a, err := mail.ParseAddress(email)
	if !sure || err != nil || a.Address != email || len(email) > maxEmail {
		return "", false
	}
	return email, true
}
