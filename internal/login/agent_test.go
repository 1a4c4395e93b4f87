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

	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/login/logintest"
)

const public = "https://ask.example.com"

// badTime is how long an issuer that did not answer is left alone.
const badTime = 2 * time.Second

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// place is an issuer and a server that trusts it.
type place struct {
	*logintest.Issuer
	login *login.Issuer
	clock *clock
}

func newPlace(t *testing.T) *place {
	p := &place{Issuer: logintest.New(t, "askback", "s3cret"), clock: &clock{now: time.Now()}}
	p.login = p.again()
	return p
}

// again is another server.
func (p *place) again() *login.Issuer {
	return login.NewIssuer(login.Settings{
		Issuer: p.URL, ClientID: p.ClientID, ClientSecret: p.ClientSecret, PublicURL: public, Now: p.clock.Now,
		Key: []byte("of all processes"),
	})
}

// access is what a token of an agent says.
func (p *place) access() logintest.Claims {
	return logintest.Claims{"iss": p.URL, "sub": "u1", "aud": public + "/mcp", "exp": p.clock.Now().Add(time.Minute).Unix()}
}

// A token names an agent after whoever it works for.
func TestATokenNamesItsAgent(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		says logintest.Claims
		want string
	}{
		"a subject":         {nil, "oauth:u1"},
		"several audiences": {logintest.Claims{"aud": []string{"x", public + "/mcp"}}, "oauth:u1"},
		// An address changes, and may be another's one day.
		"a verified address":        {logintest.Claims{"email": "ana@example.com", "email_verified": true}, "oauth:u1"},
		"a subject like an address": {logintest.Claims{"sub": "ana@example.com"}, "oauth:ana@example.com"},
		"a subject that hides":      {logintest.Claims{"sub": "u1\u200b"}, "oauth:sha256:"},
		"a subject like a hash":     {logintest.Claims{"sub": "sha256:x"}, "oauth:sha256:"},
		"a long subject":            {logintest.Claims{"sub": strings.Repeat("u", 101)}, "oauth:sha256:"},
	} {
		got, _, err := p.login.Agent(t.Context(), p.Sign(p.access().With(c.says)))
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

// What is not the issuer's, not for us, or over, opens nothing.
func TestOtherTokensAreRefused(t *testing.T) {
	p := newPlace(t)
	good := p.Sign(p.access())
	if _, _, err := p.login.Agent(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(good, ".")
	body, signed, _ := strings.Cut(rest, ".")
	other := logintest.New(t, "askback", "s3cret")
	for name, token := range map[string]string{
		"nothing":                      "",
		"one of ours":                  "askback_abc",
		"no token":                     "a.b.c",
		"dots alone":                   "..",
		"for another resource":         p.Sign(p.access().With(logintest.Claims{"aud": "https://other.example.com/mcp"})),
		"for the whole server":         p.Sign(p.access().With(logintest.Claims{"aud": public})),
		"for no one":                   p.Sign(p.access().With(logintest.Claims{"aud": nil})),
		"for a client":                 p.Sign(p.access().With(logintest.Claims{"aud": "askback"})),
		"over":                         p.Sign(p.access().With(logintest.Claims{"exp": p.clock.Now().Add(-time.Second).Unix()})),
		"without an end":               p.Sign(p.access().With(logintest.Claims{"exp": nil})),
		"not begun":                    p.Sign(p.access().With(logintest.Claims{"nbf": p.clock.Now().Add(time.Hour).Unix()})),
		"about nobody":                 p.Sign(p.access().With(logintest.Claims{"sub": nil})),
		"about an empty name":          p.Sign(p.access().With(logintest.Claims{"sub": ""})),
		"says another issuer":          p.Sign(p.access().With(logintest.Claims{"iss": other.URL})),
		"another issuer that says us":  other.Sign(p.access()),
		"another issuer":               other.Sign(p.access().With(logintest.Claims{"iss": other.URL})),
		"a key that is called alike":   p.Forge(p.access()),
		"no signature":                 p.SignAs("none", p.access()),
		"signed with the public key":   p.SignAs("HS256", p.access()),
		"signed in a way of no one":    p.SignAs("XX", p.access()),
		"a signature left out":         head + "." + body + ".",
		"a signature of something":     head + "." + body + "." + strings.Repeat("A", 86),
		"the signature of another one": head + "." + strings.Split(p.Sign(p.access().With(logintest.Claims{"sub": "u2"})), ".")[1] + "." + signed,
	} {
		if got, _, err := p.login.Agent(t.Context(), token); !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%s: got %q, %v; want %v", name, got, err, login.ErrInvalid)
		}
	}
	p.clock.pass(time.Minute + time.Second)
	if got, _, err := p.login.Agent(t.Context(), good); !errors.Is(err, login.ErrInvalid) {
		t.Errorf("a minute later: got %q, %v", got, err)
	}
}

// The issuer is asked when it is first needed, and a server waits for it without
// letting anybody in.
func TestAnIssuerMayBeAway(t *testing.T) {
	p := newPlace(t)
	token := p.Sign(p.access().With(logintest.Claims{"exp": p.clock.Now().Add(time.Hour).Unix()}))
	p.Answer(http.StatusBadGateway)
	for range 3 {
		if got, _, err := p.login.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
			t.Errorf("away: got %q, %v; want %v", got, err, login.ErrUnreachable)
		}
	}
	if n := p.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("it was asked %d times in a moment, want once", n)
	}
	p.Answer(0)
	p.clock.pass(badTime)
	if got, _, err := p.login.Agent(t.Context(), token); got != "oauth:u1" || err != nil {
		t.Errorf("back: got %q, %v", got, err)
	}
	p.Answer(http.StatusBadGateway)
	p.clock.pass(time.Minute)
	if got, _, err := p.login.Agent(t.Context(), token); got != "oauth:u1" || err != nil {
		t.Errorf("away again, with keys that are known: got %q, %v", got, err)
	}
	p.Rotate()
	if got, _, err := p.login.Agent(t.Context(), p.Sign(p.access())); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("away, with a key that nobody knows: got %q, %v; want %v", got, err, login.ErrUnreachable)
	}
}

