package login_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
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
	})
}

// access is what a token of an agent says.
func (p *place) access() logintest.Claims {
	return logintest.Claims{"iss": p.URL, "sub": "u1", "aud": public + "/mcp", "exp": p.clock.Now().Add(time.Minute).Unix()}
}

// A token names an agent after whoever it works for, by what nobody else can be.
func TestATokenNamesItsAgent(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		says logintest.Claims
		want string
	}{
		"a subject":             {nil, "oauth-sub:u1"},
		"several audiences":     {logintest.Claims{"aud": []string{"x", public + "/mcp"}}, "oauth-sub:u1"},
		"a verified address":    {logintest.Claims{"email": "Ana@example.com", "email_verified": true}, "oauth:ana@example.com"},
		"verified as a text":    {logintest.Claims{"email": "ana@example.com", "email_verified": "true"}, "oauth:ana@example.com"},
		"not verified":          {logintest.Claims{"email": "ana@example.com", "email_verified": false}, "oauth-sub:u1"},
		"nothing said of that":  {logintest.Claims{"email": "ana@example.com"}, "oauth-sub:u1"},
		"a number for that":     {logintest.Claims{"email": "ana@example.com", "email_verified": 1}, "oauth-sub:u1"},
		"no address":            {logintest.Claims{"email": "ana", "email_verified": true}, "oauth-sub:u1"},
		"an address and a name": {logintest.Claims{"email": "Ana <ana@example.com>", "email_verified": true}, "oauth-sub:u1"},
		"one that looks alike":  {logintest.Claims{"email": "аna@example.com", "email_verified": true}, "oauth-sub:u1"},
		// At some issuers people choose their subject.
		"a subject like an address": {logintest.Claims{"sub": "ana@example.com"}, "oauth-sub:ana@example.com"},
		"a subject that hides":      {logintest.Claims{"sub": "u1\u200b"}, "oauth-sub:sha256:"},
		"a long subject":            {logintest.Claims{"sub": strings.Repeat("u", 101)}, "oauth-sub:sha256:"},
	} {
		got, err := p.login.Agent(t.Context(), p.Sign(p.access().With(c.says)))
		if hashed, _, ok := strings.Cut(c.want, "sha256:"); ok {
			if err != nil || !strings.HasPrefix(got, hashed+"sha256:") || len(got) != len(hashed)+len("sha256:")+43 {
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
	if _, err := p.login.Agent(t.Context(), good); err != nil {
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
		"what tells who logged in":     p.Sign(p.access().With(logintest.Claims{"nonce": "n"})),
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
		if got, err := p.login.Agent(t.Context(), token); !errors.Is(err, login.ErrInvalid) {
			t.Errorf("%s: got %q, %v; want %v", name, got, err, login.ErrInvalid)
		}
	}
	p.clock.pass(time.Minute + time.Second)
	if got, err := p.login.Agent(t.Context(), good); !errors.Is(err, login.ErrInvalid) {
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
		if got, err := p.login.Agent(t.Context(), token); !errors.Is(err, login.ErrUnreachable) {
			t.Errorf("away: got %q, %v; want %v", got, err, login.ErrUnreachable)
		}
	}
	if n := p.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("it was asked %d times in a moment, want once", n)
	}
	p.Answer(0)
	p.clock.pass(badTime)
	if got, err := p.login.Agent(t.Context(), token); got != "oauth-sub:u1" || err != nil {
		t.Errorf("back: got %q, %v", got, err)
	}
	p.Answer(http.StatusBadGateway)
	p.clock.pass(time.Minute)
	if got, err := p.login.Agent(t.Context(), token); got != "oauth-sub:u1" || err != nil {
		t.Errorf("away again, with keys that are known: got %q, %v", got, err)
	}
	p.Rotate()
	if got, err := p.login.Agent(t.Context(), p.Sign(p.access())); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("away, with a key that nobody knows: got %q, %v; want %v", got, err, login.ErrUnreachable)
	}
}

// New keys are seen, and forged tokens do not make us ask for them all the time.
func TestKeysAreReadOnceInAWhile(t *testing.T) {
	p := newPlace(t)
	if _, err := p.login.Agent(t.Context(), p.Sign(p.access())); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, err := p.login.Agent(t.Context(), p.Forge(p.access())); !errors.Is(err, login.ErrInvalid) {
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
	if _, err := p.login.Agent(t.Context(), p.Sign(p.access())); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	if n := p.Asked("/keys"); n != 2 {
		t.Errorf("the keys were read %d times, want twice", n)
	}
}
