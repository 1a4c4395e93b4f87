package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Agent verifies an access token and returns the name of its agent. The token is a JWT of the issuer (RFC
// 9068) whose audience is the public URL followed by [ResourcePath].
//
// The name is derived from the subject, which never changes. An e-mail address could later belong to another
// person. The label is the verified e-mail address. It is "" if the token has no such address, or the address
// is not printable. The error is [ErrInvalid] or [ErrUnreachable].
func (i *Issuer) Agent(ctx context.Context, token string) (name, label string, err error) {
	if !isJWT(token) {
		return "", "", ErrInvalid
	}
	verified, c, err := i.verify(ctx, token, i.settings.PublicURL+ResourcePath)
	if err != nil {
		return "", "", err
	}
	if why := rejectAccess(tokenType(token), c); why != "" {
		return "", "", fmt.Errorf("%w: %s", ErrInvalid, why)
	}
	if email, ok := c.verifiedEmail(); ok && printable(email) == email {
		label = email
	}
	return "oauth:" + printable(verified.Subject), label, nil
}

// rejectAccess returns the reason why a token of the issuer is not an access token, or "". A token that is
// bound to a key is rejected. Otherwise, a token of the type at+jwt is an access token. A token of another
// type is rejected if it is known to be something else (RFC 9068, section 4; OpenID Connect; Keycloak's
// "typ").
func rejectAccess(typ string, c claims) (why string) {
	switch {
	case c.has("cnf"):
		return "it requires a proof of possession, which this server does not check" // RFC 7800
	case typ == "at+jwt":
		return ""
	case typ != "" && typ != "jwt":
		return "it is a token of another type"
	case slices.ContainsFunc([]string{"nonce", "events", "at_hash", "c_hash"}, c.has):
		return "it is an ID token or a logout token, not an access token"
	case c.text("typ") != "" && c.text("typ") != "Bearer":
		return "it is a token of another type"
	}
	return ""
}

// isJWT reports whether secret looks like a JWT in compact form.
func isJWT(secret string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return strings.Count(secret, ".") == 2 && strings.Trim(secret, letters) == ""
}

// tokenType returns the type in the header of a verified token, in lower case and without
// "application/", or "" for a header without a type. A header that cannot be read has the
// type "?".
func tokenType(token string) string {
	header, _, _ := strings.Cut(token, ".")
	b, err := base64.RawURLEncoding.DecodeString(header)
	c, invalid := readClaims(b)
	if err != nil || invalid != nil {
		return "?"
	}
	return strings.TrimPrefix(strings.ToLower(c.text("typ")), "application/")
}

// hashPrefix is the prefix of a subject that was replaced by its hash.
const hashPrefix = "sha256:"

// maxPrintable is the maximum length in bytes of a subject that is not replaced by its
// hash.
const maxPrintable = 100

// printable returns s if people can read it on one line. A string that is too long, not visible ASCII, or
// like a hash is replaced by its hash, so no two subjects collide.
func printable(s string) string {
	hidden := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if len(s) <= maxPrintable && !strings.HasPrefix(s, hashPrefix) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hashPrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}
