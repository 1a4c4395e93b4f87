package webpushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// A Browser is a browser with a subscription to the push messages of one server.
type Browser struct {
	Endpoint  string
	serverKey []byte
	private   *ecdh.PrivateKey
	auth      []byte

	mu      sync.Mutex
	gone    bool
	offline bool
	stored  []Message // messages that the service stores while the browser is offline
	shown   []Message
}

// A Message is a message that a browser received.
type Message struct {
	Topic   string
	Urgency string
	TTL     string
	Size    int    // size of the encrypted message
	Text    []byte // decrypted
}

// Subscribe returns a new browser that has subscribed with the public key of a server in base64url.
func (s *Service) Subscribe(t testing.TB, serverKey string) *Browser {
	t.Helper()
	b, err := s.AddBrowser(serverKey)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// AddBrowser is like Subscribe, for programs that are not tests.
func (s *Service) AddBrowser(serverKey string) (*Browser, error) {
	key, err := decode(serverKey)
	if err != nil || len(key) != 65 {
		return nil, fmt.Errorf("the browser rejects the key of the server: %q", serverKey)
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth) // never fails
	id := rand.Text()
	b := &Browser{Endpoint: s.URL + "/push/" + id, serverKey: key, private: private, auth: auth}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[id] = b
	return b, nil
}

// Subscription returns the JSON of the subscription, as PushSubscription.toJSON does.
func (b *Browser) Subscription() string {
	encode := base64.RawURLEncoding.EncodeToString
	out, _ := json.Marshal(map[string]any{ // encoding maps of strings cannot fail
		"endpoint": b.Endpoint, "expirationTime": nil,
		"keys": map[string]string{"p256dh": encode(b.private.PublicKey().Bytes()), "auth": encode(b.auth)},
	})
	return string(out)
}

// Secrets returns the secrets in the subscription.
func (b *Browser) Secrets() []string {
	return []string{b.Endpoint, base64.RawURLEncoding.EncodeToString(b.auth)}
}

// Unsubscribe ends the subscription.
func (b *Browser) Unsubscribe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
}

func (b *Browser) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gone
}

// SetOffline makes the service store messages or, if offline is false, deliver the stored messages.
func (b *Browser) SetOffline(offline bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offline = offline; !offline {
		b.shown, b.stored = append(b.shown, b.stored...), nil
	}
}

// Messages returns the messages that the browser received, in order.
func (b *Browser) Messages() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.shown)
}

// take decrypts a message, and stores or shows the message. A real service could not decrypt the message, and
// a real browser would silently drop a wrong message. Here, a rejection shows the error to the test. A
// message replaces a stored message with the same topic (RFC 8030, section 5.4).
func (b *Browser) take(topic string, h http.Header, body []byte) *rejection {
	text, err := b.decrypt(body)
	if err != nil {
		return &rejection{http.StatusBadRequest, err.Error()}
	}
	m := Message{Topic: topic, Urgency: h.Get("Urgency"), TTL: h.Get("TTL"), Size: len(body), Text: text}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.offline {
		b.shown = append(b.shown, m)
		return nil
	}
	b.stored = append(slices.DeleteFunc(b.stored, func(old Message) bool { return topic != "" && old.Topic == topic }),
		m)
	return nil
}

// decrypt decrypts a message that has one record (RFC 8291, section 4).
func (b *Browser) decrypt(body []byte) ([]byte, error) {
	if len(body) < 86+17 || body[20] != 65 {
		return nil, errors.New("the header of the message is wrong")
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if len(record) > int(size) {
		return nil, errors.New("the message has more than one record")
	}
	key, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, fmt.Errorf("the key of the message: %w", err)
	}
	shared, err := b.private.ECDH(key)
	if err != nil {
		return nil, fmt.Errorf("the key of the message: %w", err)
	}
	info := "WebPush: info\x00" + string(b.private.PublicKey().Bytes()) + string(sender)
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, _ := hkdf.Key(sha256.New, secret, salt, info, n) // fails only for longer keys
		return out
	}
	secret := derive(shared, b.auth, info, 32)
	block, err := aes.NewCipher(derive(secret, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, derive(secret, salt, "Content-Encoding: nonce\x00", 12), record, nil)
	if err != nil {
		return nil, errors.New("the message cannot be decrypted")
	}
	end := len(text) - 1
	for end >= 0 && text[end] == 0 { // padding
		end--
	}
	if end < 0 || text[end] != 2 {
		return nil, errors.New("the record is not the last one")
	}
	return text[:end], nil
}
