package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/askback/askback"
)

// A subscription has the destination of push messages to a browser, and the keys that encrypt the messages.
// The browser makes the subscription; see PushSubscription.toJSON of the Push API.
type subscription struct {
	endpoint string // the URL of the push service of the browser
	key      *ecdh.PublicKey
	auth     []byte
}

// wireSubscription is the JSON of a subscription. Browsers send further members.
type wireSubscription struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		Key  string `json:"p256dh"`
		Auth string `json:"auth"`
	} `json:"keys"`
}

const subscriptionFix = "send what PushSubscription.toJSON returns, as a string"

// parseSubscription returns the subscription whose JSON is address. The error is an [askback.Invalid].
func parseSubscription(address string) (subscription, error) {
	var w wireSubscription
	wrong := func(detail string) (subscription, error) {
		return subscription{}, askback.Invalid{{Pointer: "/address", Detail: detail, Fix: subscriptionFix}}
	}
	if err := json.Unmarshal([]byte(address), &w); err != nil {
		return wrong("this is not the JSON of a subscription")
	}
	if p := askback.CallbackProblem(w.Endpoint); p != "" {
		return wrong("endpoint: " + p)
	}
	if !strings.HasPrefix(askback.Origin(w.Endpoint), "https://") {
		return wrong("endpoint: the address of a push service begins with https://")
	}
	point, err := decodeBase64(w.Keys.Key)
	if err != nil {
		return wrong("keys.p256dh: this is not base64url")
	}
	key, err := parsePoint(point)
	if err != nil {
		return wrong("keys.p256dh: this is not a point of the curve P-256")
	}
	auth, err := decodeBase64(w.Keys.Auth)
	if err != nil || len(auth) != authSize {
		return wrong("keys.auth: this is not base64url of 16 bytes")
	}
	return subscription{w.Endpoint, key, auth}, nil
}

// decodeBase64 decodes base64url, with or without padding. Some browsers add padding.
func decodeBase64(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}

// String returns the JSON of a subscription. Equal subscriptions have the same JSON.
func (s subscription) String() string {
	var w wireSubscription
	w.Endpoint = s.endpoint
	w.Keys.Key = base64.RawURLEncoding.EncodeToString(s.key.Bytes())
	w.Keys.Auth = base64.RawURLEncoding.EncodeToString(s.auth)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(w) // a struct of strings cannot fail
	return strings.TrimSpace(b.String())
}
