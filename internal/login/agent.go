package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// Agent returns the name of the agent that shows an access token, and what people may
// know it by, a verified address that is plain, or "": a JWT of the
// issuer (RFC 9068) whose audience is the public URL and [ResourcePath]. Its subject
// gives it its name, which stays with the next token; an address may be somebody
// else's one day. The error is [ErrInvalid] or [ErrUnreachable].
func (i *Issuer) Agent(ctx context.Context, token string) (name, label string, err error) {
	if !isJWT(token) {
		return "", "", ErrInvalid
	}
	verified, says, err := i.verify(ctx, token, i.settings.PublicURL+ResourcePath)
	if err != nil {
		return "", "", err
	}
	if why := noAccess(typeOf(token), says); why != "" {
		return "", "", fmt.Errorf("%w: %s", ErrInvalid, why)
	}
	if email, ok := says.verified(); ok && plain(email) == email {
		label = email
	}
	return "oauth:" + plain(verified.Subject), label, nil
}

// noAccess says why a token of the issuer opens nothing, or "". One that says it is
// an access token is one; of others, those are not taken that are known to be
// something else (RFC 9068, section 4; OpenID Connect; Keycloak's "typ").
func noAccess(kind string, says claims) (why string) {
	switch {
	case says.has("cnf"):
		return "whoever shows it has to prove more, which is not asked here" // RFC 7800
	case kind == "at+jwt":
		return ""
	case kind != "" && kind != "jwt":
		return "it is a token of another type"
	}
	for _, key := range []string{"nonce", "events", "at_hash", "c_hash"} {
		if says.has(key) {
			return "it tells a client who logged in or out, and opens nothing"
		}
	}
	switch says.text("typ") {
	case "", "Bearer":
		return ""
	}
	return "it is a token of another type"
}

// isJWT says whether a secret has the looks of a signed token in its compact form.
func isJWT(secret string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return strings.Count(secret, ".") == 2 && strings.Trim(secret, letters) == ""
}

// typeOf is the type in the header of a token that was verified, in lower case and
// without its "application/"; "" where there is none.
func typeOf(token string) string {
	header, _, _ := strings.Cut(token, ".")
	b, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return "?"
	}
	c, err := readClaims(b)
	if err != nil {
		return "?"
	}
	return strings.TrimPrefix(strings.ToLower(c.text("typ")), "application/")
}

// hashed is how the name of a hash begins.
const hashed = "sha256:"

// maxPlain is how long a subject may be to stand as it is.
const maxPlain = 100

// plain is a text that people can read in one line, and no two subjects have the same;
// what cannot stand as it is becomes its hash.
func plain(s string) string {
	visible := func(r rune) bool { return r > ' ' && r < 0x7f }
	if len(s) <= maxPlain && !strings.HasPrefix(s, hashed) && strings.IndexFunc(s, func(r rune) bool { return !visible(r) }) < 0 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hashed + base64.RawURLEncoding.EncodeToString(sum[:])
}
