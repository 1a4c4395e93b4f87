package webhook

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The lengths in bytes of secrets, without their encoding. Standard Webhooks allows 24 to 64.
const (
	newSecret = 32
	minSecret = 24
	maxSecret = 64
)

const secretPrefix = "whsec_"

// NewSecret returns a new secret: "whsec_" and base64.
func NewSecret(random io.Reader) (string, error) {
	b := make([]byte, newSecret)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(b), nil
}

// CheckSecret returns what is wrong with a secret, or "". It does not repeat the secret.
func CheckSecret(secret string) (problem string) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return `does not begin with "whsec_"`
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return `is not base64 after "whsec_"`
	case len(b) < minSecret || len(b) > maxSecret:
		return fmt.Sprintf("has the wrong length: it must have %d to %d bytes", minSecret, maxSecret)
	}
	return ""
}

// sign adds the headers of Standard Webhooks for a message that is sent at a time.
func (c *Channel) sign(h http.Header, id string, at time.Time, body []byte) error {
	if strings.Contains(id, ".") {
		return fmt.Errorf("the id %q has a dot, which would make its signature ambiguous", id)
	}
	w, err := standardwebhooks.NewWebhook(c.secret)
	if err != nil {
		return fmt.Errorf("the secret: %w", err)
	}
	signature, err := w.Sign(id, at, body)
	if err != nil {
		return fmt.Errorf("sign a message: %w", err)
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}
