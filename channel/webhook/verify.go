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

// SignedFor is the maximum difference between the time of a received message and the present, in either
// direction. So a recorded message cannot be sent again later.
const SignedFor = 5 * time.Minute

// errUnsigned is returned for every message that is not accepted, so that the error reveals nothing to the
// sender.
var errUnsigned = errors.New("the message is not signed with the secret of its receiver, or its time is wrong")

// A Verifier verifies messages from other programs (E1), as Standard Webhooks 1.0 requires.
type Verifier struct {
	secret func(receiver string) string
	decoy  string
	now    func() time.Time
}

// NewVerifier returns a Verifier. The function secret returns the secret of a receiver, or "" if the receiver
// does not exist or has no secret. Messages to such a receiver are verified with decoy. No sender has the
// decoy, so the duration of a reply does not reveal whether the receiver exists.
func NewVerifier(secret func(receiver string) string, decoy string, now func() time.Time) *Verifier {
	return &Verifier{secret, decoy, now}
}

// CheckHeader returns an error unless the header of a message has an id, a time that is at most [SignedFor]
// from now, and a signature. A message without such a header is rejected, whatever its body is.
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

// Verify returns an error unless h passes [Verifier.CheckHeader] and has a signature of the body with the
// secret of the receiver.
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
