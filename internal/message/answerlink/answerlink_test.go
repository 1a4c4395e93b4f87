package answerlink_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/answerlink"
)

func key(b byte) func() ([]byte, error) {
	return func() ([]byte, error) { return bytes.Repeat([]byte{b}, 32), nil }
}

var link = answerlink.Link{
	AskID: "ask_01k6m3v7q8r9s0t1v2w3x4y5z6", Person: "ana", Channel: askback.ChannelPush, Choice: 2,
}

func sign(t *testing.T, s *answerlink.Signer, l answerlink.Link) string {
	t.Helper()
	token, err := s.Sign(l)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestVerifyReturnsTheSignedLink(t *testing.T) {
	s := answerlink.New(key(1), answerlink.Page)
	for _, l := range []answerlink.Link{
		link,
		{AskID: "ask_1", Person: "אנה · 🙂\x00\n/", Channel: askback.ChannelEmail},
		{AskID: "a", Person: strings.Repeat("p", 1000), Channel: askback.ChannelSlack, Choice: 50},
	} {
		if got, err := s.Verify(sign(t, s, l)); err != nil || got != l {
			t.Errorf("got %+v, %v, want %+v", got, err, l)
		}
	}
}

// The boundaries of fields matter: the links "ab"+"c" and "a"+"bc" have different tokens.
func TestTokensOfDifferentLinksDiffer(t *testing.T) {
	s := answerlink.New(key(1), answerlink.Page)
	seen := map[string]bool{}
	for _, l := range []answerlink.Link{
		{AskID: "ab", Person: "c", Channel: "x"},
		{AskID: "a", Person: "bc", Channel: "x"},
		{AskID: "a", Person: "b", Channel: "cx"},
		{AskID: "a", Person: "b", Channel: "cx", Choice: 1},
		{AskID: "a", Person: "b", Channel: "cx", Choice: 2},
	} {
		seen[sign(t, s, l)] = true
	}
	if len(seen) != 5 {
		t.Errorf("got %d tokens, want 5", len(seen))
	}
}

// A token is invalid if it was changed, truncated or encoded differently. It is also invalid for another key
// or purpose.
func TestForgedTokensAreInvalid(t *testing.T) {
	s := answerlink.New(key(1), answerlink.Page)
	token := sign(t, s, link)
	forged := []string{
		"", "a", ".", token[:len(token)-1], token + "A", token + "=", token + "\n", "\n" + token,
		token[:10] + "\r\n" + token[10:], " " + token, strings.Repeat("A", 100), strings.Repeat("A", 1<<20),
		sign(t, answerlink.New(key(2), answerlink.Page), link), sign(t, answerlink.New(key(1), answerlink.Reply), link),
		base64.StdEncoding.EncodeToString([]byte(token)),
	}
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range token {
		for _, c := range []byte(characters) {
			if c != token[i] {
				forged = append(forged, token[:i]+string(c)+token[i+1:])
			}
		}
	}
	for _, f := range forged {
		if got, err := s.Verify(f); !errors.Is(err, answerlink.ErrInvalid) {
			t.Fatalf("%.200q: got %+v, %v, want ErrInvalid", f, got, err)
		}
	}
}

func TestIncompleteLinksAreNotSigned(t *testing.T) {
	s := answerlink.New(key(1), answerlink.Page)
	for _, l := range []answerlink.Link{
		{},
		{AskID: "a", Person: "b"},
		{AskID: "a", Channel: "c"},
		{Person: "b", Channel: "c"},
		{AskID: "a", Person: "b", Channel: "c", Choice: -1},
	} {
		if token, err := s.Sign(l); err == nil {
			t.Errorf("%+v: got token %q", l, token)
		}
	}
	if got := s.URL("", link); got != "" {
		t.Errorf("without a public address: got %q", got)
	}
	if got := s.URL("https://ask.example.com", link); got != "https://ask.example.com/a/"+sign(t, s, link) {
		t.Errorf("got %q", got)
	}
}

// Without a key, nothing is signed and no token is valid. A key that becomes available later is used.
func TestKeyIsFetchedWhenNeeded(t *testing.T) {
	missing := errors.New("no key")
	var current []byte
	s := answerlink.New(func() ([]byte, error) {
		if current == nil {
			return nil, missing
		}
		return current, nil
	}, answerlink.Page)
	if _, err := s.Sign(link); !errors.Is(err, missing) {
		t.Errorf("got %v, want the error of the key", err)
	}
	if _, err := s.Verify("x"); !errors.Is(err, missing) {
		t.Errorf("got %v, want the error of the key", err)
	}
	if got := s.URL("https://ask.example.com", link); got != "" {
		t.Errorf("got %q without a key", got)
	}
	current = make([]byte, 31)
	if _, err := s.Sign(link); err == nil {
		t.Error("a short key signs")
	}
	current = make([]byte, 32)
	if _, err := s.Verify(sign(t, s, link)); err != nil {
		t.Error(err)
	}
}

func TestRedactRemovesTheToken(t *testing.T) {
	for path, want := range map[string]string{
		"/a/secret": "/a/…", "/a/": "/a/…", "/a/x/y": "/a/…", "//a/secret": "//a/…", "/./a/secret": "/./a/…",
		"/asks/ask_1": "/asks/ask_1", "/": "/", "/a": "/a",
	} {
		if got := answerlink.Redact(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// Links of an earlier release are valid, for the same purpose.
func TestLinkOfAnEarlierReleaseIsValid(t *testing.T) {
	const text = "AR5hc2tfMDFrNm0zdjdxOHI5czB0MXYydzN4NHk1ejYDYW5hBHB1c2gC"
	page, reply := answerlink.New(key(1), answerlink.Page), answerlink.New(key(1), answerlink.Reply)
	const ofPage = text + "RN3tupl0ihVzH-hYZNbZ2_8AzKWRaB0BdHlE_ciTzi8"
	const ofReply = text + "UiIMAtV87BJ9xxV1tTih77WlsQeKCqHDZa5XStOICxI"
	for token, s := range map[string]*answerlink.Signer{ofPage: page, ofReply: reply} {
		if got, err := s.Verify(token); err != nil || got != link {
			t.Errorf("%s: got %+v, %v", token, got, err)
		}
	}
	for token, s := range map[string]*answerlink.Signer{ofPage: reply, ofReply: page} {
		if got, err := s.Verify(token); !errors.Is(err, answerlink.ErrInvalid) {
			t.Errorf("%s with another purpose: got %+v, %v", token, got, err)
		}
	}
	if sign(t, page, link) == ofPage {
		t.Error("a new link has the old code")
	}
}

// A token with a valid signature is invalid if it has another version, or more fields than a link. Such a
// token is from another release, or from another use of the key.
func TestSignedTextsOfOtherReleasesAreInvalid(t *testing.T) {
	s := answerlink.New(key(1), answerlink.Page)
	raw, err := base64.RawURLEncoding.DecodeString(sign(t, s, link))
	if err != nil {
		t.Fatal(err)
	}
	text := raw[:len(raw)-sha256.Size]
	signed := func(text []byte) string {
		base, err := key(1)()
		if err != nil {
			t.Fatal(err)
		}
		sum := func(key, text []byte) []byte {
			h := hmac.New(sha256.New, key)
			h.Write(text)
			return h.Sum(nil)
		}
		mac := sum(sum(base, []byte("askback answer link page")), text)
		return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(text), mac...))
	}
	if got, err := s.Verify(signed(text)); err != nil || got != link {
		t.Fatalf("got %+v, %v for the same text", got, err)
	}
	other := bytes.Clone(text)
	other[0]++
	for name, text := range map[string][]byte{
		"another version": other, "more": append(bytes.Clone(text), 0), "less": text[:len(text)-1],
		"only a version": text[:1],
	} {
		if got, err := s.Verify(signed(text)); !errors.Is(err, answerlink.ErrInvalid) {
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, answerlink.ErrInvalid)
		}
	}
}
