package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// A signer is a person who signed in: somebody vouched for their address.
type signer struct {
	Issuer string `json:"issuer"`
	Email  string `json:"email"`
}

// SignIn logs a browser in as the person who has an e-mail address, and returns its
// secret, which is good for [askback.SignInTime] and as long as the settings have this
// issuer and give this person this address. The issuer vouches that the address is
// theirs. The error is [askback.ErrForbidden] when the settings have no such person,
// and [askback.ErrUnauthorized] when they have no such issuer.
func (e *Engine) SignIn(ctx context.Context, issuer, email string) (secret string, err error) {
	if !e.Trusts(issuer) {
		return "", askback.ErrUnauthorized
	}
	by := signer{issuer, email}
	name, ok := e.person(by)
	if !ok {
		return "", askback.ErrForbidden
	}
	if secret, err = e.newSecret(); err != nil {
		return "", err
	}
	who := askback.Principal{Kind: askback.Responder, Name: name, Via: askback.ViaWeb}
	record, _, err := e.tokenOf(who, askback.SignInTime, secret, by)
	if err != nil {
		return "", err
	}
	if err := e.commit(ctx, store.Change{Put: []store.Record{record}}); err != nil {
		return "", fmt.Errorf("sign in: %w", mine(err))
	}
	e.due.set(record.Due)
	return secret, nil
}

// Trusts says whether the settings have an issuer.
func (e *Engine) Trusts(issuer string) bool {
	return issuer != "" && e.settings.Load().Issuer == issuer
}

// person returns the name of the person who signed in.
func (e *Engine) person(by signer) (name string, ok bool) {
	s := e.settings.Load()
	if s.Issuer == "" || by.Issuer != s.Issuer || by.Email == "" {
		return "", false
	}
	email := lower(by.Email)
	for _, p := range s.People {
		if lower(p.Email) == email {
			return p.Name, true
		}
	}
	return "", false
}

// lower folds the letters of an address that everybody folds. Others have relatives
// that look the same and belong to somebody else.
func lower(email string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, email)
}

// stands says whether somebody is still the person as who they signed in. Where nobody
// signed in there is nothing that could end.
func (e *Engine) stands(by signer, name string) bool {
	if by == (signer{}) {
		return true
	}
	is, ok := e.person(by)
	return ok && is == name
}

// personal is how the root of somebody who signed in begins. No id of a token does.
const personal = "person:"

// root is what a grant made by somebody who signed in hangs on.
func (s signer) root() string { return personal + s.Issuer + " " + s.Email }

// signerOf reads what root writes.
func signerOf(root string) (s signer, ok bool) {
	if root, ok = strings.CutPrefix(root, personal); ok {
		s.Issuer, s.Email, ok = strings.Cut(root, " ")
	}
	return s, ok
}
