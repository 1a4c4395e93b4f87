package login_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/server/login/logintest"
)

const publicURL = "https://ask.example.com"

// failureTTL is the time after which a document that could not be fetched is fetched again.
const failureTTL = 2 * time.Second

// A clock is a clock that the test advances.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A fixture is an issuer and a server that trusts the issuer.
type fixture struct {
	*logintest.Issuer
	login *login.Issuer
	clock *clock
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{Issuer: logintest.New(t, "askback", "s3cret"), clock: &clock{now: time.Now()}}
	f.login = f.newServer()
	return f
}

// newServer returns the Issuer of a new process of the same server.
func (f *fixture) newServer() *login.Issuer {
	return login.NewIssuer(login.Settings{
		Issuer: f.URL, ClientID: f.ClientID, ClientSecret: f.ClientSecret, PublicURL: publicURL, Now: f.clock.Now,
		Key: []byte("of all processes"),
	})
}

// access returns the claims of an access token.
func (f *fixture) access() logintest.Claims {
	return logintest.Claims{
		"iss": f.URL, "sub": "u1", "aud": publicURL + "/mcp", "exp": f.clock.Now().Add(time.Minute).Unix(),
	}
}

func TestAgentNameIsTheSubject(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		claims logintest.Claims
		want   string
	}{
		"a subject":         {nil, "oauth:u1"},
		"several audiences": {logintest.Claims{"aud": []string{"x", publicURL + "/mcp"}}, "oauth:u1"},
		// An address may belong to another person one day.
		"a verified address":        {logintest.Claims{"email": "ana@example.com", "email_verified": true}, "oauth:u1"},
		"a subject like an address": {logintest.Claims{"sub": "ana@example.com"}, "oauth:ana@example.com"},
		"an invisible letter":       {logintest.Claims{"sub": "u1\u200b"}, "oauth:sha256:"},
		"a subject like a hash":     {logintest.Claims{"sub": "sha256:x"}, "oauth:sha256:"},
		"a long subject":            {logintest.Claims{"sub": strings.Repeat("u", 101)}, "oauth:sha256:"},
	} {
		got, _, err := f.login.Agent(t.Context(), f.Sign(f.access().With(c.claims)))
		if before, ok := strings.CutSuffix(c.want, "sha256:"); ok {
			if err != nil || !strings.HasPrefix(got, c.want) || len(got) != len(before)+len("sha256:")+43 {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestInvalidTokensAreRejected(t *testing.T) {
	f := newFixture(t)
	good := f.Sign(f.access())
	if _, _, err := f.login.Agent(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(good, ".")
	body, signed, _ := strings.Cut(rest, ".")
	other := logintest.New(t, "askback", "s3cret")
	for name, token := range map[string]string{
		"nothing":            "",
		"a token of Askback": "askback_abc",
		"not a token":        "a.b.c",
		"only dots":          "..",
		"for another resource": f.Sign(
			f.access().With(logintest.Claims{"aud": "https://other.example.com/mcp"}),
		),
		"for the whole server": f.Sign(f.access().With(logintest.Claims{"aud": publicURL})),
		"for no one":           f.Sign(f.access().With(logintest.Claims{"aud": nil})),
		"for a client":         f.Sign(f.access().With(logintest.Claims{"aud": "askback"})),
		"expired": f.Sign(
			f.access().With(logintest.Claims{"exp": f.clock.Now().Add(-time.Second).Unix()}),
		),
		"without an expiry": f.Sign(f.access().With(logintest.Claims{"exp": nil})),
		"not yet valid": f.Sign(
			f.access().With(logintest.Claims{"nbf": f.clock.Now().Add(time.Hour).Unix()}),
		),
		"without a subject":            f.Sign(f.access().With(logintest.Claims{"sub": nil})),
		"with an empty subject":        f.Sign(f.access().With(logintest.Claims{"sub": ""})),
		"names another issuer":         f.Sign(f.access().With(logintest.Claims{"iss": other.URL})),
		"another issuer as this one":   other.Sign(f.access()),
		"another issuer":               other.Sign(f.access().With(logintest.Claims{"iss": other.URL})),
		"another key with the same id": f.Forge(f.access()),
		"no signature":                 f.SignAs("none", f.access()),
		"signed with the public key":   f.SignAs("HS256", f.access()),
		"an unknown algorithm":         f.SignAs("XX", f.access()),
		"an empty signature":           head + "." + body + ".",
		"a signature of zero bytes":    head + "." + body + "." + strings.Repeat("A", 86),
		"the signature of another token": head + "." +
			strings.Split(f.Sign(f.access().With(logintest.Claims{"sub": "u2"})), ".")[1] + "." + signed,
	} {
		if got, _, err := f.login.Agent(t.Context(), token); !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%s: got %q, %v; want %v", name, got, err, login.ErrInvalid)
		}
	}
	f.clock.advance(time.Minute + time.Second)
	if got, _, err := f.login.Agent(t.Context(), good); !errors.Is(err, login.ErrInvalid) {
		t.Errorf("a minute later: got %q, %v", got, err)
	}
}

// While the issuer cannot be reached, only tokens with known keys are accepted. The issuer
// is asked again after failureTTL.
func TestUnreachableIssuerIsRequestedAgainLater(t *testing.T) {
	f := newFixture(t)
	token := f.Sign(f.access().With(logintest.Claims{"exp": f.clock.Now().Add(time.Hour).Unix()}))
	f.Answer(http.StatusBadGateway)
	for range 3 {
		if got, _, err := f.login.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
			t.Errorf("unreachable: got %q, %v; want %v", got, err, login.ErrUnreachable)
		}
	}
	if n := f.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("the issuer was asked %d times, want once", n)
	}
	f.Answer(0)
	f.clock.advance(failureTTL)
	if got, _, err := f.login.Agent(t.Context(), token); got != "oauth:u1" || err != nil {
		t.Errorf("reachable again: got %q, %v", got, err)
	}
	f.Answer(http.StatusBadGateway)
	f.clock.advance(time.Minute)
	if got, _, err := f.login.Agent(t.Context(), token); got != "oauth:u1" || err != nil {
		t.Errorf("unreachable, with known keys: got %q, %v", got, err)
	}
	f.Rotate()
	if _, _, err := f.login.Agent(t.Context(), f.Sign(f.access())); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("unreachable, with an unknown key: got %v; want %v", err, login.ErrUnreachable)
	}
}

