package auth

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// Logins returns the valid browser log-ins of a person, oldest first. They are the tokens with the person's
// name that log-in links and sign-ins created.
func (a *Authority) Logins(ctx context.Context, who askback.Principal) ([]askback.Token, error) {
	var logins []askback.Token
	now := a.o.Now()
	q := store.Query{Kind: KindToken, Owner: who.Name, Open: new(true), Limit: store.MaxList}
	for row, err := range a.o.Rows(ctx, q) {
		if err != nil {
			return nil, fmt.Errorf("list log-ins: %w", err)
		}
		c, err := a.resolve(ctx, row)
		if err == nil && isLogin(c.Token, who) && c.validAt(now) && a.signerValid(c.signer, c.Name) {
			c.LastUsedAt = a.uses.last(c.Token)
			logins = append(logins, c.Token)
		}
	}
	return logins, nil
}

// EndLogin revokes a browser log-in of a person. The error is [askback.ErrNotFound] if [Authority.Logins]
// does not return a token with this id.
func (a *Authority) EndLogin(ctx context.Context, who askback.Principal, id string) (askback.Token, error) {
	logins, err := a.Logins(ctx, who)
	if err != nil {
		return askback.Token{}, err
	}
	for _, t := range logins {
		if t.ID == id {
			return a.RevokeToken(ctx, id)
		}
	}
	return askback.Token{}, fmt.Errorf("end log-in %s: %w", id, askback.ErrNotFound)
}

// isLogin reports whether a token is a browser log-in of this person. The kind must be the same, because an
// agent may have the same name.
func isLogin(t askback.Token, who askback.Principal) bool {
	return t.Channel == askback.ChannelWeb && t.Name == who.Name && t.Kind == who.Kind
}
