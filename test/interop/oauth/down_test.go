package oauth_test

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// While the issuer is down the server runs, tokens of Askback are good, nobody else
// comes in, and the page says what is wrong. Once it is up everybody comes in (B4).
func TestTheIssuerIsDown(t *testing.T) {
	t.Parallel()
	h := shut(t, nil)
	k := h.asked("Which?")
	wants(t, "a token of Askback", h.bears(h.AgentToken), http.StatusOK)
	wants(t, "nobody", h.knocks(), http.StatusUnauthorized)
	wants(t, "where to sign in", h.sends(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "", http.Header{}), http.StatusOK)
	wants(t, "what looks like a token of the issuer", h.bears(h.unsigned()), http.StatusServiceUnavailable)
	if ready := h.sends(http.MethodGet, "/readyz", "", http.Header{}); ready.status != http.StatusOK {
		t.Errorf("not ready: %+v", ready)
	}
	p := newPerson(t)
	at, v := p.walk(h.begin("/asks/"+k.ID), "ana", "")
	if v.status != http.StatusServiceUnavailable || !strings.Contains(v.body, "Log-in is not available") || h.isIn(p) {
		t.Errorf("signing in comes to %s, %d:\n%s", at, v.status, v.body)
	}

	h.open()
	good := h.signed(h.claims(), nil, "")
	until(t, "a token of the issuer is good", func() error { return is(h.bears(good), http.StatusOK) })
	until(t, "ana can sign in", func() error {
		_, v = p.walk(h.begin("/asks/"+k.ID), "ana", "")
		return is(knock{status: v.status}, http.StatusOK)
	})
	if !h.isIn(p) {
		t.Error("ana is not in")
	}
}

// An issuer that was up and is down: what can be checked without it goes on, what
// cannot is refused, and a forged token never comes in.
func TestTheIssuerGoesDown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	good, forged := h.signed(h.claims(), nil, ""), h.signed(h.claims(), nil, "foreign")
	unknown := h.signed(h.claims(), map[string]any{"kid": "unknown"}, "foreign")
	p := newPerson(t)
	p.walk(h.begin("/"), "ana", "")
	wants(t, "a good token", h.bears(good), http.StatusOK)
	h.close()
	if !h.isIn(p) {
		t.Error("who was signed in is out")
	}
	wants(t, "a good token whose key is known", h.bears(good), http.StatusOK)
	// No refusal: that would make clients throw away what may be good.
	for what, token := range map[string]string{"a forged token": forged, "a token of an unknown key": unknown} {
		until(t, what+" cannot be looked at", func() error {
			got := h.bears(token)
			if got.status == http.StatusOK {
				t.Fatalf("%s: got 200: %s", what, got.body)
			}
			return is(got, http.StatusServiceUnavailable)
		})
	}
	if _, v := newPerson(t).walk(h.begin("/"), "ana", h.setup.Issuer); v.status != http.StatusSeeOther && v.status != http.StatusFound && v.status != http.StatusServiceUnavailable {
		t.Errorf("signing in: got %d\n%s", v.status, v.body)
	}
	h.Restart()
	if got := h.bears(good); got.status == http.StatusOK {
		t.Error("without keys a token is in")
	}
	wants(t, "a token of Askback", h.bears(h.AgentToken), http.StatusOK)
}

// An issuer that takes calls and never answers keeps nobody waiting who does not need
// it, and others not for long.
func TestTheIssuerHangs(t *testing.T) {
	t.Parallel()
	h := shut(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:"+h.setup.Port)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	done := make(chan knock, 1)
	begun := time.Now()
	go func() {
		done <- h.sends(http.MethodPost, "/mcp", initialize, http.Header{"Authorization": {"Bearer " + h.unsigned()}})
	}()
	for range 10 {
		wants(t, "a token of Askback", h.bears(h.AgentToken), http.StatusOK)
		wants(t, "nobody", h.knocks(), http.StatusUnauthorized)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("who does not need the issuer waited for %v", took)
	}
	wants(t, "a token of the issuer", <-done, http.StatusServiceUnavailable)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("who needs it waited for %v", took)
	}
	_ = l.Close()
	h.open()
	until(t, "a token of the issuer is good", func() error { return is(h.bears(h.signed(h.claims(), nil, "")), http.StatusOK) })
}

// unsigned is a token that looks like one of the issuer's, which may be down.
func (h *house) unsigned() string {
	h.t.Helper()
	body, err := json.Marshal(h.claims())
	if err != nil {
		h.t.Fatal(err)
	}
	base64 := base64.RawURLEncoding.EncodeToString
	return base64([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + base64(body) + "." + base64([]byte("no signature"))
}

// A client that comes while the issuer is down is told, and comes in when it is up.
func TestAClientComesWhileTheIssuerIsDown(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := shut(t, nil)
			a := arrives(h, client)
			if err := a.soon(a.start("connect", nil), nil); err == nil {
				t.Error("it is in, or knows where to go")
			}
			h.open()
			h.found()
			a.signsIn("ana")
		})
	}
}

// is says whether that came of it.
func is(k knock, status int) error {
	if k.status != status {
		return statusError(k.status)
	}
	return nil
}
