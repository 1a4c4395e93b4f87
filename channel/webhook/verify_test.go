package webhook_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"github.com/askback/askback/channel/webhook"
)

const (
	poemSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	decoySecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// signed returns the header of a message that was sent at a time and is signed with a secret.
func signed(t interface{ Fatal(...any) }, secret, id string, at time.Time, body string) http.Header {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := w.Sign(id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	return h
}

// Only a message that the receiver's secret has signed within five minutes is accepted. Every other message
// gets the same error, even a message to a receiver without a secret (T41).
func TestForgedOldAndUnknownMessagesAreRefusedAlike(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	secrets := map[string]string{"poem": poemSecret}
	v := webhook.NewVerifier(func(name string) string { return secrets[name] }, decoySecret,
		func() time.Time { return now })
	const body = `{"topic":"rain"}`
	changed := func(name, value string) http.Header {
		h := signed(t, poemSecret, "msg_1", now, body)
		h.Set(name, value)
		return h
	}
	genuine := signed(t, poemSecret, "msg_1", now, body)
	several := changed("webhook-signature", "v1,AAAA v2,BBBB "+genuine.Get("webhook-signature"))
	for name, c := range map[string]struct {
		to     string
		header http.Header
		body   string
		valid  bool
	}{
		"genuine": {"poem", genuine, body, true},
		"five minutes old": {
			"poem", signed(t, poemSecret, "msg_1", now.Add(-5*time.Minute), body), body, true,
		},
		"one of several signatures": {"poem", several, body, true},
		"older": {
			"poem", signed(t, poemSecret, "msg_1", now.Add(-5*time.Minute-time.Second), body), body, false,
		},
		"of the future": {
			"poem", signed(t, poemSecret, "msg_1", now.Add(6*time.Minute), body), body, false,
		},
		"another body":    {"poem", genuine, body + " ", false},
		"another id":      {"poem", changed("webhook-id", "msg_2"), body, false},
		"another time":    {"poem", changed("webhook-timestamp", "1800000001"), body, false},
		"no id":           {"poem", changed("webhook-id", ""), body, false},
		"no time":         {"poem", changed("webhook-timestamp", ""), body, false},
		"the end of time": {"poem", changed("webhook-timestamp", "-9223372036854775808"), body, false},
		"no signature":    {"poem", changed("webhook-signature", ""), body, false},
		"another version": {
			"poem", changed("webhook-signature", "v0"+genuine.Get("webhook-signature")[2:]), body, false,
		},
		"another secret":             {"poem", signed(t, decoySecret, "msg_1", now, body), body, false},
		"ambiguous id":               {"poem", signed(t, poemSecret, "msg_1.1800000000", now, body), body, false},
		"unknown receiver":           {"prose", genuine, body, false},
		"the empty name, its secret": {"", signed(t, poemSecret, "msg_1", now, body), body, false},
	} {
		err := v.Verify(c.to, c.header, []byte(c.body))
		if (err == nil) != c.valid {
			t.Errorf("%s: got %v", name, err)
		}
		const want = "the message is not signed with the secret of its receiver, or its time is wrong"
		if err != nil && err.Error() != want {
			t.Errorf("%s: got %q, which reveals what is wrong", name, err)
		}
	}
}

func TestHeaderIsCheckedBeforeTheBody(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := webhook.NewVerifier(func(string) string { return poemSecret }, decoySecret, func() time.Time { return now })
	if err := v.CheckHeader(signed(t, decoySecret, "msg_1", now, "")); err != nil {
		t.Errorf("got %v for a header that may be valid", err)
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		h := signed(t, poemSecret, "msg_1", now, "")
		h.Del(name)
		if v.CheckHeader(h) == nil {
			t.Errorf("a header without %s passes", name)
		}
	}
}

// A change of any part of a signed message is detected.
func TestChangedMessageIsRefused(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := webhook.NewVerifier(func(string) string { return poemSecret }, decoySecret, func() time.Time { return now })
	id := rapid.StringMatching(`[a-zA-Z0-9_-]{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		name, body := id.Draw(t, "id"), rapid.String().Draw(t, "body")
		at := now.Add(time.Duration(rapid.IntRange(-300, 300).Draw(t, "seconds")) * time.Second)
		h := signed(t, poemSecret, name, at, body)
		if err := v.Verify("poem", h, []byte(body)); err != nil {
			t.Fatalf("a genuine message is refused: %v", err)
		}
		other := rapid.SampledFrom([]string{name, id.Draw(t, "other id")}).Draw(t, "sent id")
		otherBody := rapid.SampledFrom([]string{body, rapid.String().Draw(t, "other body")}).Draw(t, "sent body")
		otherAt := at.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "later")) * time.Second)
		same := other == name && otherBody == body && otherAt.Equal(at)
		h.Set("webhook-id", other)
		h.Set("webhook-timestamp", strconv.FormatInt(otherAt.Unix(), 10))
		late := now.Sub(otherAt).Abs() > webhook.SignedFor
		if err := v.Verify("poem", h, []byte(otherBody)); (err == nil) != (same && !late) {
			t.Fatalf("the same message: %t; got %v", same, err)
		}
	})
}
