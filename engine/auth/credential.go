package auth

import (
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
	"github.com/askback/askback/store"
)

// A credential is a token or a log-in link, together with the data that its validity depends on.
type credential struct {
	askback.Token
	parent string // id of the token that created it, or ""
	signer signer // the person who signed in, or zero
}

func (c *credential) validAt(now time.Time) bool {
	return c.RevokedAt.IsZero() && (c.ExpiresAt.IsZero() || now.Before(c.ExpiresAt))
}

// fixed is the stored part of a credential that never changes. Times are in milliseconds
// since 1970.
type fixed struct {
	Format  int             `json:"v"`
	Kind    askback.Kind    `json:"kind"`
	Name    string          `json:"name"`
	Via     askback.Channel `json:"via"`
	Created int64           `json:"created"`
	Expires int64           `json:"expires,omitempty"`
	Parent  string          `json:"parent,omitempty"`
	Signer  signer          `json:"signer,omitzero"`
	Browser string          `json:"browser,omitempty"`
	Address string          `json:"address,omitempty"`
}

// moving is the stored part of a credential that changes.
type moving struct {
	Format  int   `json:"v"`
	Revoked int64 `json:"revoked,omitempty"`
	Used    int64 `json:"used,omitempty"` // the time of the last call, as StoreUses wrote it
}

func encode(kind string, c credential, secret string) (store.Record, error) {
	part, err := json.Marshal(fixed{
		1, c.Kind, c.Name, c.Channel, millis(c.CreatedAt), millis(c.ExpiresAt), c.parent, c.signer,
		c.Browser.Name, c.Browser.Address,
	})
	return store.Record{
		Kind: kind, ID: c.ID, Key: hash(secret), Open: true, Owner: c.Name, Agent: c.Name, Status: string(c.Kind),
		Created: c.CreatedAt, Updated: c.CreatedAt, Due: c.ExpiresAt, Fixed: part, State: []byte(`{"v":1}`),
	}, err
}

func decode(row store.Record) (credential, error) {
	var f fixed
	var m moving
	if err := errors.Join(json.Unmarshal(row.Fixed, &f), json.Unmarshal(row.State, &m)); err != nil {
		return credential{}, fmt.Errorf("read token %s: %v", row.ID, err)
	}
	return credential{askback.Token{
		ID: row.ID, Kind: f.Kind, Name: f.Name, Channel: f.Via, CreatedAt: instant(f.Created),
		ExpiresAt: instant(f.Expires), RevokedAt: instant(m.Revoked), LastUsedAt: instant(m.Used),
		Browser: askback.Browser{Name: f.Browser, Address: f.Address},
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

// secretPrefix begins each generated secret, so that leak scanners recognize it (docs/wire.md
// §1).
const secretPrefix = "askback_"

// NewSecret returns a new secret with 256 random bits.
func (a *Authority) NewSecret() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(a.o.Rand, b[:]); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// hash returns the form in which a secret is stored. SHA-256 is enough for secrets with 256 random bits. A
// slow password hash would add no security.
func hash(secret string) string {
	sum := digest(secret)
	return hex.EncodeToString(sum[:])
}

// digest returns the SHA-256 of a secret. It allocates nothing for a secret that Askback
// generated.
func digest(secret string) [sha256.Size]byte {
	var buffer [64]byte
	return sha256.Sum256(append(buffer[:0], secret...))
}

// A cache maps digests of secrets to credentials. A revocation clears the cache and begins a new generation.
// So a credential that was read before the revocation is not stored after it.
type cache struct {
	mu         sync.Mutex
	generation int
	byDigest   map[[sha256.Size]byte]*credential
}

// cacheSize is the maximum number of credentials in a cache. When a cache is full, put
// removes all of them first.
const cacheSize = 4096

// get returns the credential for key, which must not be changed, or nil. It also returns the
// generation to pass to put.
func (c *cache) get(key [sha256.Size]byte) (found *credential, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byDigest[key], c.generation
}

// put stores a credential that was read during generation. It does nothing if clear has
// been called since then.
func (c *cache) put(key [sha256.Size]byte, found *credential, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if c.byDigest == nil || len(c.byDigest) >= cacheSize {
		c.byDigest = map[[sha256.Size]byte]*credential{}
	}
	c.byDigest[key] = found
}

// clear removes all credentials and begins a new generation.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.byDigest)
}
