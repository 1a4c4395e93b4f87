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

// Without the issuer, the server runs and accepts tokens of Askback only, and
// the page explains the problem. Sign-in works when the issuer is available
// (B4).
func TestServerStartsWithoutIssuer(t *testing.T) {
	t.Parallel()
	f := newFixtureWithoutIssuer(t, nil)
	k := f.ask("Which?")
	wantStatus(t, "a token of Askback", f.initializeWithToken(f.AgentToken), http.StatusOK)
	wantStatus(t, "without a token", f.initialize(), http.StatusUnauthorized)
	wantStatus(t, "where to sign in",
		f.request(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "", http.Header{}), http.StatusOK)
	wantStatus(t, "what looks like a token of the issuer", f.initializeWithToken(f.unsignedToken()),
		http.StatusServiceUnavailable)
	if ready := f.request(http.MethodGet, "/readyz", "", http.Header{}); ready.status != http.StatusOK {
		t.Errorf("not ready: %+v", ready)
	}
	p := newPerson(t)
	at, v := p.follow(f.loginURL("/asks/"+k.ID), "ana", "")
	if v.status != http.StatusServiceUnavailable ||
		!strings.Contains(v.body, "Log-in is not available") || f.isLoggedIn(p) {
		t.Errorf("signing in comes to %s, %d:\n%s", at, v.status, v.body)
	}

	f.open()
	good := f.sign(f.claims(), nil, "")
	until(t, "a token of the issuer is good",
		func() error { return checkStatus(f.initializeWithToken(good), http.StatusOK) })
	until(t, "ana can sign in", func() error {
		_, v = p.follow(f.loginURL("/asks/"+k.ID), "ana", "")
		return checkStatus(response{status: v.status}, http.StatusOK)
	})
	if !f.isLoggedIn(p) {
		t.Error("ana is not in")
	}
}

// While the issuer is down, requests that can be checked without the issuer still work, and other requests
// are rejected. Forged tokens are never accepted.
func TestServerRunsAfterIssuerGoesDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	good, forged := f.sign(f.claims(), nil, ""), f.sign(f.claims(), nil, "foreign")
	unknown := f.sign(f.claims(), map[string]any{"kid": "unknown"}, "foreign")
	p := newPerson(t)
	p.follow(f.loginURL("/"), "ana", "")
	wantStatus(t, "a good token", f.initializeWithToken(good), http.StatusOK)
	f.close()
	if !f.isLoggedIn(p) {
		t.Error("who was signed in is out")
	}
	wantStatus(t, "a good token whose key is known", f.initializeWithToken(good), http.StatusOK)
	// The status must not be 401, because clients would discard a token that may be valid.
	for what, token := range map[string]string{"a forged token": forged, "a token of an unknown key": unknown} {
		until(t, what+" cannot be looked at", func() error {
			got := f.initializeWithToken(token)
			if got.status == http.StatusOK {
				t.Fatalf("%s: got 200: %s", what, got.body)
			}
			return checkStatus(got, http.StatusServiceUnavailable)
		})
	}
	if _, v := newPerson(t).follow(f.loginURL("/"), "ana", f.setup.Issuer); v.status != http.StatusSeeOther &&
		v.status != http.StatusFound && v.status != http.StatusServiceUnavailable {
		t.Errorf("signing in: got %d\n%s", v.status, v.body)
	}
	f.Restart()
	if got := f.initializeWithToken(good); got.status == http.StatusOK {
		t.Error("without keys a token is in")
	}
	wantStatus(t, "a token of Askback", f.initializeWithToken(f.AgentToken), http.StatusOK)
}

// An issuer that accepts connections and never responds does not delay requests that do not need the issuer.
// It delays other requests only for a limited time.
func TestUnresponsiveIssuerDoesNotBlockServer(t *testing.T) {
	t.Parallel()
	f := newFixtureWithoutIssuer(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:"+f.setup.Port)
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
	done := make(chan response, 1)
	begun := time.Now()
	go func() {
		defer close(done) // even if the request fails
		done <- f.request(http.MethodPost, "/mcp", initializeBody,
			http.Header{"Authorization": {"Bearer " + f.unsignedToken()}})
	}()
	for range 10 {
		wantStatus(t, "a token of Askback", f.initializeWithToken(f.AgentToken), http.StatusOK)
		wantStatus(t, "without a token", f.initialize(), http.StatusUnauthorized)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("who does not need the issuer waited for %v", took)
	}
	wantStatus(t, "a token of the issuer", <-done, http.StatusServiceUnavailable)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("who needs it waited for %v", took)
	}
	_ = l.Close()
	f.open()
	until(t, "a token of the issuer is good",
		func() error { return checkStatus(f.initializeWithToken(f.sign(f.claims(), nil, "")), http.StatusOK) })
}

// unsignedToken returns an unsigned token that looks like a token of the issuer. The issuer need not run.
func (f *fixture) unsignedToken() string {
	f.t.Helper()
	body, err := json.Marshal(f.claims())
	if err != nil {
		f.t.Fatal(err)
	}
	base64 := base64.RawURLEncoding.EncodeToString
	return base64([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + base64(body) + "." + base64([]byte("no signature"))
}

// A client that connects without the issuer gets an error, and can connect when
// the issuer is available.
func TestClientConnectsOnceIssuerIsAvailable(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixtureWithoutIssuer(t, nil)
			a := newAgent(f, client)
			if err := a.await(a.start("connect", nil), nil); err == nil {
				t.Error("it is in, or knows where to go")
			}
			f.open()
			f.waitForIssuer()
			a.signIn("ana")
		})
	}
}

// checkStatus returns an error if the status differs.
func checkStatus(k response, status int) error {
	if k.status != status {
		return statusError(k.status)
	}
	return nil
}
