package engine

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// Kinds of records that have no state machine. Each is deleted at its Due time.
const (
	kindToken = "token"
	kindLogin = "login"
	kindDraft = "draft"
)

// secretPrefix lets leak scanners recognize the secrets of Askback
// (docs/wire.md §1).
const secretPrefix = "askback_"

// tokenFixed is the stored part of a token or log-in link that never changes.
type tokenFixed struct {
	Format  int             `json:"v"`
	Kind    askback.Kind    `json:"kind"`
	Name    string          `json:"name"`
	Via     askback.Channel `json:"via"`
	Created int64           `json:"created"`
	Expires int64           `json:"expires,omitempty"`
	Parent  string          `json:"parent,omitempty"` // id of the token that created it; it is valid only while that one is
	Signer  signer          `json:"signer,omitzero"`  // set after sign-in; it is valid only while this is the person Name
}

// tokenState is the stored part of a token that changes.
type tokenState struct {
	Format  int   `json:"v"`
	Revoked int64 `json:"revoked,omitempty"`
}

// newSecret returns a secret of 256 bits.
func (e *Engine) newSecret() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(e.rand, b[:]); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// hash returns the form in which a secret is stored. Secrets have 256 random
// bits, so a plain SHA-256 is enough; a slow password hash adds nothing.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Authenticate returns the principal that a secret belongs to. It returns
// [askback.ErrUnauthorized] if the secret is unknown, revoked or expired.
func (e *Engine) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	key := hash(secret)
	now := e.clock()
	token, generation, ok := e.credentials.get(key)
	if !ok {
		r, err := e.store.ReadKey(ctx, kindToken, key)
		if errors.Is(err, store.ErrNotFound) {
			return askback.Principal{}, askback.ErrUnauthorized
		}
		if err != nil {
			return askback.Principal{}, fromStore(err)
		}
		if token, err = e.resolveCredential(ctx, r); err != nil {
			return askback.Principal{}, err
		}
		e.credentials.put(key, token, generation)
	}
	if !token.RevokedAt.IsZero() || !token.ExpiresAt.IsZero() && !now.Before(token.ExpiresAt) || !e.signerValid(token.signer, token.Name) {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	return askback.Principal{Kind: token.Kind, Name: token.Name, Channel: token.Channel, Token: token.ID}, nil
}

// maxParents bounds the chain of tokens in which each created the next.
const maxParents = 8

// A credential is a token together with what its validity depends on.
type credential struct {
	askback.Token
	parent string // id of the token that created it, or ""
	signer signer // the person who signed in, or zero
}

// resolveCredential returns the credential of a record, limited by its
// ancestors: it is revoked or expires no later than the tokens above it. The
// token of a browser, for example, ends with the token that logged it in.
func (e *Engine) resolveCredential(ctx context.Context, r store.Record) (credential, error) {
	t, err := readCredential(r)
	parent := t.parent
	for i := 0; err == nil && parent != ""; i++ {
		up, readErr := e.store.Read(ctx, kindToken, parent)
		if errors.Is(readErr, store.ErrNotFound) || i == maxParents {
			return t, askback.ErrUnauthorized // the parent expired and was deleted
		}
		if readErr != nil {
			return t, fromStore(readErr)
		}
		var above credential
		if above, err = readCredential(up); err != nil {
			break
		}
		parent = above.parent
		if above.signer != (signer{}) {
			t.signer = above.signer
		}
		if !above.RevokedAt.IsZero() {
			t.RevokedAt = above.RevokedAt
		}
		if !above.ExpiresAt.IsZero() && (t.ExpiresAt.IsZero() || above.ExpiresAt.Before(t.ExpiresAt)) {
			t.ExpiresAt = above.ExpiresAt
		}
	}
	return t, err
}

// credentialCache maps hashes of secrets to credentials. A revocation clears it
// and begins a new generation, so that a credential that was read before the
// revocation is not stored after it.
type credentialCache struct {
	mu         sync.Mutex
	generation int
	byHash     map[string]credential
}

// maxCredentials is the capacity of a [credentialCache]. A full cache is cleared.
const maxCredentials = 4096

// get returns the credential for key, and the generation to pass to put.
func (c *credentialCache) get(key string) (t credential, generation int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok = c.byHash[key]
	return t, c.generation, ok
}

// put stores a credential that was read during generation. It does nothing if
// the cache was cleared since.
func (c *credentialCache) put(key string, t credential, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if c.byHash == nil || len(c.byHash) >= maxCredentials {
		c.byHash = map[string]credential{}
	}
	c.byHash[key] = t
}

