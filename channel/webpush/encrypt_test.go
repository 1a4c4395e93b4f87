package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"strings"
	"testing"
)

func decoded(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The example of RFC 8291, appendix A, gives the same bytes.
func TestEncryptionMatchesRFC8291(t *testing.T) {
	const (
		message  = "V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24"
		private  = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
		receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
		auth     = "BTBZMqHH6r4Tts7J_aSIgg"
		salt     = "DGv6ra1nlYgDCS1FRnbzlw"
		want     = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	)
	key, err := ecdh.P256().NewPrivateKey(decoded(t, private))
	if err != nil {
		t.Fatal(err)
	}
	to, err := parseSubscription(`{"endpoint": "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", "expirationTime": null, "keys": {"p256dh": "` + receiver + `", "auth": "` + auth + `=="}}`)
	if err != nil {
		t.Fatal(err)
	}
	body, err := encrypt(decoded(t, message), to, key, decoded(t, salt))
	if got := base64.RawURLEncoding.EncodeToString(body); err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// Each message has one of a few sizes, and push services accept the largest size.
func TestMessagesArePadded(t *testing.T) {
	sizes := map[int]bool{}
	for n := range maxMessage + 1 {
		m := pad(bytes.Repeat([]byte("x"), n))
		size := len(m) + overhead
		if sizes[size] = true; size > maxBody || strings.TrimRight(string(m), " ") != strings.Repeat("x", n) {
			t.Fatalf("%d bytes: got %d", n, size)
		}
	}
	if len(sizes) != maxBody/padding {
		t.Errorf("got %d sizes, want %d", len(sizes), maxBody/padding)
	}
}
