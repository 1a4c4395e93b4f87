// Package auth issues secrets to principals and checks them: tokens, log-in links and
// sign-ins.
//
// Only hashes of secrets are stored. Permission is checked by the caller. Package engine
// supplies the store and the commits.
package auth

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// The kinds of records. They have no state machine and are deleted when they are due.
const (
	KindToken = "token"
	KindLogin = "login"
)

// A Store is what this package reads. Its errors are those of package askback.
type Store interface {
	Read(ctx context.Context, kind, id string) (store.Record, error)
	ReadKey(ctx context.Context, kind, key string) (store.Record, error)
}

// A Tx is a change that is committed as a whole.
type Tx interface {
	Now() time.Time
	// Lock locks an id until the change is committed.
	Lock(id string) error
	Put(r store.Record)
	Delete(r store.Record)
}

// Options are what an [Authority] requires. All fields are required.
type Options struct {
	Store Store
	// Rows returns all records that a query selects. It reads q.Limit of them at once.
	Rows func(ctx context.Context, q store.Query) iter.Seq2[store.Record, error]
	// Update commits the change that fn makes. It runs fn again after a conflict.
	Update func(ctx context.Context, fn func(context.Context, Tx) error) error
	Now    func() time.Time // in whole milliseconds
	Rand   io.Reader
	// People returns the people who may sign in, and the issuer that verifies
	// their addresses. The issuer "" disables sign-in.
	People func() (issuer string, people []askback.Person)
	// Unreadable is called for each record that a list omits.
	Unreadable func(r store.Record, err error)
}

// An Authority issues secrets and checks them. It is safe for concurrent use.
type Authority struct {
	o     Options
	cache cache
}

// New returns an Authority.
func New(o Options) *Authority { return &Authority{o: o} }

// Authenticate returns the principal that a secret belongs to. It returns
// [askback.ErrUnauthorized] if the secret is unknown, revoked or expired.
func (a *Authority) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	key := hash(secret)
	now := a.o.Now()
	c, generation, ok := a.cache.get(key)
	if !ok {
		row, err := a.o.Store.ReadKey(ctx, KindToken, key)
		if errors.Is(err, askback.ErrNotFound) {
			return askback.Principal{}, askback.ErrUnauthorized
		}
		if err != nil {
			return askback.Principal{}, err
		}
		if c, err = a.resolve(ctx, row); err != nil {
			return askback.Principal{}, err
		}
		a.cache.put(key, c, generation)
	}
	if !c.validAt(now) || !a.signerValid(c.signer, c.Name) {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	return askback.Principal{Kind: c.Kind, Name: c.Name, Channel: c.Channel, Token: c.ID}, nil
}

// maxParents bounds the chain of tokens in which each created the next.
const maxParents = 8

// resolve returns the credential of a record, limited by its ancestors: it is revoked or
// expires no later than the tokens above it. The token of a browser, for example, ends
// with the token that logged it in.
func (a *Authority) resolve(ctx context.Context, row store.Record) (credential, error) {
	c, err := decode(row)
	parent := c.parent
	for i := 0; err == nil && parent != ""; i++ {
		up, readErr := a.o.Store.Read(ctx, KindToken, parent)
		if errors.Is(readErr, askback.ErrNotFound) || i == maxParents {
			return c, askback.ErrUnauthorized // the parent expired and was deleted
		}
		if readErr != nil {
			return c, readErr
		}
		var above credential
		if above, err = decode(up); err != nil {
			break
		}
		parent = above.parent
		if above.signer != (signer{}) {
			c.signer = above.signer
		}
		if !above.RevokedAt.IsZero() {
			c.RevokedAt = above.RevokedAt
		}
		if !above.ExpiresAt.IsZero() && (c.ExpiresAt.IsZero() || above.ExpiresAt.Before(c.ExpiresAt)) {
			c.ExpiresAt = above.ExpiresAt
		}
	}
	return c, err
}

// Root returns the id of the first token in the chain of parents of a token. A grant
// stores it: the grant ends if that token is revoked, but not if a browser is logged out.
// After a sign-in there is no such token; Root then returns a string that identifies the
// person and the issuer.
func (a *Authority) Root(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	for range maxParents + 1 { // the token and its parents
		row, err := a.o.Store.Read(ctx, KindToken, token)
		if err != nil {
			return token, err
		}
		c, err := decode(row)
		switch {
		case err != nil:
			return token, err
		case c.signer != (signer{}):
			return c.signer.root(), nil
		case c.parent == "":
			return token, nil
		}
		token = c.parent
	}
	return token, askback.ErrUnauthorized
}

// RootValid reports whether a root that [Authority.Root] returned for a person is still valid.
// The root "" is that of the program itself.
func (a *Authority) RootValid(ctx context.Context, root, person string, now time.Time) (bool, error) {
	if root == "" {
		return true, nil
	}
	if by, signedIn := parseSigner(root); signedIn {
		return a.signerValid(by, person), nil
	}
	row, err := a.o.Store.Read(ctx, KindToken, root)
	if errors.Is(err, askback.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c, err := decode(row)
	return c.validAt(now), err
}

// issue returns the record of a new token or log-in link with a secret. If lasts is 0,
// it does not expire. The token of who is its parent.
func (a *Authority) issue(kind string, who askback.Principal, lasts time.Duration, secret string, by signer) (store.Record, askback.Token, error) {
	now := a.o.Now()
	t := askback.Token{Kind: who.Kind, Name: who.Name, Channel: who.Channel, CreatedAt: now}
	if lasts > 0 {
		t.ExpiresAt = now.Add(lasts)
	}
	var err error
	if t.ID, err = ids.New(ids.Token, now, a.o.Rand); err != nil {
		return store.Record{}, t, err
	}
	row, err := encode(kind, credential{t, who.Token, by}, secret)
	return row, t, err
}

// add commits a new token or log-in link and returns it with its new secret.
func (a *Authority) add(ctx context.Context, kind string, who askback.Principal, lasts time.Duration, by signer) (askback.Token, string, error) {
	secret, err := a.NewSecret()
	if err != nil {
		return askback.Token{}, "", err
	}
	row, t, err := a.issue(kind, who, lasts, secret, by)
	if err != nil {
		return askback.Token{}, "", err
	}
	err = a.o.Update(ctx, func(_ context.Context, tx Tx) error {
		tx.Put(row)
		return nil
	})
	if err != nil {
		return askback.Token{}, "", err
	}
	return t, secret, nil
}
