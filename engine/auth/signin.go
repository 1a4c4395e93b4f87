package auth

import (
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A signer identifies a person who signed in. It has an e-mail address, and the issuer that verified the
// address.
type signer struct {
	Issuer string `json:"issuer"`
	Email  string `json:"email"`
}

// SignIn logs the browser from in as the person with this e-mail address, and returns the secret of a new token. The
// caller has checked that the issuer verified the address. The token is valid for [limits.SignInTime], and
// only while the settings name this issuer and give this person this address. The error is
// [askback.ErrForbidden] if no person in the settings has the address. It is [askback.ErrUnauthorized] if the
// settings name another issuer or none.
func (a *Authority) SignIn(
	ctx context.Context, issuer, email string, from askback.Browser,
) (secret string, err error) {
	if !a.Trusts(issuer) {
		return "", askback.ErrUnauthorized
	}
	by := signer{issuer, email}
	name, ok := a.personName(by)
	if !ok {
		return "", askback.ErrForbidden
	}
	who := askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}
	if _, secret, err = a.add(ctx, KindToken, who, limits.SignInTime, by, from); err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	return secret, nil
}

// Trusts reports whether the settings name this issuer. It returns false for "".
func (a *Authority) Trusts(issuer string) bool {
	trusted, _ := a.o.People()
	return issuer != "" && issuer == trusted
}

// personName returns the name of the person with the address of a signer, ignoring the case of ASCII letters.
// It reports false if there is no such person, or if the address is "". It also reports false if the settings
// name another issuer or none.
func (a *Authority) personName(by signer) (name string, ok bool) {
	issuer, people := a.o.People()
	if issuer == "" || by.Issuer != issuer || by.Email == "" {
		return "", false
	}
	email := lowerASCII(by.Email)
	for _, p := range people {
		if lowerASCII(p.Email) == email {
			return p.Name, true
		}
	}
	return "", false
}

// lowerASCII returns s with its ASCII letters in lower case. Unicode folding would make different addresses
// equal.
func lowerASCII(email string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, email)
}

// signerValid reports whether the settings still name the issuer of a signer and give its
// address to the person called name. The zero signer of a token that was created without
// a sign-in is valid.
func (a *Authority) signerValid(by signer, name string) bool {
	if by == (signer{}) {
		return true
	}
	current, ok := a.personName(by)
	return ok && current == name
}

// signerPrefix begins the strings that root returns. No id of a token has this prefix.
const signerPrefix = "person:"

// root returns the string that a grant stores in place of a token id if its maker
// signed in. The grant ends when that person may no longer sign in.
func (s signer) root() string { return signerPrefix + s.Issuer + " " + s.Email }

// parseSigner decodes a string that root returned. ok is false for other strings.
func parseSigner(root string) (s signer, ok bool) {
	if root, ok = strings.CutPrefix(root, signerPrefix); ok {
		s.Issuer, s.Email, ok = strings.Cut(root, " ")
	}
	return s, ok
}
