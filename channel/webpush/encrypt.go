package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

const (
	// maxBody is the maximum number of bytes that every push service accepts (RFC 8030, section 7.2). Most
	// services accept no more.
	maxBody = 4096
	// overhead is the number of bytes that encryption adds: the header of 86 bytes (RFC 8188, section 2.1),
	// the delimiter and the tag.
	overhead = saltSize + 4 + 1 + keySize + 1 + tagSize
	// maxMessage is the maximum size of a message in bytes.
	maxMessage = maxBody - overhead
	// padding is the unit to which messages are padded. So the length of a message reveals little about the
	// question to the push service.
	padding = 512

	saltSize = 16
	keySize  = 65 // size of an uncompressed point
	tagSize  = 16
	authSize = 16
)

// encrypt returns the body of a push message (RFC 8291). Only the browser with the subscription to can read
// the message. The message has at most maxMessage bytes. The key must be used for this message only, and salt
// must be random.
func encrypt(message []byte, to subscription, key *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	shared, err := key.ECDH(to.key)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	own := key.PublicKey().Bytes()
	info := slices.Concat([]byte("WebPush: info\x00"), to.key.Bytes(), own)
	secret, err := hkdf.Key(sha256.New, shared, to.auth, string(info), sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	contentKey, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	block, err := aes.NewCipher(contentKey)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("encrypt a message: %w", err)
	}
	// The only record is also the last, so its delimiter is 2.
	body := binary.BigEndian.AppendUint32(slices.Clone(salt), maxBody)
	body = append(append(body, keySize), own...)
	return aead.Seal(body, nonce, append(slices.Clone(message), 2), nil), nil
}

// pad returns a message with spaces at its end, which JSON ignores. The size of the result with the overhead
// is a multiple of padding.
func pad(message []byte) []byte {
	size := min((len(message)+overhead+padding-1)/padding*padding-overhead, maxMessage)
	for len(message) < size {
		message = append(message, ' ')
	}
	return message
}

// newMessageKey returns a key and a salt for one message.
func newMessageKey(random io.Reader) (*ecdh.PrivateKey, []byte, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(random, salt); err != nil {
		return nil, nil, fmt.Errorf("encrypt a message: %w", err)
	}
	key, err := ecdh.P256().GenerateKey(random)
	if err != nil {
		return nil, nil, fmt.Errorf("encrypt a message: %w", err)
	}
	return key, salt, nil
}