// New keys are seen, and forged tokens do not make us ask for them all the time.
func TestKeysAreReadOnceInAWhile(t *testing.T) {
	p := newPlace(t)
	if _, _, err := p.login.Agent(t.Context(), p.Sign(p.access())); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, _, err := p.login.Agent(t.Context(), p.Forge(p.access())); !errors.Is(err, login.ErrInvalid) {
				t.Errorf("got %v, want %v", err, login.ErrInvalid)
			}
		})
	}
	group.Wait()
	if n := p.Asked("/keys"); n != 1 {
		t.Errorf("the keys were read %d times in a moment, want once", n)
	}
	p.Rotate()
	p.clock.pass(10 * time.Second)
	if _, _, err := p.login.Agent(t.Context(), p.Sign(p.access())); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	if n := p.Asked("/keys"); n != 2 {
		t.Errorf("the keys were read %d times, want twice", n)
	}
}

// What people know an agent by is an address that the issuer verified, and one that can
// be read and stand as a label: nothing else becomes an ask's.
func TestATokenLabelsItsAgent(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		email    any
		verified any
		want     string
	}{
		"verified":            {"ana@example.com", true, "ana@example.com"},
		"verified, as a text": {"ana@example.com", "true", "ana@example.com"},
		"not verified":        {"ana@example.com", false, ""},
		"nothing said of it":  {"ana@example.com", nil, ""},
		"a number for it":     {"ana@example.com", 1, ""},
		"no address":          {"ana", true, ""},
		"a name beside it":    {"Ana <ana@example.com>", true, ""},
		"one that looks like": {"\u0430na@example.com", true, ""},
		"one that is long":    {strings.Repeat("a", 60) + "@" + strings.Repeat("b", 60) + ".example.com", true, ""},
		"a list of them":      {[]string{"ana@example.com"}, true, ""},
	} {
		agent, got, err := p.login.Agent(t.Context(), p.Sign(p.access().With(logintest.Claims{"email": c.email, "email_verified": c.verified})))
		if agent != "oauth:u1" || got != c.want || err != nil {
			t.Errorf("%s: got %q, %q, %v; want %q", name, agent, got, err, c.want)
		}
	}
}

