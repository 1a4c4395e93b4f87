package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// SignIn logs a browser in as the person who has an e-mail address, and returns its
// secret, which is good for [askback.SignInTime] and as long as the settings give this
// person this address. Whoever calls it vouches that the address is theirs. The
// error is [askback.ErrForbidden] when the settings have no such person.
func (e *Engine) SignIn(ctx context.Context, email string) (secret string, err error) {
	name, ok := e.person(email)
	if !ok {
		return "", askback.ErrForbidden
	}
	if secret, err = e.newSecret(); err != nil {
		return "", err
	}
	who := askback.Principal{Kind: askback.Responder, Name: name, Via: askback.ViaWeb}
	record, _, err := e.tokenOf(who, askback.SignInTime, secret, email)
	if err != nil {
		return "", err
	}
	if err := e.commit(ctx, store.Change{Put: []store.Record{record}}); err != nil {
		return "", fmt.Errorf("sign in: %w", mine(err))
	}
	e.due.set(record.Due)
	return secret, nil
}

// person returns the name of the person who has an address.
func (e *Engine) person(email string) (name string, ok bool) {
	for _, p := range e.settings.Load().People {
		if p.Email != "" && strings.EqualFold(p.Email, email) {
			return p.Name, true
		}
	}
	return "", false
}

// knows says whether a person still has the address by which they signed in. Without
// one, nobody signed in and there is nothing to know.
func (e *Engine) knows(email, name string) bool {
	if email == "" {
		return true
	}
	is, ok := e.person(email)
	return ok && is == name
}
