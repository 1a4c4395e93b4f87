// Package oauth_test tests log-in to Askback with an OpenID provider and MCP
// clients of other vendors.
package oauth_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/freeport"
)

// TestMain runs more tests in parallel than there are cores, because they
// mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	clienttest.Main(m)
}

// patience is the deadline of each wait. It is longer than the permitted clock
// skew.
const patience = 2 * time.Minute

// The id and the secret of Askback as a client of the issuer. The secret contains
// characters that must be escaped in a header.
const (
	clientID     = "askback"
	clientSecret = "a secret: 1+1=2 & 100 %/~"
)

// An account is an account at the issuer.
type account struct {
	Sub      string `json:"sub"`
	Name     string `json:"name"`
	Email    string `json:"email,omitempty"`
	Verified any    `json:"email_verified,omitempty"`
}

// accounts are the accounts by log-in name. The settings of Askback contain
// only the address of ana.
var accounts = map[string]account{
	"ana":     {"8d7c-1", "Ana", "ana@example.com", true},
	"eve":     {"8d7c-2", "Eve", "eve@example.com", true},
	"mallory": {"8d7c-3", "ana", "ana@example.com", false},
	// Other providers send claims of these forms.
	"said":     {"8d7c-4", "ana", "ana@example.com", "false"},
	"silent":   {"8d7c-5", "ana", "ana@example.com", nil},
	"nameless": {"8d7c-6", "ana", "", nil},
	"shouting": {"8d7c-7", "Ana", "Ana@Example.com", true},
	"subject":  {"ana@example.com", "ana", "other@example.com", true},
}

// An issuerSetup is the configuration of an issuer.
type issuerSetup struct {
	Issuer          string             `json:"issuer"`
	Port            string             `json:"port"`
	Clients         []map[string]any   `json:"clients"`
	Accounts        map[string]account `json:"accounts"`
	AccessTokenTTL  int                `json:"accessTokenTTL"` // in s
	Alg             string             `json:"alg"`            // the algorithm of the signatures of access tokens
	ClaimsInIDToken bool               `json:"claimsInIDToken"`
}

// A fixture is a server of Askback with its issuer.
type fixture struct {
	*clienttest.Instance
	t      *testing.T
	setup  issuerSetup
	issuer *process // nil if it is not running
}

// newFixture starts the server and the issuer. They have different host names,
// so that they are different sites to a browser.
func newFixture(t *testing.T, change func(*issuerSetup)) *fixture {
	t.Helper()
	f := newFixtureWithoutIssuer(t, change)
	f.open()
	f.waitForIssuer()
	return f
}

// waitForIssuer waits until Askback has discovered the issuer. Askback retries the discovery.
func (f *fixture) waitForIssuer() {
	f.t.Helper()
	client := &http.Client{
		Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	until(f.t, "Askback finds the issuer", func() error {
		res, err := client.Get(f.URL + "/login/oidc")
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		return checkStatus(response{status: res.StatusCode}, http.StatusSeeOther)
	})
}

// newFixtureWithoutIssuer starts a server without its issuer.
func newFixtureWithoutIssuer(t *testing.T, change func(*issuerSetup)) *fixture {
	t.Helper()
	clienttest.Packages(t)
	port := strconv.Itoa(freeport.Pick(t))
	f := &fixture{t: t, setup: issuerSetup{
		Issuer: "http://localhost:" + port, Port: port, Accounts: accounts, AccessTokenTTL: 3600, Alg: "RS256",
	}}
	if change != nil {
		change(&f.setup)
	}
	f.Instance = clienttest.Configured(t, f.settings)
	f.setup.Clients = []map[string]any{{
		"client_id": clientID, "client_secret": clientSecret, "redirect_uris": []string{f.URL + "/login/oidc/callback"},
	}}
	return f
}

// settings returns the settings of Askback for its address.
func (f *fixture) settings(url string) string {
	return f.settingsFor(url, "ana", "ana@example.com")
}

// settingsFor returns the settings with one person.
func (f *fixture) settingsFor(url, name, email string) string {
	return fmt.Sprintf("public_url: %s\npeople: [{name: %s, email: %s}]\nlogin: {oidc: {issuer: %q, client_id: %s, "+
		"client_secret: %q}}\nundo: 0\n",
		url, name, email, f.setup.Issuer, clientID, clientSecret)
}

// changePerson changes the person in the settings while the server runs.
func (f *fixture) changePerson(name, email string) {
	f.t.Helper()
	if err := os.WriteFile(f.Settings, []byte(f.settingsFor(f.URL, name, email)), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// open starts the issuer. On a busy machine, Node sometimes starts and then does nothing for two minutes;
// open replaces such a process.
func (f *fixture) open() {
	f.t.Helper()
	for range 3 {
		f.issuer = run(f.t, "issuer.mjs", f.setup)
		if f.listens(patience / 3) {
			return
		}
		f.t.Logf("the issuer does not listen, and is replaced: %s", f.issuer.state())
		f.issuer.end()
	}
	f.t.Fatal("the issuer does not listen")
}

// listens waits until the issuer replies. It returns false if the issuer does not reply in time.
func (f *fixture) listens(within time.Duration) bool {
	over := time.After(within)
	client := http.Client{Timeout: within}
	for {
		res, err := client.Get(f.setup.Issuer + "/.well-known/openid-configuration")
		if err == nil {
			return res.Body.Close() == nil
		}
		select {
		case <-over:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// close stops the issuer.
func (f *fixture) close() { f.issuer.end() }

// resource returns the audience of tokens for Askback.
func (f *fixture) resource() string { return f.URL + "/mcp" }

// claims are the claims of an access token.
type claims map[string]any

// claims returns valid claims.
func (f *fixture) claims() claims {
	now := time.Now()
	return claims{
		"iss": f.setup.Issuer, "sub": "8d7c-9", "aud": f.resource(), "client_id": "an-agent", "jti": "1",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

// withClaim returns the claims with a changed claim, or without this claim if value is nil.
func (c claims) withClaim(name string, value any) claims {
	c = maps.Clone(c)
	if c[name] = value; value == nil {
		delete(c, name)
	}
	return c
}

// sign returns a token signed with the key of the issuer, or with another key
// by name.
func (f *fixture) sign(c claims, header map[string]any, by string) string {
	f.t.Helper()
	with := map[string]any{"claims": c, "header": header}
	if by != "" {
		with["by"] = by
	}
	var token string
	f.issuer.run("sign", with, &token)
	return token
}