// clear removes all credentials and begins a new generation.
func (c *credentialCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.byHash)
}

func readToken(r store.Record) (askback.Token, error) {
	t, err := readCredential(r)
	return t.Token, err
}

func readCredential(r store.Record) (credential, error) {
	var f tokenFixed
	var s tokenState
	if err := errors.Join(json.Unmarshal(r.Fixed, &f), json.Unmarshal(r.State, &s)); err != nil {
		return credential{}, fmt.Errorf("read token %s: %v", r.ID, err)
	}
	return credential{askback.Token{
		ID: r.ID, Kind: f.Kind, Name: f.Name, Channel: f.Via, CreatedAt: instant(f.Created),
		ExpiresAt: instant(f.Expires), RevokedAt: instant(s.Revoked),
	}, f.Parent, f.Signer}, nil
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// newToken returns the record of a new token, the token, and its secret.
func (e *Engine) newToken(who askback.Principal, lasts time.Duration) (store.Record, askback.Token, string, error) {
	secret, err := e.newSecret()
	if err != nil {
		return store.Record{}, askback.Token{}, "", err
	}
	record, t, err := e.newTokenRecord(who, lasts, secret, signer{})
	return record, t, secret, err
}

// newTokenRecord returns the record of a new token with the given secret. If
// lasts is 0, the token does not expire.
func (e *Engine) newTokenRecord(who askback.Principal, lasts time.Duration, secret string, by signer) (store.Record, askback.Token, error) {
	now := e.clock()
	t := askback.Token{Kind: who.Kind, Name: who.Name, Channel: who.Channel, CreatedAt: now}
	if lasts > 0 {
		t.ExpiresAt = now.Add(lasts)
	}
	var err error
	if t.ID, err = ids.New(ids.Token, now, e.rand); err != nil {
		return store.Record{}, t, err
	}
	record, err := credentialRecord(kindToken, credential{t, who.Token, by}, secret)
	return record, t, err
}

// NewSecret returns a secret for [Engine.Adopt].
func (e *Engine) NewSecret() (string, error) { return e.newSecret() }

// Adopt creates a token for a secret that exists already, such as the one in a
// user's state directory. It does nothing if the store has a token with this
// secret, even a revoked one.
func (e *Engine) Adopt(ctx context.Context, who askback.Principal, secret string) error {
	if err := (askback.TokenRequest{Kind: who.Kind, Name: who.Name}).Check(); err != nil {
		return err
	}
	return e.update(ctx, func(t *tx) error {
		_, err := e.store.ReadKey(t.ctx, kindToken, hash(secret))
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		record, _, err := e.newTokenRecord(who, 0, secret, signer{})
		if err == nil {
			t.put(record)
		}
		return err
	})
}

// credentialRecord returns the record of a token or of a log-in link.
func credentialRecord(kind string, t credential, secret string) (store.Record, error) {
	fixed, err := json.Marshal(tokenFixed{1, t.Kind, t.Name, t.Channel, millis(t.CreatedAt), millis(t.ExpiresAt), t.parent, t.signer})
	return store.Record{
		Kind: kind, ID: t.ID, Key: hash(secret), Open: true, Owner: t.Name, Agent: t.Name, Status: string(t.Kind),
		Created: t.CreatedAt, Updated: t.CreatedAt, Due: t.ExpiresAt, Fixed: fixed, State: []byte(`{"v":1}`),
	}, err
}

// CreateToken implements [askback.Tokens].
func (s *client) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	if err := s.authorize(askback.ActTokens); err != nil {
		return askback.Token{}, "", err
	}
	if err := r.Check(); err != nil {
		return askback.Token{}, "", err
	}
	record, t, secret, err := s.engine.newToken(askback.Principal{Kind: r.Kind, Name: r.Name, Channel: askback.ChannelAPI}, r.ExpiresIn)
	if err != nil {
		return askback.Token{}, "", err
	}
	if err := s.engine.put(ctx, record); err != nil {
		return askback.Token{}, "", fmt.Errorf("create a token: %w", err)
	}
	return t, secret, nil
}

// authorize returns [askback.ErrForbidden] unless the kind of this principal
// may do an action. It is enough for actions that concern no single ask.
func (s *client) authorize(action askback.Action) error { return s.engine.May(s.who, action) }

