package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A forgedToken is an invalid token of an attacker.
type forgedToken struct {
	what   string
	claims claims
	header map[string]any
	by     string // the name of the signing key; "" for the key of the issuer
}

// Only valid tokens of this issuer for this server are accepted (T2).
func TestForgedTokensAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	good := f.claims()
	type head = map[string]any
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	own, other := f.resource(), "http://127.0.0.1:1/mcp"
	for _, token := range []forgedToken{
		{what: "for another server", claims: good.withClaim("aud", other)},
		{what: "for other servers", claims: good.withClaim("aud", []string{other, "http://127.0.0.1:2/mcp"})},
		{what: "without an audience", claims: good.withClaim("aud", nil)},
		{what: "for an empty audience", claims: good.withClaim("aud", []string{})},
		{what: "for the pages", claims: good.withClaim("aud", f.URL)},
		{what: "for the pages with a slash", claims: good.withClaim("aud", f.URL+"/")},
		{what: "for the API", claims: good.withClaim("aud", f.URL+"/api/v1")},
		{what: "for what begins so", claims: good.withClaim("aud", own+".evil.example")},
		{what: "for what is below", claims: good.withClaim("aud", own+"/evil")},
		{what: "for both in one text", claims: good.withClaim("aud", own+" "+other)},
		{what: "for the client askback", claims: good.withClaim("aud", clientID)},
		{what: "ended", claims: good.withClaim("exp", ago(10*time.Minute))},
		{what: "ended long ago", claims: good.withClaim("exp", 1)},
		{what: "without an end", claims: good.withClaim("exp", nil)},
		{what: "with an end that is text", claims: good.withClaim("exp", "never")},
		{what: "with a negative expiry", claims: good.withClaim("exp", -1)},
		{what: "not yet valid", claims: good.withClaim("nbf", ago(-time.Hour))},
		{what: "of another issuer", claims: good.withClaim("iss", "http://localhost:1")},
		{what: "of the issuer with a slash", claims: good.withClaim("iss", f.setup.Issuer+"/")},
		{what: "without an issuer", claims: good.withClaim("iss", nil)},
		{what: "without a subject", claims: good.withClaim("sub", nil)},
		{what: "of an empty subject", claims: good.withClaim("sub", "")},
		{what: "of a number", claims: good.withClaim("sub", 42)},
		{what: "signed by another key under this one's id", claims: good, by: "foreign"},
		{what: "with its own key inside", claims: good, header: head{"jwk": true}, by: "foreign"},
		{what: "with its own key inside and no id", claims: good, header: head{"jwk": true, "kid": nil}, by: "foreign"},
		{
			what: "with the address of its key", claims: good, header: head{"jku": "http://127.0.0.1:1/keys"},
			by: "foreign",
		},
		{what: "with an unknown key", claims: good, header: head{"kid": "../../etc/passwd"}, by: "foreign"},
		{what: "not signed", claims: good, header: head{"alg": "none"}, by: "none"},
		{what: "not signed, in capitals", claims: good, header: head{"alg": "NONE"}, by: "none"},
		{what: "not signed, with alg RS256", claims: good, by: "none"},
		{what: "signed with the public key as a secret", claims: good, header: head{"alg": "HS256"}, by: "pem"},
		{what: "with an extension that must be understood", claims: good, header: head{
			"crit": []string{"evil"}, "evil": true,
		}},
		{
			what:   "that is an ID token by its type",
			claims: good.withClaim("nonce", "n").withClaim("aud", []string{clientID, own}).withClaim("azp", clientID),
			header: head{"typ": "JWT"},
		},
	} {
		got := f.initializeWithToken(f.sign(token.claims, token.header, token.by))
		wantStatus(t, "a token "+token.what, got, http.StatusUnauthorized)
		if got.status == http.StatusUnauthorized && !strings.Contains(got.challenge, "resource_metadata=") {
			t.Errorf("a token %s: got challenge %q without the resource metadata", token.what, got.challenge)
		}
	}
	for what, good := range map[string]claims{
		"as it should be":     good,
		"for two servers":     good.withClaim("aud", []string{other, own}),
		"of a pipe in a name": good.withClaim("sub", "auth0|5f7c8ec7c33c6c004bbafe82"),
	} {
		wantStatus(t, "a token "+what, f.initializeWithToken(f.sign(good, nil, "")), http.StatusOK)
	}
	wantStatus(t, "a token of another of its keys", f.initializeWithToken(f.sign(good, nil, "elliptic")), http.StatusOK)
}

