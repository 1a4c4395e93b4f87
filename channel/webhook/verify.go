package webhook

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// SignedFor is the largest difference between the time of a received message and the present, in either
// direction. So a recorded message cannot be sent again later.
const SignedFor = 5 * time.Minute

// errUnsigned is the error for every message that is not accepted, so that it reveals nothing
// to its sender.
var errUnsigned = errors.New("the message is not signed with the secret of its receiver, or its time is wrong")

// A Verifier verifies messages that others send (E1), as Standard Webhooks 1.0 requires.
type Verifier struct {
	secret func(receiver string) string
	decoy  string
	now    func() time.Time
}

// NewVerifier returns a verifier of messages. secret returns the secret of a receiver. It returns "" if there
// is no such receiver, or if the receiver has no secret; such messages are verified with decoy. No sender has
// that secret, so the duration of a reply reveals nothing either.
func NewVerifier(secret func(receiver string) string, decoy string, now func() time.Time) *Verifier {
	return &Verifier{secret, decoy, now}
}

// CheckHeader returns an error unless the header of a message has an id, a time that is at most [SignedFor]
// from now, and a signature. Without them the message is rejected, whatever its body is.
func (v *Verifier) CheckHeader(h http.Header) error {
	id, sent := h.Get(standardwebhooks.HeaderWebhookID), h.Get(standardwebhooks.HeaderWebhookTimestamp)
	at, err := strconv.ParseInt(sent, 10, 64)
	switch {
	case id == "" || strings.Contains(id, "."): // a dot would make the signature ambiguous
		return errUnsigned
	case h.Get(standardwebhooks.HeaderWebhookSignature) == "":
		return errUnsigned
	case err != nil || v.now().Sub(time.Unix(at, 0)).Abs() > SignedFor:
		return errUnsigned
	}
	return nil
}

// Verify returns an error unless a header passes [Verifier.CheckHeader] and signs the body with
// the secret of the receiver.
func (v *Verifier) Verify(receiver string, h http.Header, body []byte) error {
	if err := v.CheckHeader(h); err != nil {
		return err
	}
	w, err := standardwebhooks.NewWebhook(cmp.Or(v.secret(receiver), v.decoy))
	if err != nil {
		return errors.New("the secret is not valid") // the cause may contain a part of the secret
	}
	if w.VerifyIgnoringTimestamp(body, h) != nil {
		return errUnsigned
	}
	return nil
}
