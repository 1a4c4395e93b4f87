package webpushtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The example of RFC 8292, section 2.4, is accepted at the time of the example.
func TestExampleOfRFC8292IsAccepted(t *testing.T) {
	const header = "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0." +
		"i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, " +
		"k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
	key, err := decode(header[strings.Index(header, "k=")+2:])
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1453523768, 0).Add(-time.Hour)
	if no := checkSender(header, "https://push.example.net", key, at); no != nil {
		t.Errorf("got %+v, want it accepted", no)
	}
	if no := checkSender(strings.Replace(header, "i3CY", "i3CZ", 1), "https://push.example.net", key, at); no == nil ||
		no.status != 401 {
		t.Errorf("another signature: got %+v", no)
	}
}

// A token that breaks a rule is rejected.
func TestWrongSendersAreRejected(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	encode := base64.RawURLEncoding.EncodeToString
	sign := func(kind, content string) string {
		signed := encode([]byte(kind)) + "." + encode([]byte(content))
		sum := sha256.Sum256([]byte(signed))
		r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		var b [64]byte
		r.FillBytes(b[:32])
		s.FillBytes(b[32:])
		return "vapid t=" + signed + "." + encode(b[:]) + ", k=" + encode(key)
	}
	content := func(aud string, exp time.Time, sub string) string {
		return fmt.Sprintf(`{"aud": %q, "exp": %d, "sub": %q}`, aud, exp.Unix(), sub)
	}
	const kind, origin, sub = `{"typ": "JWT", "alg": "ES256"}`, "https://push.example.net", "mailto:ops@example.com"
	soon := now.Add(time.Hour)
	for name, tt := range map[string]struct {
		header string
		status int
	}{
		"right":        {sign(kind, content(origin, soon, sub)), 0},
		"scheme":       {"WebPush " + sign(kind, content(origin, soon, sub)), 401},
		"algorithm":    {sign(`{"typ": "JWT", "alg": "none"}`, content(origin, soon, sub)), 401},
		"audience":     {sign(kind, content("https://other.example.net", soon, sub)), 403},
		"expired":      {sign(kind, content(origin, now, sub)), 403},
		"too long":     {sign(kind, content(origin, now.Add(25*time.Hour), sub)), 403},
		"no subject":   {sign(kind, content(origin, soon, "")), 403},
		"no signature": {"vapid t=a.b, k=" + encode(key), 401},
		"no key":       {strings.Split(sign(kind, content(origin, soon, sub)), ", k=")[0], 401},
		"missing":      {"", 401},
	} {
		got := 0
		if no := checkSender(tt.header, origin, key, now); no != nil {
			got = no.status
		}
		if got != tt.status {
			t.Errorf("%s: got %d, want %d", name, got, tt.status)
		}
	}
	if no := checkSender(sign(kind, content(origin, soon, sub)), origin, key[1:], now); no == nil || no.status != 403 {
		t.Errorf("the key of another server: got %+v, want 403", no)
	}
}
