// Package oauth_test signs people and agents in to Askback with an OpenID provider
// and MCP clients of others.
package oauth_test

import (
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
)

// The tests wait more than they compute, so more of them run beside each other than
// there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	clienttest.Main(m)
}

// patience bounds each wait. The time that a server may be lenient about clocks has
// room in it.
const patience = 2 * time.Minute

// The client that Askback itself is at the issuer. Its secret has what must be
// written differently in a header.
const (
	clientID     = "askback"
	clientSecret = "a secret: 1+1=2 & 100 %/~"
)

// An account is somebody at the issuer, who signs in by the name of it.
type account struct {
	Sub      string `json:"sub"`
	Name     string `json:"name"`
	Email    string `json:"email,omitempty"`
	Verified any    `json:"email_verified,omitempty"`
}

// accounts: of them Askback knows ana's address alone.
var accounts = map[string]account{
	"ana":     {"8d7c-1", "Ana", "ana@example.com", true},
	"eve":     {"8d7c-2", "Eve", "eve@example.com", true},
	"mallory": {"8d7c-3", "ana", "ana@example.com", false},
	// What other providers send, or leave out.
	"said":     {"8d7c-4", "ana", "ana@example.com", "false"},
	"silent":   {"8d7c-5", "ana", "ana@example.com", nil},
	"nameless": {"8d7c-6", "ana", "", nil},
	"shouting": {"8d7c-7", "Ana", "Ana@Example.com", true},
	"subject":  {"ana@example.com", "ana", "other@example.com", true},
}

// An issuerSetup is how an issuer is set up.
type issuerSetup struct {
	Issuer          string             `json:"issuer"`
	Port            string             `json:"port"`
	Clients         []map[string]any   `json:"clients"`
	Accounts        map[string]account `json:"accounts"`
	AccessTokenTTL  int                `json:"accessTokenTTL"` // in s
	Alg             string             `json:"alg"`            // of access tokens
	ClaimsInIDToken bool               `json:"claimsInIDToken"`
}

// A house is Askback and the issuer that it trusts.
type house struct {
	*clienttest.Place
	t      *testing.T
	setup  issuerSetup
	issuer *script // nil while it is down
}

// newHouse starts both. The names differ, so that they are two sites to a browser.
func newHouse(t *testing.T, change func(*issuerSetup)) *house {
	t.Helper()
	h := shut(t, change)
	h.open()
	h.found()
	return h
}

// found waits until Askback finds the issuer: it looked for it when it began, and looks
// again in a moment.
func (h *house) found() {
	h.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	until(h.t, "Askback finds the issuer", func() error {
		res, err := client.Get(h.URL + "/login/oidc")
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		return is(knock{status: res.StatusCode}, http.StatusSeeOther)
	})
}

// shut is a house whose issuer is down.
func shut(t *testing.T, change func(*issuerSetup)) *house {
	t.Helper()
	clienttest.Packages(t)
	port := free(t)
	h := &house{t: t, setup: issuerSetup{
		Issuer: "http://localhost:" + port, Port: port, Accounts: accounts, AccessTokenTTL: 3600, Alg: "RS256",
	}}
	if change != nil {
		change(&h.setup)
	}
	h.Place = clienttest.Configured(t, h.settings)
	h.setup.Clients = []map[string]any{{
		"client_id": clientID, "client_secret": clientSecret, "redirect_uris": []string{h.URL + "/login/oidc/callback"},
	}}
	return h
}

// settings are those of Askback at an address.
func (h *house) settings(url string) string {
	return h.knowing(url, "ana", "ana@example.com")
}

// knowing are the settings with one person.
func (h *house) knowing(url, name, email string) string {
	return fmt.Sprintf("public_url: %s\npeople: [{name: %s, email: %s}]\nlogin: {oidc: {issuer: %q, client_id: %s, client_secret: %q}}\n",
		url, name, email, h.setup.Issuer, clientID, clientSecret)
}

// settle changes who the person is, while the server runs.
func (h *house) settle(name, email string) {
	h.t.Helper()
	if err := os.WriteFile(h.Settings, []byte(h.knowing(h.URL, name, email)), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// open starts the issuer.
func (h *house) open() {
	h.t.Helper()
	h.issuer = run(h.t, "issuer.mjs", h.setup)
	until(h.t, "the issuer runs", func() error {
		res, err := http.Get(h.setup.Issuer + "/.well-known/openid-configuration")
		if err == nil {
			_ = res.Body.Close()
		}
		return err
	})
}

// close ends the issuer.
func (h *house) close() { h.issuer.end() }

// free is a port where nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// resource is what tokens for Askback are for.
func (h *house) resource() string { return h.URL + "/mcp" }

// claims are those of an access token.
type claims map[string]any

// claims makes good ones.
func (h *house) claims() claims {
	now := time.Now()
	return claims{
		"iss": h.setup.Issuer, "sub": "8d7c-9", "aud": h.resource(), "client_id": "an-agent", "jti": "1",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

// but is the same with another claim; nil takes it out.
func (c claims) but(name string, value any) claims {
	c = maps.Clone(c)
	if c[name] = value; value == nil {
		delete(c, name)
	}
	return c
}

// signed is a token that the key of the issuer signs, or another by name.
func (h *house) signed(c claims, header map[string]any, by string) string {
	h.t.Helper()
	with := map[string]any{"claims": c, "header": header}
	if by != "" {
		with["by"] = by
	}
	var token string
	h.issuer.must("sign", with, &token)
	return token
}
