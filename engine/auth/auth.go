// Package auth issues secrets to principals and checks them: tokens, log-in links and
// sign-ins.
//
// Only hashes of secrets are stored. Permission is checked by the caller. Package engine
// supplies the store and the commits.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// The kinds of the records of this package. These records have no state machine and are
// deleted when they are due.
const (
	KindToken = "token"
	KindLogin = "login"
)

// A Store is the storage that this package reads from. It returns the errors of package
// askback, such as [askback.ErrNotFound].
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

// Options configure an [Authority]. All fields are required.
type Options struct {
	Store Store
	// Rows returns all records that a query selects. It reads q.Limit records at a time.
	Rows func(ctx context.Context, q store.Query) iter.Seq2[store.Record, error]
	// Update commits the change that fn makes. After a conflict, Update runs fn again.
	Update func(ctx context.Context, fn func(context.Context, Tx) error) error
	Now    func() time.Time // the time in whole milliseconds
	Rand   io.Reader
	IDs    *ids.Generator
	// People returns the people who may sign in, and the issuer that verifies
	// their addresses. The issuer "" disables sign-in.
	People func() (issuer string, people []askback.Person)
	// Unreadable is called for each record that EachToken omits because it cannot
	// be decoded.
	Unreadable func(r store.Record, err error)
}

// An Authority issues secrets and checks them. It is safe for concurrent use.
type Authority struct {
	o     Options
	cache cache
	uses  uses
}

// New returns an [Authority] with these options.
func New(o Options) *Authority { return &Authority{o: o} }

// Authenticate returns the principal of the token with this secret. The error is [askback.ErrUnauthorized] if
// the secret is unknown or the token is no longer valid. A token ends when it expires or is revoked, and with
// its parent. A token from a sign-in also ends when its person may no longer sign in.
func (a *Authority) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	sum := digest(secret)
	now := a.o.Now()
	c, generation := a.cache.get(sum)
	if c == nil {
		var err error
		if c, err = a.read(ctx, sum); err != nil {
			return askback.Principal{}, err
		}
		a.cache.put(sum, c, generation)
	}
	if !c.validAt(now) || !a.signerValid(c.signer, c.Name) {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	a.uses.add(c.ID, now)
	return askback.Principal{Kind: c.Kind, Name: c.Name, Channel: c.Channel, Token: c.ID}, nil
}

// read reads the credential of the token whose secret has the digest sum. The error is
// [askback.ErrUnauthorized] if there is no such token, or in the cases of resolve.
func (a *Authority) read(ctx context.Context, sum [sha256.Size]byte) (*credential, error) {
	row, err := a.o.Store.ReadKey(ctx, KindToken, hex.EncodeToString(sum[:]))
	if errors.Is(err, askback.ErrNotFound) {
		return nil, askback.ErrUnauthorized
	}
	if err != nil {
		return nil, err
	}
	c, err := a.resolve(ctx, row)
	return &c, err
}

// maxParents is the maximum number of ancestors of a token: its parent, the parent of its
// parent, and so on.
const maxParents = 8

// resolve returns the credential of a record, limited by its ancestors. The credential ends when an ancestor
// ends, or when the person who signed in may no longer sign in. For example, the token of a browser ends with
// the token that logged the browser in. The error is [askback.ErrUnauthorized] if an ancestor was deleted or
// there are more than maxParents.
func (a *Authority) resolve(ctx context.Context, row store.Record) (credential, error) {
	c, err := decode(row)
	parent := c.parent
	for i := 0; err == nil && parent != ""; i++ {
		up, readErr := a.o.Store.Read(ctx, KindToken, parent)
		if errors.Is(readErr, askback.ErrNotFound) || i == maxParents {
			// the parent was deleted after it expired, or there are too many ancestors
			return c, askback.ErrUnauthorized
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

// Root returns the id of the oldest ancestor of a token, or of the token if it has no parent. If a sign-in
// created one of these tokens, Root instead returns a string that identifies the person and the issuer. For
// "" it returns "". The error is [askback.ErrNotFound] if the token or an ancestor was deleted. It is
// [askback.ErrUnauthorized] if there are too many ancestors. A grant stores the root of its maker. So the
// grant ends when the root is revoked, but not when a browser is logged out.
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

// RootValid reports whether a root that [Authority.Root] returned for a person is still valid at the time
// now. The root "", of a principal without a token, is always valid.
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

// issue returns the record of a new token or log-in link for who, and the token that the record holds. If
// lasts is 0, the token does not expire. Its parent is who.Token. The browser from is zero, unless a browser
// logs in.
func (a *Authority) issue(
	kind string, who askback.Principal, lasts time.Duration, secret string, by signer, from askback.Browser,
) (store.Record, askback.Token, error) {
	now := a.o.Now()
	t := askback.Token{Kind: who.Kind, Name: who.Name, Channel: who.Channel, CreatedAt: now, Browser: from}
	if lasts > 0 {
		t.ExpiresAt = now.Add(lasts)
	}
	var err error
	if t.ID, err = a.o.IDs.New(ids.Token, now); err != nil {
		return store.Record{}, t, err
	}
	row, err := encode(kind, credential{t, who.Token, by}, secret)
	return row, t, err
}

// add commits a new token or log-in link and returns it with its secret.
func (a *Authority) add(
	ctx context.Context, kind string, who askback.Principal, lasts time.Duration, by signer, from askback.Browser,
) (askback.Token, string, error) {
	secret, err := a.NewSecret()
	if err != nil {
		return askback.Token{}, "", err
	}
	row, t, err := a.issue(kind, who, lasts, secret, by, from)
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