// New keys are accepted after ten seconds, and forged tokens do not make the server read
// the keys each time.
func TestKeysAreCached(t *testing.T) {
	f := newFixture(t)
	if _, _, err := f.login.Agent(t.Context(), f.Sign(f.access())); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, _, err := f.login.Agent(t.Context(), f.Forge(f.access())); !errors.Is(err, login.ErrInvalid) {
				t.Errorf("got %v, want %v", err, login.ErrInvalid)
			}
		})
	}
	group.Wait()
	if n := f.Asked("/keys"); n != 1 {
		t.Errorf("the keys were read %d times, want once", n)
	}
	f.Rotate()
	f.clock.advance(10 * time.Second)
	if _, _, err := f.login.Agent(t.Context(), f.Sign(f.access())); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	if n := f.Asked("/keys"); n != 2 {
		t.Errorf("the keys were read %d times, want twice", n)
	}
}

// The label of an agent is a verified and printable e-mail address, or empty.
func TestAgentLabelIsTheVerifiedEmail(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		email    any
		verified any
		want     string
	}{
		"verified":               {"ana@example.com", true, "ana@example.com"},
		"verified, as a string":  {"ana@example.com", "true", "ana@example.com"},
		"not verified":           {"ana@example.com", false, ""},
		"without email_verified": {"ana@example.com", nil, ""},
		"a number":               {"ana@example.com", 1, ""},
		"no address":             {"ana", true, ""},
		"with a name":            {"Ana <ana@example.com>", true, ""},
		"another alphabet":       {"\u0430na@example.com", true, ""},
		"too long":               {strings.Repeat("a", 60) + "@" + strings.Repeat("b", 60) + ".example.com", true, ""},
		"a list":                 {[]string{"ana@example.com"}, true, ""},
	} {
		agent, got, err := f.login.Agent(t.Context(),
			f.Sign(f.access().With(logintest.Claims{"email": c.email, "email_verified": c.verified})))
		if agent != "oauth:u1" || got != c.want || err != nil {
			t.Errorf("%s: got %q, %q, %v; want %q", name, agent, got, err, c.want)
		}
	}
}

