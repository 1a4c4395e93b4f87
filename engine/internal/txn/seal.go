package txn

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// A Sealer encrypts the secrets that the engine must be able to read again, such as secrets that sign
// messages. It is not used for the secrets of package auth, which are stored as hashes.
type Sealer struct {
	Key  func() ([]byte, error) // returns the key; if Key is nil, nothing is encrypted
	rand io.Reader

	mu   sync.Mutex
	aead cipher.AEAD // the cipher; nil until it is first needed
	mac  []byte      // the key of fingerprints, which is set together with aead
}

// The prefixes of stored secrets: unencrypted, or encrypted with AES-GCM.
const (
	plainSecret  = "plain:"
	SealedSecret = "sealed:"
)

// Seal returns the stored form of a secret that belongs to the record with an id. A secret
// that was moved to another record cannot be opened.
func (s *Sealer) Seal(secret, id string) (string, error) {
	if s.Key == nil {
		return plainSecret + secret, nil
	}
	aead, err := s.cipher()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(s.rand, nonce); err != nil {
		return "", fmt.Errorf("encrypt a secret: %w", err)
	}
	return SealedSecret + base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(secret), []byte(id))), nil
}

// ErrSealed is the error for a secret that the key does not decrypt.
var ErrSealed = errors.New(
	"the secret of this endpoint cannot be decrypted: the key of the state directory has changed; rotate the secret",
)

// Open returns the secret of a stored form, or "" if stored is "". The error is [ErrSealed] if the key does
// not decrypt the secret.
func (s *Sealer) Open(stored, id string) (string, error) {
	if secret, ok := strings.CutPrefix(stored, plainSecret); ok || stored == "" {
		return secret, nil
	}
	encoded, ok := strings.CutPrefix(stored, SealedSecret)
	sealed, err := base64.RawStdEncoding.DecodeString(encoded)
	if !ok || err != nil || s.Key == nil {
		return "", ErrSealed
	}
	aead, err := s.cipher()
	if err != nil {
		return "", err
	}
	if len(sealed) < aead.NonceSize() {
		return "", ErrSealed
	}
	secret, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(id))
	if err != nil {
		return "", ErrSealed
	}
	return string(secret), nil
}

// cipher returns the cipher with the key, which it reads once.
func (s *Sealer) cipher() (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil {
		return s.aead, nil
	}
	key, err := s.Key()
	if err != nil {
		return nil, fmt.Errorf("the key for secrets: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key for secrets: %w", err)
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("fingerprints"))
	s.mac = h.Sum(nil)
	s.aead, err = cipher.NewGCM(block)
	return s.aead, err
}

// Fingerprint returns a text that identifies a value, such as the address of a contact, without revealing it.
// Without a key the value can be guessed.
func (s *Sealer) Fingerprint(text string) (string, error) {
	if s.Key == nil {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:]), nil
	}
	if _, err := s.cipher(); err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, s.mac)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)), nil
}
