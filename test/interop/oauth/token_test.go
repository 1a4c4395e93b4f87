package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A forged token is what somebody might try instead of a good one.
type forged struct {
	what   string
	claims claims
	header map[string]any
	by     string // who signs; "" is the issuer
}

// No token but a good one of this issuer for this server opens the door (T2).
func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	good := h.claims()
	type head = map[string]any
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	own, other := h.resource(), "http://127.0.0.1:1/mcp"
	for _, f := range []forged{
		{what: "for another server", claims: good.but("aud", other)},
		{what: "for other servers", claims: good.but("aud", []string{other, "http://127.0.0.1:2/mcp"})},
		{what: "for nobody", claims: good.but("aud", nil)},
		{what: "for no audience", claims: good.but("aud", []string{})},
		{what: "for the pages", claims: good.but("aud", h.URL)},
		{what: "for the pages with a slash", claims: good.but("aud", h.URL+"/")},
		{what: "for the API", claims: good.but("aud", h.URL+"/api/v1")},
		{what: "for what begins so", claims: good.but("aud", own+".evil.example")},
		{what: "for what is below", claims: good.but("aud", own+"/evil")},
		{what: "for both in one text", claims: good.but("aud", own+" "+other)},
		{what: "for the client askback", claims: good.but("aud", clientID)},
		{what: "ended", claims: good.but("exp", ago(10*time.Minute))},
		{what: "ended long ago", claims: good.but("exp", 1)},
		{what: "without an end", claims: good.but("exp", nil)},
		{what: "with an end that is text", claims: good.but("exp", "never")},
		{what: "with a negative end", claims: good.but("exp", -1)},
		{what: "not good yet", claims: good.but("nbf", ago(-time.Hour))},
		{what: "of another issuer", claims: good.but("iss", "http://localhost:1")},
		{what: "of the issuer with a slash", claims: good.but("iss", h.setup.Issuer+"/")},
		{what: "of no issuer", claims: good.but("iss", nil)},
		{what: "of nobody", claims: good.but("sub", nil)},
		{what: "of a blank one", claims: good.but("sub", "")},
		{what: "of a number", claims: good.but("sub", 42)},
		{what: "signed by another key under this one's id", claims: good, by: "foreign"},
		{what: "with its own key inside", claims: good, header: head{"jwk": true}, by: "foreign"},
		{what: "with its own key inside and no id", claims: good, header: head{"jwk": true, "kid": nil}, by: "foreign"},
		{what: "with the address of its key", claims: good, header: head{"jku": "http://127.0.0.1:1/keys"}, by: "foreign"},
		{what: "with an unknown key", claims: good, header: head{"kid": "../../etc/passwd"}, by: "foreign"},
		{what: "not signed", claims: good, header: head{"alg": "none"}, by: "nobody"},
		{what: "not signed, loudly", claims: good, header: head{"alg": "NONE"}, by: "nobody"},
		{what: "not signed, by word RS256", claims: good, by: "nobody"},
		{what: "signed with the public key as a secret", claims: good, header: head{"alg": "HS256"}, by: "pem"},
		{what: "with an extension that must be understood", claims: good, header: head{"crit": []string{"evil"}, "evil": true}},
		{what: "that is an ID token by its type", claims: good.but("nonce", "n").but("aud", []string{clientID, own}).but("azp", clientID), header: head{"typ": "JWT"}},
	} {
		got := h.bears(h.signed(f.claims, f.header, f.by))
		wants(t, "a token "+f.what, got, http.StatusUnauthorized)
		if got.status == http.StatusUnauthorized && !strings.Contains(got.challenge, "resource_metadata=") {
			t.Errorf("a token %s: it is not said where to get a good one: %q", f.what, got.challenge)
		}
	}
	for what, good := range map[string]claims{
		"as it should be":     good,
		"for two servers":     good.but("aud", []string{other, own}),
		"of a pipe in a name": good.but("sub", "auth0|5f7c8ec7c33c6c004bbafe82"),
	} {
		wants(t, "a token "+what, h.bears(h.signed(good, nil, "")), http.StatusOK)
	}
	wants(t, "a token of another of its keys", h.bears(h.signed(good, nil, "elliptic")), http.StatusOK)
}