// Among the tokens that the issuer signs for this server, only access tokens are accepted (RFC 9068).
func TestOnlyAccessTokensAreAccepted(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		typ   string
		extra string
		ok    bool
	}{
		"RFC 9068":                    {"at+jwt", "", true},
		"with application/":           {"application/at+jwt", "", true},
		"in upper case":               {"AT+JWT", "", true},
		"plain JWT":                   {"JWT", "", true},
		"without a type":              {"", "", true},
		"Keycloak access token":       {"JWT", `,"typ":"Bearer"`, true},
		"Keycloak ID token":           {"JWT", `,"typ":"ID"`, false},
		"Keycloak refresh token":      {"JWT", `,"typ":"Refresh"`, false},
		"a type that is a number":     {"JWT", `,"typ":7`, false},
		"logout token":                {"logout+jwt", `,"events":{}`, false},
		"logout token, plain":         {"JWT", `,"events":{}`, false},
		"ID token":                    {"JWT", `,"nonce":"n"`, false},
		"ID token, at_hash":           {"", `,"at_hash":"h"`, false},
		"ID token, c_hash":            {"", `,"c_hash":"h"`, false},
		"another type":                {"dpop+jwt", "", false},
		"bound to a key":              {"at+jwt", `,"cnf":{"jkt":"x"}`, false},
		"two subjects":                {"at+jwt", `,"sub":"u2"`, false},
		"a subject in upper case":     {"at+jwt", `,"Sub":"u2"`, false},
		"a subject with a long s":     {"at+jwt", `,"\u017fub":"u2"`, false},
		"an audience in upper case":   {"at+jwt", `,"AUD":"x"`, false},
		"an expiry in upper case":     {"at+jwt", `,"Exp":9999999999`, false},
		"another claim in upper case": {"at+jwt", `,"Name":"x","name":"y"`, true},
	} {
		payload := fmt.Sprintf(`{"iss":%q,"sub":"u1","aud":"%s/mcp","exp":%d%s}`, f.URL, publicURL,
			f.clock.Now().Add(time.Minute).Unix(), c.extra)
		got, _, err := f.login.Agent(t.Context(), f.SignText(c.typ, payload))
		if c.ok && (got != "oauth:u1" || err != nil) || !c.ok && !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	// The JSON form of a signed token can have two dots as well.
	parts := strings.Split(f.Sign(f.access()), ".")
	written := fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q,"x":".."}`, parts[0], parts[1], parts[2])
	if got, _, err := f.login.Agent(t.Context(), written); !errors.Is(err, login.ErrInvalid) {
		t.Errorf("written as JSON: got %q, %v", got, err)
	}
}

// Ten minutes after the issuer withdrew a key, tokens that were signed with the key are rejected.
func TestTokensOfWithdrawnKeyAreRejected(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Minute, 59 * time.Minute, 100 * time.Minute} {
		f := newFixture(t)
		old := f.Sign(f.access().With(logintest.Claims{"exp": f.clock.Now().Add(100 * time.Hour).Unix()}))
		if _, _, err := f.login.Agent(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		f.Rotate()
		f.clock.advance(after)
		if got, _, err := f.login.Agent(t.Context(), old); !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%v later: got %q, %v", after, got, err)
		}
	}
}

// Known keys are used for an hour after the issuer was last reached, without a request
// for each token.
func TestKnownKeysAreUsedForAnHour(t *testing.T) {
	f := newFixture(t)
	token := f.Sign(f.access().With(logintest.Claims{"exp": f.clock.Now().Add(100 * time.Hour).Unix()}))
	accepted := func(when string) {
		t.Helper()
		if _, _, err := f.login.Agent(t.Context(), token); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	accepted("at first")
	f.clock.advance(10 * time.Minute)
	if err := f.login.Reach(t.Context()); err != nil { // Reach reads the keys without a token
		t.Error(err)
	}
	f.Answer(http.StatusBadGateway)
	f.clock.advance(30 * time.Second)
	accepted("half a minute after it was reached")
	f.clock.advance(58 * time.Minute)
	asked := f.Asked("/.well-known/openid-configuration")
	for range 10 {
		accepted("nearly an hour later")
	}
	if n := f.Asked("/.well-known/openid-configuration") - asked; n != 1 {
		t.Errorf("the issuer was asked %d times, want once", n)
	}
	f.clock.advance(2 * time.Minute)
	if _, _, err := f.login.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("more than an hour later: got %v, want %v", err, login.ErrUnreachable)
	}
	f.Answer(0)
	f.clock.advance(failureTTL)
	accepted("reachable again")
}

// If the keys cannot be fetched, a token is not reported as invalid, because the agent would discard an
// invalid token.
func TestUnavailableKeysDoNotRejectTokens(t *testing.T) {
	for name, keys := range map[string]string{"empty": " ", "HTML": "<html>", "truncated": `{"keys":`} {
		f := newFixture(t)
		f.Keys = keys
		for range 2 {
			if got, _, err := f.login.Agent(t.Context(), f.Sign(f.access())); !errors.Is(err, login.ErrUnreachable) {
				t.Errorf("%s: got %q, %v; want %v", name, got, err, login.ErrUnreachable)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) { // the keys are requested a second time, without a reply
		blocked, metadata := make(blockingTransport), logintest.Claims{
			"issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a",
			"token_endpoint": "https://id.example.com/t",
			"jwks_uri":       "https://id.example.com/k", "keys": []any{},
		}
		i := login.NewIssuer(login.Settings{
			Issuer: "https://id.example.com", ClientID: "askback", PublicURL: publicURL,
			Transport: &switchingTransport{metadata, blocked, 2},
		})
		if err := i.Reach(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		go func() { <-blocked }()
		token := "eyJhbGciOiJFUzI1NiIsImtpZCI6IngifQ." + base64.RawURLEncoding.EncodeToString(
			[]byte(`{"iss":"https://id.example.com"}`),
		) + "." + strings.Repeat("A", 86)
		if got, _, err := i.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
			t.Errorf("without a reply: got %q, %v; want %v", got, err, login.ErrUnreachable)
		}
	})
}

// switchingTransport uses first for some requests, and then another transport.
type switchingTransport struct {
	first http.RoundTripper
	then  http.RoundTripper
	left  int // requests for first
}

func (s *switchingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.left--; s.left >= 0 {
		return s.first.RoundTrip(r)
	}
	return s.then.RoundTrip(r)
}

// The metadata of an issuer that is reached by https must not name an http URL.
func TestHTTPSIssuerWithHTTPEndpointIsRejected(t *testing.T) {
	for _, at := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"} {
		metadata := logintest.Claims{
			"issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a",
			"token_endpoint": "https://id.example.com/t",
			"jwks_uri":       "https://id.example.com/k", "userinfo_endpoint": "https://id.example.com/u",
		}.With(logintest.Claims{at: "http://id.example.com/x"})
		i := login.NewIssuer(login.Settings{
			Issuer: "https://id.example.com", ClientID: "askback", PublicURL: publicURL, Transport: metadata,
		})
		if err := i.Reach(t.Context()); !errors.Is(err, login.ErrUnreachable) ||
			!strings.Contains(err.Error(), "http://id.example.com/x") {
			t.Errorf("%s: got %v", at, err)
		}
	}
}

// Concurrent callers share one request to the issuer. Each can give up while the issuer
// does not reply.
func TestConcurrentFetchesShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked, start := make(blockingTransport), time.Now()
		i := login.NewIssuer(login.Settings{
			Issuer: "https://id.example.com", ClientID: "askback", PublicURL: publicURL, Transport: blocked,
		})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if err := i.Reach(ctx); !errors.Is(err, login.ErrUnreachable) {
					t.Errorf("got %v, want %v", err, login.ErrUnreachable)
				}
			})
		}
		<-blocked // the request has begun
		synctest.Wait()
		cancel()
		group.Wait()
		if waited := time.Since(start); waited != 0 {
			t.Errorf("callers that gave up waited for %v", waited)
		}
		synctest.Wait()
		select {
		case <-blocked:
			t.Error("there was a second request")
		case <-time.After(time.Minute): // the request has timed out
		}
	})
}

// blockingTransport never replies. It sends a value for each request.
type blockingTransport chan struct{}

func (b blockingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	b <- struct{}{}
	<-r.Context().Done()
	return nil, r.Context().Err()
}
