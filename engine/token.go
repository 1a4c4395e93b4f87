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

// Records without a machine: their Due is when they end.
const (
	kindToken = "token"
	kindLogin = "login"
	kindDraft = "draft"
)

// secretPrefix lets leak scanners know a secret of ours (wire.md §1).
const secretPrefix = "askback_"

// tokenFixed is what is stored of a token, or of a log-in that will make one.
type tokenFixed struct {
	Format  int          `json:"v"`
	Kind    askback.Kind `json:"kind"`
	Name    string       `json:"name"`
	Via     askback.Via  `json:"via"`
	Created int64        `json:"created"`
	Expires int64        `json:"expires,omitempty"`
	Parent  string       `json:"parent,omitempty"` // the token it was made with, and ends with
	Signer  signer       `json:"signer,omitzero"`  // it holds as long as this is the person of this name
}

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

// hash is what is kept of a secret. With 256 random bits a plain SHA-256 cannot
// be searched, so nothing slower is needed.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Authenticate returns whose secret this is, or [askback.ErrUnauthorized].
func (e *Engine) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	key := hash(secret)
	now := e.clock()
	known, round, ok := e.keys.get(key)
	if !ok {
		r, err := e.store.ReadKey(ctx, kindToken, key)
		if errors.Is(err, store.ErrNotFound) {
			return askback.Principal{}, askback.ErrUnauthorized
		}
		if err != nil {
			return askback.Principal{}, mine(err)
		}
		if known, err = e.effective(ctx, r); err != nil {
			return askback.Principal{}, err
		}
		e.keys.put(key, known, round)
	}
	if !known.RevokedAt.IsZero() || !known.ExpiresAt.IsZero() && !now.Before(known.ExpiresAt) || !e.stands(known.signer, known.Name) {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	return askback.Principal{Kind: known.Kind, Name: known.Name, Via: known.Via, Token: known.ID}, nil
}

// maxParents bounds the tokens that were made with one another.
const maxParents = 8

// A held token is one that somebody holds, and what it hangs on.
type held struct {
	askback.Token
	parent string // the token it was made with
	signer signer // who signed in, if somebody did
}