// Of the tokens that an issuer signs for us, those open the door that are meant to
// open one (RFC 9068).
func TestOnlyAccessTokensOpenTheDoor(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		kind string
		more string
		ok   bool
	}{
		"as RFC 9068 has it":         {"at+jwt", "", true},
		"in full":                    {"application/at+jwt", "", true},
		"in capitals":                {"AT+JWT", "", true},
		"a plain one":                {"JWT", "", true},
		"of no type":                 {"", "", true},
		"Keycloak's":                 {"JWT", `,"typ":"Bearer"`, true},
		"Keycloak's of an identity":  {"JWT", `,"typ":"ID"`, false},
		"Keycloak's to renew":        {"JWT", `,"typ":"Refresh"`, false},
		"a type that is no text":     {"JWT", `,"typ":7`, false},
		"of a log-out":               {"logout+jwt", `,"events":{}`, false},
		"of a log-out, plain":        {"JWT", `,"events":{}`, false},
		"of an identity":             {"JWT", `,"nonce":"n"`, false},
		"of an identity, with hash":  {"", `,"at_hash":"h"`, false},
		"of an identity, with a c":   {"", `,"c_hash":"h"`, false},
		"of another type":            {"dpop+jwt", "", false},
		"bound to a key":             {"at+jwt", `,"cnf":{"jkt":"x"}`, false},
		"two subjects":               {"at+jwt", `,"sub":"u2"`, false},
		"a subject in capitals":      {"at+jwt", `,"Sub":"u2"`, false},
		"a subject with a long s":    {"at+jwt", `,"\u017fub":"u2"`, false},
		"an audience in capitals":    {"at+jwt", `,"AUD":"x"`, false},
		"an end in capitals":         {"at+jwt", `,"Exp":9999999999`, false},
		"something else in capitals": {"at+jwt", `,"Name":"x","name":"y"`, true},
	} {
		payload := fmt.Sprintf(`{"iss":%q,"sub":"u1","aud":"%s/mcp","exp":%d%s}`, p.URL, public, p.clock.Now().Add(time.Minute).Unix(), c.more)
		got, _, err := p.login.Agent(t.Context(), p.SignText(c.kind, payload))
		if c.ok && (got != "oauth:u1" || err != nil) || !c.ok && !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	// The other form of a signed token has as many dots if one likes.
	parts := strings.Split(p.Sign(p.access()), ".")
	written := fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q,"x":".."}`, parts[0], parts[1], parts[2])
	if got, _, err := p.login.Agent(t.Context(), written); !errors.Is(err, login.ErrInvalid) {
		t.Errorf("written as JSON: got %q, %v", got, err)
	}
}

// A key that the issuer does not publish any more opens nothing after ten minutes.
func TestAKeyThatIsWithdrawnOpensNothing(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Minute, 59 * time.Minute, 100 * time.Minute} {
		p := newPlace(t)
		old := p.Sign(p.access().With(logintest.Claims{"exp": p.clock.Now().Add(100 * time.Hour).Unix()}))
		if _, _, err := p.login.Agent(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		p.Rotate()
		p.clock.pass(after)
		if got, _, err := p.login.Agent(t.Context(), old); !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%v later: got %q, %v", after, got, err)
		}
	}
}

// An issuer that is away keeps nobody out whose key is known, for an hour since it
// was there, and is not asked all the time.
func TestWhatIsKnownHoldsForAWhile(t *testing.T) {
	p := newPlace(t)
	token := p.Sign(p.access().With(logintest.Claims{"exp": p.clock.Now().Add(100 * time.Hour).Unix()}))
	good := func(when string) {
		t.Helper()
		if _, _, err := p.login.Agent(t.Context(), token); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	good("at first")
	p.clock.pass(10 * time.Minute)
	if err := p.login.Reach(t.Context()); err != nil { // nobody's token is looked at
		t.Error(err)
	}
	p.Answer(http.StatusBadGateway)
	p.clock.pass(30 * time.Second)
	good("half a minute after it was there")
	p.clock.pass(58 * time.Minute)
	asked := p.Asked("/.well-known/openid-configuration")
	for range 10 {
		good("nearly an hour later")
	}
	if n := p.Asked("/.well-known/openid-configuration") - asked; n != 1 {
		t.Errorf("it was asked %d times in a moment, want once", n)
	}
	p.clock.pass(2 * time.Minute)
	if _, _, err := p.login.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("after that: got %v, want %v", err, login.ErrUnreachable)
	}
	p.Answer(0)
	p.clock.pass(badTime)
	good("when it is back")
}

// Keys that cannot be had make no token a bad one: its agent would throw it away.
func TestKeysThatCannotBeHadAreNoRefusal(t *testing.T) {
	for name, keys := range map[string]string{"nothing": " ", "a page": "<html>", "half": `{"keys":`} {
		p := newPlace(t)
		p.Keys = keys
		for range 2 {
			if got, _, err := p.login.Agent(t.Context(), p.Sign(p.access())); !errors.Is(err, login.ErrUnreachable) {
				t.Errorf("%s: got %q, %v; want %v", name, got, err, login.ErrUnreachable)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) { // keys that hang, when a new one is wanted
		hangs, says := make(hanging), logintest.Claims{
			"issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a", "token_endpoint": "https://id.example.com/t",
			"jwks_uri": "https://id.example.com/k", "keys": []any{},
		}
		i := login.NewIssuer(login.Settings{Issuer: "https://id.example.com", ClientID: "askback", PublicURL: public, Transport: &turning{says, hangs, 2}})
		if err := i.Reach(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		go func() { <-hangs }()
		token := "eyJhbGciOiJFUzI1NiIsImtpZCI6IngifQ." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://id.example.com"}`)) + "." + strings.Repeat("A", 86)
		if got, _, err := i.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
			t.Errorf("hanging: got %q, %v; want %v", got, err, login.ErrUnreachable)
		}
	})
}