// A valid token is rejected if it is changed, or if it is not sent as a single bearer token.
func TestMalformedAuthorizationIsRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	token := f.sign(f.claims(), nil, "")
	parts := strings.Split(token, ".")
	other := strings.Split(f.sign(f.claims().withClaim("sub", "another"), nil, ""), ".")
	flipped := []byte(parts[2])
	flipped[10] ^= 1
	for what, header := range map[string][]string{
		"another signature":       {"Bearer " + parts[0] + "." + parts[1] + "." + string(flipped)},
		"the signature of others": {"Bearer " + parts[0] + "." + other[1] + "." + parts[2]},
		"a cut one":               {"Bearer " + token[:len(token)-40]},
		"no signature":            {"Bearer " + parts[0] + "." + parts[1] + "."},
		"two parts":               {"Bearer " + parts[0] + "." + parts[1]},
		"a fourth part":           {"Bearer " + token + ".x"},
		"by another scheme":       {"Basic " + token},
		"bound, as DPoP":          {"DPoP " + token},
		"no scheme":               {token},
		"nothing":                 {"Bearer "},
		"much":                    {"Bearer " + strings.Repeat("a.", 20_000)},
		"our prefix before it":    {"Bearer askback_" + token},
	} {
		if got := f.initialize(header...); got.status == http.StatusOK {
			t.Errorf("%s: got 200: %s", what, got.body)
		}
	}
	in := url.Values{"access_token": {token}}
	wantStatus(t, "in the address", f.request(http.MethodPost, "/mcp?"+in.Encode(), initializeBody, http.Header{}),
		http.StatusUnauthorized)
	wantStatus(t, "in a cookie",
		f.request(http.MethodPost, "/mcp", initializeBody, http.Header{"Cookie": {"askback=" + token}}),
		http.StatusUnauthorized)
	wantStatus(t, "as it should be", f.initializeWithToken(token), http.StatusOK)
}

// Valid tokens for other purposes are rejected: an access token for another
// server, and the tokens of the log-in (T2).
func TestTokensForOtherAudiencesAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(s *issuerSetup) { s.ClaimsInIDToken = true })
	a := newAgent(f, legacy).signIn("ana")
	m := a.memory()
	wantStatus(t, "its own", f.initializeWithToken(m.Tokens.Access), http.StatusOK)
	wantStatus(t, "the ID token of the agent's client", f.initializeWithToken(m.Tokens.ID), http.StatusUnauthorized)
	wantStatus(t, "the refresh token", f.initializeWithToken(m.Tokens.Refresh), http.StatusUnauthorized)

	for resource, want := range map[string]int{
		"http://127.0.0.1:1/mcp": http.StatusUnauthorized, "": http.StatusUnauthorized, f.resource(): http.StatusOK,
	} {
		got := f.tokens(t, resource)
		wantStatus(t, "the access token of the client askback for "+resource, f.initializeWithToken(got.Access), want)
		wantStatus(t, "the ID token of the client askback", f.initializeWithToken(got.ID), http.StatusUnauthorized)
		for _, token := range []string{got.Access, got.ID} {
			if page := f.request(http.MethodGet, "/", "",
				http.Header{"Cookie": {"askback=" + token}}); page.status == http.StatusOK {
				t.Errorf("as a cookie: got 200: %s", page.body)
			}
		}
	}
}

// tokens returns the tokens of the client askback for a resource.
func (f *fixture) tokens(t *testing.T, resource string) (got struct {
	Access string `json:"access_token"`
	ID     string `json:"id_token"`
},
) {
	t.Helper()
	const verifier = "a-verifier-of-43-characters-or-more-for-a-test"
	query := url.Values{
		"client_id": {clientID}, "redirect_uri": {f.URL + "/login/oidc/callback"}, "response_type": {"code"},
		"scope": {"openid email profile"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"},
		"state": {"s"}, "nonce": {"n"},
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "redirect_uri": query["redirect_uri"], "code_verifier": {verifier},
	}
	if resource != "" {
		query.Set("resource", resource)
		form.Set("resource", resource)
	}
	back, v := newPerson(t).follow(f.setup.Issuer+"/auth?"+query.Encode(), "ana", f.URL+"/login/oidc/callback")
	if back == nil || back.Query().Get("code") == "" {
		t.Fatalf("no code for %q: %s", resource, v.body)
	}
	form.Set("code", back.Query().Get("code"))
	f.exchange(t, form, &got)
	return got
}

// Forged tokens with new key ids do not each cause a request to the issuer (T9).
func TestForgedTokensCauseFewRequestsToTheIssuer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	good := f.sign(f.claims(), nil, "")
	wantStatus(t, "a good token", f.initializeWithToken(good), http.StatusOK)
	for i := range 100 {
		wantStatus(t, "a forged token",
			f.initializeWithToken(f.sign(f.claims(), map[string]any{"kid": fmt.Sprint(i)}, "foreign")),
			http.StatusUnauthorized)
	}
	wantStatus(t, "a good token beside them", f.initializeWithToken(good), http.StatusOK)
	var seen map[string]int
	f.issuer.run("seen", nil, &seen)
	if seen["/jwks"] == 0 || seen["/jwks"] > 10 || seen["/.well-known/openid-configuration"] > 10 {
		t.Errorf("101 tokens, and the issuer was called so: %v", seen)
	}
}

// After the issuer has changed its keys, tokens with the new keys are accepted and tokens with the old keys
// are rejected, without a restart.
func TestNewKeysOfIssuerAreAccepted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old := f.sign(f.claims(), nil, "")
	wantStatus(t, "a token of the first key", f.initializeWithToken(old), http.StatusOK)
	f.close()
	f.open()
	fresh := f.sign(f.claims(), nil, "")
	until(t, "the new keys are known", func() error {
		if got := f.initializeWithToken(fresh); got.status != http.StatusOK {
			return statusError(got.status)
		}
		return nil
	})
	// The library accepts the new keys shortly before it rejects the old keys.
	until(t, "a token of a key that is gone is refused",
		func() error { return checkStatus(f.initializeWithToken(old), http.StatusUnauthorized) })
}
