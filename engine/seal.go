package engine

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/askback/askback/store"
)

// A sealer encrypts the secrets that the engine must be able to read again: those that sign
// messages. Others are stored as hashes, by package auth.
type sealer struct {
	key  func() ([]byte, error) // see [Options.SecretKey]; nil: nothing is encrypted
	rand io.Reader

	mu   sync.Mutex
	aead cipher.AEAD // nil until it is needed
	mac  []byte      // the key of fingerprints, with aead
}

// The forms of stored secrets: as they are, or encrypted with AES-GCM.
const (
	plainSecret  = "plain:"
	sealedSecret = "sealed:"
)

// seal returns the stored form of a secret that belongs to the record with an id. A secret
// that was moved to another record cannot be opened.
func (s *sealer) seal(secret, id string) (string, error) {
	if s.key == nil {
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
	return sealedSecret + base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(secret), []byte(id))), nil
}

var errSealed = errors.New("the secret of this endpoint cannot be decrypted: the key of the state directory is another one; rotate the secret")

// open returns the secret of a stored form. It returns "" for "".
func (s *sealer) open(stored, id string) (string, error) {
	if secret, ok := strings.CutPrefix(stored, plainSecret); ok || stored == "" {
		return secret, nil
	}
	encoded, ok := strings.CutPrefix(stored, sealedSecret)
	sealed, err := base64.RawStdEncoding.DecodeString(encoded)
	if !ok || err != nil || s.key == nil {
		return "", errSealed
	}
	aead, err := s.cipher()
	if err != nil {
		return "", err
	}
	if len(sealed) < aead.NonceSize() {
		return "", errSealed
	}
	secret, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(id))
	if err != nil {
		return "", errSealed
	}
	return string(secret), nil
}

// cipher returns the cipher with the key, which it reads once.
func (s *sealer) cipher() (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil {
		return s.aead, nil
	}
	key, err := s.key()
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

// fingerprint returns a text by which a record can be found and that does not reveal what it
// was made from. Without a key it can be guessed.
func (s *sealer) fingerprint(text string) (string, error) {
	if s.key == nil {
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

// OpenSecrets returns how many encrypted secrets an endpoint or a contact has in the store, and
// an error if the key does not open them.
func OpenSecrets(key []byte, r store.Record) (n int, err error) {
	var stored []string
	switch r.Kind {
	case kindEndpoint:
		s, err := decodeEndpoint(r)
		if err != nil {
			return 0, err
		}
		stored = []string{s.Secret, s.OldSecret}
	case kindContact:
		var s contactState
		if err := json.Unmarshal(r.State, &s); err != nil {
			return 0, err
		}
		stored = []string{s.Address}
	}
	opener := sealer{key: func() ([]byte, error) { return key, nil }}
	for _, text := range stored {
		if !strings.HasPrefix(text, sealedSecret) {
			continue
		}
		n++
		if _, openErr := opener.open(text, r.ID); openErr != nil {
			err = openErr
		}
	}
	return n, err
}