// A good token that is changed, or shown in another way, opens nothing.
func TestAGoodTokenShownBadly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	token := h.signed(h.claims(), nil, "")
	parts := strings.Split(token, ".")
	other := strings.Split(h.signed(h.claims().but("sub", "somebody else"), nil, ""), ".")
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
		if got := h.knocks(header...); got.status == http.StatusOK {
			t.Errorf("%s: got 200: %s", what, got.body)
		}
	}
	in := url.Values{"access_token": {token}}
	wants(t, "in the address", h.sends(http.MethodPost, "/mcp?"+in.Encode(), initialize, http.Header{}), http.StatusUnauthorized)
	wants(t, "in a cookie", h.sends(http.MethodPost, "/mcp", initialize, http.Header{"Cookie": {"askback=" + token}}), http.StatusUnauthorized)
	wants(t, "as it should be", h.bears(token), http.StatusOK)
}

// Real tokens of the issuer that are for something else: an access token that a
// client got for another server, and what the log-in of the pages gets (T2).
func TestTokensForSomethingElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(s *issuerSetup) { s.ClaimsInIDToken = true })
	a := arrives(h, legacy).signsIn("ana")
	m := a.memory()
	wants(t, "its own", h.bears(m.Tokens.Access), http.StatusOK)
	wants(t, "the ID token of the agent's client", h.bears(m.Tokens.ID), http.StatusUnauthorized)
	wants(t, "the refresh token", h.bears(m.Tokens.Refresh), http.StatusUnauthorized)

	for resource, want := range map[string]int{"http://127.0.0.1:1/mcp": http.StatusUnauthorized, "": http.StatusUnauthorized, h.resource(): http.StatusOK} {
		got := h.tokens(t, resource)
		wants(t, "the access token of the client askback for "+resource, h.bears(got.Access), want)
		wants(t, "the ID token of the client askback beside it", h.bears(got.ID), http.StatusUnauthorized)
		for _, token := range []string{got.Access, got.ID} {
			if page := h.sends(http.MethodGet, "/", "", http.Header{"Cookie": {"askback=" + token}}); page.status == http.StatusOK {
				t.Errorf("as a cookie: got 200: %s", page.body)
			}
		}
	}
}

// tokens are those that the client askback gets at the issuer, for a resource.
func (h *house) tokens(t *testing.T, resource string) (got struct {
	Access string `json:"access_token"`
	ID     string `json:"id_token"`
},
) {
	t.Helper()
	const verifier = "a-verifier-of-43-characters-or-more-for-a-test"
	query := url.Values{
		"client_id": {clientID}, "redirect_uri": {h.URL + "/login/oidc/callback"}, "response_type": {"code"}, "scope": {"openid email profile"},
		"code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}, "state": {"s"}, "nonce": {"n"},
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "redirect_uri": query["redirect_uri"], "code_verifier": {verifier},
	}
	if resource != "" {
		query.Set("resource", resource)
		form.Set("resource", resource)
	}
	back, v := newPerson(t).walk(h.setup.Issuer+"/auth?"+query.Encode(), "ana", h.URL+"/login/oidc/callback")
	if back == nil || back.Query().Get("code") == "" {
		t.Fatalf("no code for %q: %s", resource, v.body)
	}
	form.Set("code", back.Query().Get("code"))
	h.exchange(t, form, &got)
	return got
}

// Forged tokens with ever new key ids do not make Askback call the issuer each time (T9).
func TestForgedTokensAreCheap(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	good := h.signed(h.claims(), nil, "")
	wants(t, "a good token", h.bears(good), http.StatusOK)
	for i := range 100 {
		wants(t, "a forged token", h.bears(h.signed(h.claims(), map[string]any{"kid": fmt.Sprint(i)}, "foreign")), http.StatusUnauthorized)
	}
	wants(t, "a good token beside them", h.bears(good), http.StatusOK)
	var seen map[string]int
	h.issuer.must("seen", nil, &seen)
	if seen["/jwks"] == 0 || seen["/jwks"] > 10 || seen["/.well-known/openid-configuration"] > 10 {
		t.Errorf("101 tokens, and the issuer was called so: %v", seen)
	}
}

// The issuer starts again with other keys: what they sign is taken without a restart
// of Askback, and what the old ones signed is not.
func TestTheIssuerHasOtherKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	old := h.signed(h.claims(), nil, "")
	wants(t, "a token of the first key", h.bears(old), http.StatusOK)
	h.close()
	h.open()
	fresh := h.signed(h.claims(), nil, "")
	until(t, "the new keys are known", func() error {
		if got := h.bears(fresh); got.status != http.StatusOK {
			return statusError(got.status)
		}
		return nil
	})
	// The library hands out new keys a moment before it drops the old ones.
	until(t, "a token of a key that is gone is refused", func() error { return is(h.bears(old), http.StatusUnauthorized) })
}