// effective returns a token as it holds: one that was made with another, as a
// browser's is, ends when that one does.
func (e *Engine) effective(ctx context.Context, r store.Record) (held, error) {
	t, err := readCredential(r)
	parent := t.parent
	for i := 0; err == nil && parent != ""; i++ {
		up, readErr := e.store.Read(ctx, kindToken, parent)
		if errors.Is(readErr, store.ErrNotFound) || i == maxParents {
			return t, askback.ErrUnauthorized // its parent expired and was forgotten
		}
		if readErr != nil {
			return t, mine(readErr)
		}
		var above held
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

// keys remembers tokens by the hash of their secret. A revocation begins a new
// round: what was read in the round before is not remembered any more.
type keys struct {
	mu    sync.Mutex
	round int
	known map[string]held
}

// maxKeys is how many tokens are remembered; past it, all are forgotten.
const maxKeys = 4096

func (k *keys) get(key string) (t held, round int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok = k.known[key]
	return t, k.round, ok
}

func (k *keys) put(key string, t held, round int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if round != k.round {
		return
	}
	if k.known == nil || len(k.known) >= maxKeys {
		k.known = map[string]held{}
	}
	k.known[key] = t
}

func (k *keys) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.round++
	clear(k.known)
}

func readToken(r store.Record) (askback.Token, error) {
	t, err := readCredential(r)
	return t.Token, err
}

func readCredential(r store.Record) (held, error) {
	var f tokenFixed
	var s tokenState
	if err := errors.Join(json.Unmarshal(r.Fixed, &f), json.Unmarshal(r.State, &s)); err != nil {
		return held{}, fmt.Errorf("read token %s: %v", r.ID, err)
	}
	return held{askback.Token{
		ID: r.ID, Kind: f.Kind, Name: f.Name, Via: f.Via, CreatedAt: instant(f.Created),
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

// tokenRecord makes a token and the secret that goes with it.
func (e *Engine) tokenRecord(who askback.Principal, lasts time.Duration) (store.Record, askback.Token, string, error) {
	secret, err := e.newSecret()
	if err != nil {
		return store.Record{}, askback.Token{}, "", err
	}
	record, t, err := e.tokenOf(who, lasts, secret, signer{})
	return record, t, secret, err
}

// tokenOf makes a token for a secret; one that lasts no time lasts for good.
func (e *Engine) tokenOf(who askback.Principal, lasts time.Duration, secret string, by signer) (store.Record, askback.Token, error) {
	now := e.clock()
	t := askback.Token{Kind: who.Kind, Name: who.Name, Via: who.Via, CreatedAt: now}
	if lasts > 0 {
		t.ExpiresAt = now.Add(lasts)
	}
	var err error
	if t.ID, err = ids.New(ids.Token, now, e.rand); err != nil {
		return store.Record{}, t, err
	}
	record, err := credential(kindToken, held{t, who.Token, by}, secret)
	return record, t, err
}

// NewSecret returns a secret for [Engine.Adopt].
func (e *Engine) NewSecret() (string, error) { return e.newSecret() }

// Adopt makes a token of a secret that exists already, such as the one in a
// user's state directory, for a database that does not know it. A secret that
// is known is left as it is, revoked ones too.
func (e *Engine) Adopt(ctx context.Context, who askback.Principal, secret string) error {
	if err := (askback.TokenRequest{Kind: who.Kind, Name: who.Name}).Check(); err != nil {
		return err
	}
	return again(ctx, func(ctx context.Context) error {
		_, err := e.store.ReadKey(ctx, kindToken, hash(secret))
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		record, _, err := e.tokenOf(who, 0, secret, signer{})
		if err != nil {
			return err
		}
		return e.commit(ctx, store.Change{Put: []store.Record{record}})
	})
}

// credential is the record of a token or a log-in.
func credential(kind string, t held, secret string) (store.Record, error) {
	fixed, err := json.Marshal(tokenFixed{1, t.Kind, t.Name, t.Via, millis(t.CreatedAt), millis(t.ExpiresAt), t.parent, t.signer})
	return store.Record{
		Kind: kind, ID: t.ID, Key: hash(secret), Open: true, Owner: t.Name, Agent: t.Name, Status: string(t.Kind),
		Created: t.CreatedAt, Updated: t.CreatedAt, Due: t.ExpiresAt, Fixed: fixed, State: []byte(`{"v":1}`),
	}, err
}

// CreateToken implements [askback.Keyring].
func (s *seat) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	if err := s.mayEver(askback.ActTokens); err != nil {
		return askback.Token{}, "", err
	}
	if err := r.Check(); err != nil {
		return askback.Token{}, "", err
	}
	record, t, secret, err := s.engine.tokenRecord(askback.Principal{Kind: r.Kind, Name: r.Name, Via: askback.ViaAPI}, r.ExpiresIn)
	if err != nil {
		return askback.Token{}, "", err
	}
	if err := s.engine.commit(ctx, store.Change{Put: []store.Record{record}}); err != nil {
		return askback.Token{}, "", fmt.Errorf("create a token: %w", mine(err))
	}
	s.engine.due.set(record.Due)
	return t, secret, nil
}

// mayEver is for actions that are about no ask.
func (s *seat) mayEver(action askback.Action) error { return s.engine.May(s.who, action) }

// Tokens implements [askback.Keyring].
func (s *seat) Tokens(ctx context.Context) ([]askback.Token, error) {
	if err := s.mayEver(askback.ActTokenList); err != nil {
		return nil, err
	}
	var tokens []askback.Token
	q := store.Query{Kind: kindToken, Limit: store.MaxList}
	for {
		records, err := s.engine.store.List(ctx, q)
		if err != nil {
			return nil, mine(err)
		}
		for _, r := range records {
			q.After = r.ID
			t, err := readToken(r)
			if err != nil {
				s.engine.leftOut(r, err)
				continue
			}
			tokens = append(tokens, t)
		}
		if len(records) < q.Limit {
			return tokens, nil
		}
	}
}

// RevokeToken implements [askback.Keyring].
func (s *seat) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	if err := s.mayEver(askback.ActTokens); err != nil {
		return askback.Token{}, err
	}
	t, err := s.engine.revoke(ctx, id)
	if err != nil {
		return askback.Token{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return t, nil
}

// revoke ends a token. Its key stays, so that nobody adopts the secret again.
func (e *Engine) revoke(ctx context.Context, id string) (t askback.Token, err error) {
	leave, err := e.turns.enter(ctx, id)
	if err != nil {
		return t, err
	}
	defer leave()
	err = again(ctx, func(ctx context.Context) (err error) {
		t, err = e.tryRevoke(ctx, id)
		return err
	})
	return t, err
}

func (e *Engine) tryRevoke(ctx context.Context, id string) (askback.Token, error) {
	r, err := e.store.Read(ctx, kindToken, id)
	if err != nil {
		return askback.Token{}, err
	}
	t, err := readToken(r)
	if err != nil || !t.RevokedAt.IsZero() {
		return t, err
	}
	t.RevokedAt = e.after(r)
	r.Open, r.Status, r.Updated, r.Fixed = false, "revoked", t.RevokedAt, nil
	if r.State, err = json.Marshal(tokenState{1, millis(t.RevokedAt)}); err != nil {
		return t, err
	}
	err = e.commit(ctx, store.Change{Put: []store.Record{r}})
	if err == nil || errors.Is(err, store.ErrUnknown) {
		e.keys.forget()
	}
	return t, err
}

// Logout ends the token that has this secret, whoever shows it: that is how a
// browser logs out. A secret that is nobody's ends nothing.
func (e *Engine) Logout(ctx context.Context, secret string) error {
	r, err := e.store.ReadKey(ctx, kindToken, hash(secret))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err = mine(err); err == nil {
		_, err = e.revoke(ctx, r.ID)
	}
	if err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// LoginSecret implements [askback.Keyring].
func (s *seat) LoginSecret(ctx context.Context) (string, error) {
	if err := s.mayEver(askback.ActLogin); err != nil {
		return "", err
	}
	e := s.engine
	now := e.clock()
	secret, err := e.newSecret()
	if err != nil {
		return "", err
	}
	t := askback.Token{Kind: s.who.Kind, Name: s.who.Name, Via: askback.ViaWeb, CreatedAt: now, ExpiresAt: now.Add(askback.LoginTime)}
	if t.ID, err = ids.New(ids.Token, now, e.rand); err != nil {
		return "", err
	}
	record, err := credential(kindLogin, held{Token: t, parent: s.who.Token}, secret)
	if err != nil {
		return "", err
	}
	if err := e.commit(ctx, store.Change{Put: []store.Record{record}}); err != nil {
		return "", fmt.Errorf("make a log-in link: %w", mine(err))
	}
	e.due.set(record.Due)
	return secret, nil
}

// Login spends the secret of a log-in link and returns that of a browser, which
// is good for [askback.BrowserTime]. Spent, expired or never made:
// [askback.ErrUnauthorized].
func (e *Engine) Login(ctx context.Context, secret string) (string, error) {
	link, err := e.store.ReadKey(ctx, kindLogin, hash(secret))
	if errors.Is(err, store.ErrNotFound) {
		return "", askback.ErrUnauthorized
	}
	if err != nil {
		return "", mine(err)
	}
	who, err := readCredential(link)
	if err != nil {
		return "", err
	}
	holds, err := e.effective(ctx, link)
	if err != nil {
		return "", err
	}
	if !holds.RevokedAt.IsZero() || !e.clock().Before(holds.ExpiresAt) {
		return "", askback.ErrUnauthorized
	}
	record, _, browser, err := e.tokenRecord(askback.Principal{Kind: who.Kind, Name: who.Name, Via: askback.ViaWeb, Token: who.parent}, askback.BrowserTime)
	if err != nil {
		return "", err
	}
	err = e.commit(ctx, store.Change{
		Put:    []store.Record{record},
		Delete: []store.Ref{{Kind: link.Kind, ID: link.ID, Version: link.Version}},
	})
	if errors.Is(err, store.ErrConflict) {
		return "", askback.ErrUnauthorized
	}
	if err != nil {
		return "", fmt.Errorf("log in: %w", mine(err))
	}
	e.due.set(record.Due)
	return browser, nil
}