// Tokens implements [askback.Tokens].
func (s *client) Tokens(ctx context.Context) ([]askback.Token, error) {
	if err := s.authorize(askback.ActTokenList); err != nil {
		return nil, err
	}
	var tokens []askback.Token
	q := store.Query{Kind: kindToken, Limit: store.MaxList}
	for {
		records, err := s.engine.store.List(ctx, q)
		if err != nil {
			return nil, fromStore(err)
		}
		for _, r := range records {
			q.After = r.ID
			t, err := readToken(r)
			if err != nil {
				s.engine.logUnreadable(r, err)
				continue
			}
			tokens = append(tokens, t)
		}
		if len(records) < q.Limit {
			return tokens, nil
		}
	}
}

// RevokeToken implements [askback.Tokens].
func (s *client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	if err := s.authorize(askback.ActTokens); err != nil {
		return askback.Token{}, err
	}
	t, err := s.engine.revokeToken(ctx, id)
	if err != nil {
		return askback.Token{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return t, nil
}

// revokeToken revokes a token. The record keeps its key, so that the secret
// cannot be adopted again.
func (e *Engine) revokeToken(ctx context.Context, id string) (token askback.Token, err error) {
	err = e.update(ctx, func(t *tx) error {
		if err := t.lock(id); err != nil {
			return err
		}
		row, err := e.store.Read(t.ctx, kindToken, id)
		if err != nil {
			return err
		}
		if token, err = readToken(row); err != nil || !token.RevokedAt.IsZero() {
			return err
		}
		token.RevokedAt = later(t.now, row.Updated)
		row.Open, row.Status, row.Updated, row.Fixed = false, "revoked", token.RevokedAt, nil
		row.State, err = json.Marshal(tokenState{1, millis(token.RevokedAt)})
		t.put(row)
		return err
	})
	if err == nil || errors.Is(err, askback.ErrUnknown) {
		e.credentials.clear()
	}
	return token, err
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Logout revokes the token with this secret. Possession of the secret is the
// only permission needed: a browser logs out this way. An unknown secret is not
// an error.
func (e *Engine) Logout(ctx context.Context, secret string) error {
	r, err := e.store.ReadKey(ctx, kindToken, hash(secret))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err = fromStore(err); err == nil {
		_, err = e.revokeToken(ctx, r.ID)
	}
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// LoginSecret implements [askback.Tokens].
func (s *client) LoginSecret(ctx context.Context) (string, error) {
	if err := s.authorize(askback.ActLogin); err != nil {
		return "", err
	}
	e := s.engine
	now := e.clock()
	secret, err := e.newSecret()
	if err != nil {
		return "", err
	}
	t := askback.Token{Kind: s.who.Kind, Name: s.who.Name, Channel: askback.ChannelWeb, CreatedAt: now, ExpiresAt: now.Add(askback.LoginTime)}
	if t.ID, err = ids.New(ids.Token, now, e.rand); err != nil {
		return "", err
	}
	record, err := credentialRecord(kindLogin, credential{Token: t, parent: s.who.Token}, secret)
	if err != nil {
		return "", err
	}
	if err := e.put(ctx, record); err != nil {
		return "", fmt.Errorf("make a log-in link: %w", err)
	}
	return secret, nil
}

// Login exchanges the secret of a log-in link for the secret of a new browser
// token, which is valid for [askback.BrowserTime]. A link works once. It returns
// [askback.ErrUnauthorized] if the link is unknown, used or expired.
func (e *Engine) Login(ctx context.Context, secret string) (browser string, err error) {
	err = e.update(ctx, func(t *tx) error {
		link, err := e.store.ReadKey(t.ctx, kindLogin, hash(secret))
		if errors.Is(err, store.ErrNotFound) {
			return askback.ErrUnauthorized
		}
		if err != nil {
			return err
		}
		who, err := e.resolveCredential(t.ctx, link)
		if err != nil {
			return err
		}
		if !who.RevokedAt.IsZero() || !t.now.Before(who.ExpiresAt) {
			return askback.ErrUnauthorized
		}
		var record store.Record
		record, _, browser, err = e.newToken(askback.Principal{Kind: who.Kind, Name: who.Name, Channel: askback.ChannelWeb, Token: who.parent}, askback.BrowserTime)
		t.put(record)
		t.delete(link)
		return err
	})
	if err != nil && !errors.Is(err, askback.ErrUnauthorized) {
		err = fmt.Errorf("log in: %w", err)
	}
	if err != nil {
		return "", err
	}
	return browser, nil
}
