package webpush

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A Key identifies this server to push services (VAPID, RFC 8292). The subscription of a browser is bound to
// the key.
type Key struct {
	private *ecdsa.PrivateKey
	public  []byte // uncompressed point
}

// minSecret is the minimum size in bytes of the secret for a key.
const minSecret = 16

// NewKey returns the key that is derived from a secret of the server. The same secret gives the same key, so
// subscriptions remain valid after a restart. A secret that is too short is an error.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the secret for the key of push messages has %d bytes, but needs at least %d",
			len(secret), minSecret)
	}
	for i := 0; ; i++ {
		raw, err := hkdf.Key(sha256.New, secret, nil, "askback web push "+strconv.Itoa(i), 32)
		if err != nil {
			return nil, fmt.Errorf("the key of push messages: %w", err)
		}
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
		if err != nil {
			continue // one of 2³² values is not a valid key
		}
		public, err := private.PublicKey.ECDH()
		if err != nil {
			return nil, fmt.Errorf("the key of push messages: %w", err)
		}
		return &Key{private, public.Bytes()}, nil
	}
}

// Public returns the public key in base64url, as browsers expect it for applicationServerKey of the Push API.
func (k *Key) Public() string { return base64.RawURLEncoding.EncodeToString(k.public) }

// tokenTime is how long the token of a request is valid. A push service rejects more than 24 hours, and the
// clocks may differ.
const tokenTime = 12 * time.Hour

// authorization returns the header that identifies the sender to the push service at origin (RFC 8292,
// section 3). The subject is the contact of the operator of this server, or "".
func (k *Key) authorization(origin, subject string, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub,omitempty"`
	}{origin, now.Add(tokenTime).Unix(), subject})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign for the push service: %w", err)
	}
	var signature [64]byte // JSON Web Algorithms requires this form (RFC 7518, section 3.4), not ASN.1
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + encode(signature[:]) + ", k=" + k.Public(), nil
}

// parsePoint returns the public key whose uncompressed point is b.
func parsePoint(b []byte) (*ecdh.PublicKey, error) {
	if len(b) != keySize {
		return nil, fmt.Errorf("the key has %d bytes, not %d", len(b), keySize)
	}
	return ecdh.P256().NewPublicKey(b)
}
