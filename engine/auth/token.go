package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// CreateToken creates a token and returns it with its secret.
func (a *Authority) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	if err := r.Check(); err != nil {
		return askback.Token{}, "", err
	}
	t, secret, err := a.add(ctx, KindToken, askback.Principal{Kind: r.Kind, Name: r.Name, Channel: askback.ChannelAPI},
		r.ExpiresIn, signer{}, askback.Browser{})
	if err != nil {
		return t, "", fmt.Errorf("create a token: %w", err)
	}
	return t, secret, nil
}

// Adopt creates a token for a secret that already exists, such as the secret in a user's state directory. The
// token does not expire. Adopt does nothing if the store has a token with this secret, even a revoked one.
func (a *Authority) Adopt(ctx context.Context, who askback.Principal, secret string) error {
	if err := (askback.TokenRequest{Kind: who.Kind, Name: who.Name}).Check(); err != nil {
		return err
	}
	return a.o.Update(ctx, func(ctx context.Context, tx Tx) error {
		_, err := a.o.Store.ReadKey(ctx, KindToken, hash(secret))
		if !errors.Is(err, askback.ErrNotFound) {
			return err
		}
		row, _, err := a.issue(KindToken, who, 0, secret, signer{}, askback.Browser{})
		if err == nil {
			tx.Put(row)
		}
		return err
	})
}

// EachToken calls do for each token. It omits tokens that cannot be decoded. If valid is set, it also omits
// tokens that are not valid. Such a token or its ancestor was revoked or has expired, or its person may no
// longer sign in.
func (a *Authority) EachToken(ctx context.Context, valid bool, do func(askback.Token)) error {
	now := a.o.Now()
	q := store.Query{Kind: KindToken, Limit: store.MaxList}
	if valid {
		q.Open = &valid
	}
	for row, err := range a.o.Rows(ctx, q) {
		if err != nil {
			return err
		}
		c, err := decode(row)
		switch {
		case err != nil:
			a.o.Unreadable(row, err)
		case !valid || a.usable(ctx, row, c, now):
			c.LastUsedAt = a.uses.last(c.Token)
			do(c.Token)
		}
	}
	return nil
}

// usable reports whether the token of a record is valid.
func (a *Authority) usable(ctx context.Context, row store.Record, c credential, now time.Time) bool {
	if !c.validAt(now) {
		return false
	}
	if c.parent != "" {
		var err error
		if c, err = a.resolve(ctx, row); err != nil {
			return false
		}
	}
	return c.validAt(now) && a.signerValid(c.signer, c.Name)
}

// RevokeToken revokes a token. If the token is already revoked, nothing changes. The
// record keeps its key, so that [Authority.Adopt] does not make the secret valid again.
func (a *Authority) RevokeToken(ctx context.Context, id string) (token askback.Token, err error) {
	err = a.o.Update(ctx, func(ctx context.Context, tx Tx) error {
		if err := tx.Lock(id); err != nil {
			return err
		}
		row, err := a.o.Store.Read(ctx, KindToken, id)
		if err != nil {
			return err
		}
		c, err := decode(row)
		token = c.Token
		token.LastUsedAt = a.uses.last(token)
		if err != nil || !token.RevokedAt.IsZero() {
			return err
		}
		if token.RevokedAt = tx.Now(); row.Updated.After(token.RevokedAt) {
			token.RevokedAt = row.Updated
		}
		row.Open, row.Status, row.Updated, row.Fixed = false, "revoked", token.RevokedAt, nil
		row.State, err = json.Marshal(moving{1, millis(token.RevokedAt), millis(token.LastUsedAt)})
		tx.Put(row)
		return err
	})
	if err == nil || errors.Is(err, askback.ErrUnknown) {
		a.cache.clear()
	}
	return token, err
}

// Logout revokes the token with this secret. A browser logs out with Logout, so the caller needs no
// permission other than the secret. An unknown secret is not an error.
func (a *Authority) Logout(ctx context.Context, secret string) error {
	row, err := a.o.Store.ReadKey(ctx, KindToken, hash(secret))
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = a.RevokeToken(ctx, row.ID)
	}
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// LoginSecret returns the secret of a new log-in link for a principal. The link is valid
// for [limits.LoginTime], but no longer than the token of the principal.
func (a *Authority) LoginSecret(ctx context.Context, who askback.Principal) (string, error) {
	who.Channel = askback.ChannelWeb
	_, secret, err := a.add(ctx, KindLogin, who, limits.LoginTime, signer{}, askback.Browser{})
	if err != nil {
		return "", fmt.Errorf("make a log-in link: %w", err)
	}
	return secret, nil
}

// Login exchanges the secret of a log-in link for the secret of a new token of the browser from. The token is
// valid for [limits.BrowserTime], but no longer than the token that created the link. A link works once. The error
// is [askback.ErrUnauthorized] if the link is unknown, used or no longer valid.
func (a *Authority) Login(
	ctx context.Context, secret string, from askback.Browser,
) (browserSecret string, err error) {
	err = a.o.Update(ctx, func(ctx context.Context, tx Tx) error {
		link, err := a.o.Store.ReadKey(ctx, KindLogin, hash(secret))
		if errors.Is(err, askback.ErrNotFound) {
			return askback.ErrUnauthorized
		}
		if err != nil {
			return err
		}
		c, err := a.resolve(ctx, link)
		if err != nil {
			return err
		}
		if !c.validAt(tx.Now()) {
			return askback.ErrUnauthorized
		}
		if browserSecret, err = a.NewSecret(); err != nil {
			return err
		}
		who := askback.Principal{Kind: c.Kind, Name: c.Name, Channel: askback.ChannelWeb, Token: c.parent}
		row, _, err := a.issue(KindToken, who, limits.BrowserTime, browserSecret, signer{}, from)
		tx.Put(row)
		tx.Delete(link)
		return err
	})
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		return "", err
	case err != nil:
		return "", fmt.Errorf("log in: %w", err)
	}
	return browserSecret, nil
}
