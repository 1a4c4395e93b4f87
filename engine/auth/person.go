package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// HasPersonToken reports whether the person with this name has a valid token.
func (a *Authority) HasPersonToken(ctx context.Context, name string) (bool, error) {
	now := a.o.Now()
	q := store.Query{Kind: KindToken, Owner: name, Open: new(true), Limit: store.MaxList}
	for row, err := range a.o.Rows(ctx, q) {
		if err != nil {
			return false, fmt.Errorf("tokens of %q: %w", name, err)
		}
		c, err := decode(row)
		if err == nil && (c.Kind == askback.Responder || c.Kind == askback.Admin) && a.usable(ctx, row, c, now) {
			return true, nil
		}
	}
	return false, nil
}

// Generation returns a number that changes when a token is revoked.
func (a *Authority) Generation() int {
	a.cache.mu.Lock()
	defer a.cache.mu.Unlock()
	return a.cache.generation
}

// IsRevoked reports whether a token was revoked. It returns false for a token that was deleted after it
// expired, and for the token "" of the program itself.
func (a *Authority) IsRevoked(ctx context.Context, token string) (bool, error) {
	t, err := a.token(ctx, token)
	if errors.Is(err, askback.ErrNotFound) {
		return false, nil
	}
	return !t.RevokedAt.IsZero(), err
}

// RootEnd returns the time at which a root that [Authority.Root] returned ends. It returns zero if the root
// does not expire, and a time in the past if the root is not valid now. For a sign-in it also returns zero,
// because it does not read the settings.
func (a *Authority) RootEnd(ctx context.Context, root string) (time.Time, error) {
	if _, signedIn := parseSigner(root); signedIn || root == "" {
		return time.Time{}, nil
	}
	t, err := a.token(ctx, root)
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return time.UnixMilli(0), nil
	case err == nil && !t.RevokedAt.IsZero():
		return t.RevokedAt, nil
	}
	return t.ExpiresAt, err
}

// IsSignIn reports whether a root that [Authority.Root] returned identifies a sign-in.
func IsSignIn(root string) bool {
	_, ok := parseSigner(root)
	return ok
}

// token reads a token. For "", the error is [askback.ErrNotFound].
func (a *Authority) token(ctx context.Context, id string) (askback.Token, error) {
	if id == "" {
		return askback.Token{}, askback.ErrNotFound
	}
	row, err := a.o.Store.Read(ctx, KindToken, id)
	if err != nil {
		return askback.Token{}, err
	}
	c, err := decode(row)
	return c.Token, err
}

// PersonOf returns the name of the person who owns the token in a record of kind [KindToken]. It also reports
// whether the token belongs to a person and is valid at the time now. It does not check the parent of the
// token.
func PersonOf(row store.Record, now time.Time) (name string, valid bool) {
	c, err := decode(row)
	return c.Name, err == nil && (c.Kind == askback.Responder || c.Kind == askback.Admin) && c.validAt(now)
}
