package webhook

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Lengths of secrets in bytes, without their encoding. Standard Webhooks allows 24 to 64 bytes.
const (
	newSecret = 32
	minSecret = 24
	maxSecret = 64
)

const secretPrefix = "whsec_"

// NewSecret returns a new secret, which is "whsec_" and base64 of bytes from random.
func NewSecret(random io.Reader) (string, error) {
	b := make([]byte, newSecret)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(b), nil
}

// CheckSecret returns the problem with a secret, or "". It does not repeat the secret.
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

// sign adds the headers of Standard Webhooks for a message that is sent at the time at. The headers have a
// signature for each secret. A secret "" is the secret of the channel, which also signs if there are no
// secrets.
func (c *Channel) sign(h http.Header, id string, at time.Time, body []byte, secrets []string) error {
	if strings.Contains(id, ".") {
		return fmt.Errorf("the id %q has a dot, which would make its signature ambiguous", id)
	}
	if len(secrets) == 0 {
		secrets = []string{""}
	}
	var all []string
	for _, secret := range secrets {
		secret = cmp.Or(secret, c.secret)
		if secret == "" {
			return errors.New("there is no secret that signs the message: rotate the secret of its endpoint")
		}
		w, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return errors.New("the secret is not valid") // the cause may contain a part of the secret
		}
		signature, err := w.Sign(id, at, body)
		if err != nil {
			return fmt.Errorf("sign a message: %w", err)
		}
		all = append(all, signature)
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(all, " "))
	return nil
}