// turning is one transport for some requests, and then another.
type turning struct {
	first http.RoundTripper
	then  http.RoundTripper
	left  int
}

func (x *turning) RoundTrip(r *http.Request) (*http.Response, error) {
	if x.left--; x.left >= 0 {
		return x.first.RoundTrip(r)
	}
	return x.then.RoundTrip(r)
}

// An issuer that is reached by https says nothing that leads over http.
func TestAnIssuerStaysWithHTTPS(t *testing.T) {
	for _, at := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"} {
		says := logintest.Claims{
			"issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a", "token_endpoint": "https://id.example.com/t",
			"jwks_uri": "https://id.example.com/k", "userinfo_endpoint": "https://id.example.com/u",
		}.With(logintest.Claims{at: "http://id.example.com/x"})
		i := login.NewIssuer(login.Settings{Issuer: "https://id.example.com", ClientID: "askback", PublicURL: public, Transport: says})
		if err := i.Reach(t.Context()); !errors.Is(err, login.ErrUnreachable) || !strings.Contains(err.Error(), "http://id.example.com/x") {
			t.Errorf("%s: got %v", at, err)
		}
	}
}

// Whoever waits for an issuer that hangs can go, and those who wait share one look.
func TestNobodyHasToWaitForAnIssuerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs, begun := make(hanging), time.Now()
		i := login.NewIssuer(login.Settings{Issuer: "https://id.example.com", ClientID: "askback", PublicURL: public, Transport: hangs})
		ctx, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if err := i.Reach(ctx); !errors.Is(err, login.ErrUnreachable) {
					t.Errorf("got %v, want %v", err, login.ErrUnreachable)
				}
			})
		}
		<-hangs // the one look has begun
		synctest.Wait()
		leave()
		group.Wait()
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("who had gone waited for %v", waited)
		}
		synctest.Wait()
		select {
		case <-hangs:
			t.Error("it was looked twice")
		case <-time.After(time.Minute): // the look ends by itself
		}
	})
}

// hanging never answers.
type hanging chan struct{}

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h <- struct{}{}
	<-r.Context().Done()
	return nil, r.Context().Err()
}
