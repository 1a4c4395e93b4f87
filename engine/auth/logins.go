package auth

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// Logins returns the valid log-ins of browsers of a person, oldest first. They are the tokens
// with the person's name that log-in links and sign-ins created.
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
			logins = append(logins, c.Token)
		}
	}
	return logins, nil
}

// EndLogin revokes a log-in of a browser of a person. The error is [askback.ErrNotFound] if
// the token is not one of [Authority.Logins].
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

// isLogin reports whether a token is the log-in of a browser of this person. The kind must be
// the same, because a name may belong to an agent, too.
func isLogin(t askback.Token, who askback.Principal) bool {
	return t.Channel == askback.ChannelWeb && t.Name == who.Name && t.Kind == who.Kind
}
