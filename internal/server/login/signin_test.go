package login_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/server/login/logintest"
)

// A browser keeps cookies between requests.
type browser struct {
	cookies map[string]*http.Cookie
}

func (b *browser) request(path string) *http.Request {
	r := httptest.NewRequest("GET", publicURL+path, nil)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	return r
}

// pending returns the cookie of the only pending login.
func (b *browser) pending(t *testing.T) *http.Cookie {
	t.Helper()
	for _, c := range b.cookies {
		if len(b.cookies) == 1 {
			return c
		}
	}
	t.Fatalf("the browser has %v", b.cookies)
	return nil
}

func (b *browser) setCookies(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if b.cookies == nil {
			b.cookies = map[string]*http.Cookie{}
		}
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
}

// begin begins a log-in and returns the path to which the issuer redirects the browser.
func (b *browser) begin(t *testing.T, i *login.Issuer, to string) string {
	t.Helper()
	w := httptest.NewRecorder()
	address, err := i.Begin(w, b.request("/login/oidc"), to, false)
	if err != nil {
		t.Fatal(err)
	}
	b.setCookies(w)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	callback, ok := strings.CutPrefix(res.Header.Get("Location"), publicURL)
	if !ok {
		t.Fatalf("the issuer redirects the browser to %q", res.Header.Get("Location"))
	}
	return callback
}

func (b *browser) finish(i *login.Issuer, callback string) (email, to string, err error) {
	w := httptest.NewRecorder()
	email, to, err = i.Finish(w, b.request(callback))
	b.setCookies(w)
	return email, to, err
}

var ana = logintest.Claims{"sub": "u1", "email": "Ana@example.com", "email_verified": true}

// A person logs in, returns to the page they opened, and the browser keeps no cookie of
// the log-in.
func TestLogInReturnsToThePage(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	var b browser
	callback := b.begin(t, f.login, "/asks/ask_1")
	if c := b.pending(t); !strings.HasPrefix(c.Name, "__Host-askback-attempt-") || !c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 600 {
		t.Errorf("the cookie of the pending login is %v", c)
	}
	email, to, err := b.finish(f.newServer(), callback) // another process than the process that began the log-in
	if email != "Ana@example.com" || to != "/asks/ask_1" || err != nil {
		t.Errorf("got %q, %q, %v", email, to, err)
	}
	if len(b.cookies) != 0 {
		t.Errorf("the browser keeps %v", b.cookies)
	}
	if _, _, err := b.finish(f.login, callback); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("a second time: got %v, want %v", err, login.ErrNotPending)
	}
}

func TestFailedLogInReturnsItsError(t *testing.T) {
	stranger := logintest.Claims{"sub": "u2", "email": "ana@example.com", "email_verified": true}
	for name, c := range map[string]struct {
		change func(*fixture)
		want   error
	}{
		"denied":         {func(f *fixture) { f.Person = nil }, login.ErrDenied},
		"a wrong secret": {func(f *fixture) { f.ClientSecret = "changed" }, login.ErrClient},
		"not verified": {
			func(f *fixture) { f.Person = ana.With(logintest.Claims{"email_verified": false}) }, login.ErrUnverified,
		},
		"not known": {
			func(f *fixture) { f.Person = ana.With(logintest.Claims{"email_verified": nil}); f.Info = f.Person },
			login.ErrNoEmail,
		},
		"no e-mail": {
			func(f *fixture) { f.Person = ana.With(logintest.Claims{"email": nil}); f.Info = f.Person },
			login.ErrNoEmail,
		},
		"no UserInfo": {
			func(f *fixture) { f.Person = ana.With(logintest.Claims{"email": nil}) }, login.ErrUnreachable,
		},
		"UserInfo of another": {
			func(f *fixture) { f.Person = ana.With(logintest.Claims{"email": nil}); f.Info = stranger },
			login.ErrInvalid,
		},
		"another audience": {token(logintest.Claims{"aud": "other"}), login.ErrInvalid},
		"another issuer":   {token(logintest.Claims{"iss": "https://other.example.com"}), login.ErrInvalid},
		"another nonce":    {token(logintest.Claims{"nonce": "n"}), login.ErrInvalid},
		"no nonce":         {token(logintest.Claims{"nonce": nil}), login.ErrInvalid},
		"expired":          {token(logintest.Claims{"exp": 1}), login.ErrInvalid},
		"no subject":       {token(logintest.Claims{"sub": nil}), login.ErrInvalid},
		"another iss":      {callback("iss", "https://other.example.com"), login.ErrInvalid},
		"another state":    {callback("state", "x"), login.ErrNotPending},
		"no state":         {callback("state", ""), login.ErrNotPending},
		"another code":     {callback("code", "x"), login.ErrDenied},
		"no code":          {callback("code", ""), login.ErrDenied},
	} {
		f := newFixture(t)
		f.Person = ana
		c.change(f)
		var b browser
		email, to, err := b.finish(f.login, b.begin(t, f.login, "/asks/ask_1"))
		if !errors.Is(err, c.want) || email != "" {
			t.Errorf("%s: got %q, %v; want %v", name, email, err, c.want)
		}
		if known := to == "/asks/ask_1"; known == errors.Is(c.want, login.ErrNotPending) {
			t.Errorf("%s: returns to %q", name, to)
		}
		// A callback with another state must not end the log-in of this browser.
		if kept := len(b.cookies) != 0; kept != errors.Is(c.want, login.ErrNotPending) {
			t.Errorf("%s: the browser keeps %v", name, b.cookies)
		}
	}
}

func token(changes logintest.Claims) func(*fixture) {
	return func(f *fixture) { f.Token = func(c logintest.Claims) logintest.Claims { return c.With(changes) } }
}

func callback(key, value string) func(*fixture) {
	return func(f *fixture) { f.Callback = func(v url.Values) { v.Set(key, value) } }
}

// If the ID token has no e-mail address, it is read from the UserInfo endpoint.
func TestEmailIsReadFromUserInfo(t *testing.T) {
	f := newFixture(t)
	f.Person, f.Info = logintest.Claims{"sub": "u1"}, ana
	var b browser
	if email, _, err := b.finish(f.login, b.begin(t, f.login, "/")); email != "Ana@example.com" || err != nil {
		t.Errorf("got %q, %v", email, err)
	}
}

// A log-in that began in one browser cannot end in another. Otherwise, an attacker could
// log a victim in as another person (login CSRF), or log in with a stolen code.
func TestLogInEndsInTheBrowserThatBeganIt(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	var mallory, victim, own browser
	callback := mallory.begin(t, f.login, "/")
	if _, _, err := victim.finish(f.login, callback); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("a browser that has begun none: got %v, want %v", err, login.ErrNotPending)
	}
	own.begin(t, f.login, "/")
	if _, _, err := own.finish(f.login, callback); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("a browser that has begun another: got %v, want %v", err, login.ErrNotPending)
	}
	// A stolen code cannot be used in another log-in.
	stolen, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	ownCallback, err := url.Parse(own.begin(t, f.login, "/"))
	if err != nil {
		t.Fatal(err)
	}
	q := ownCallback.Query()
	q.Set("code", stolen.Query().Get("code"))
	if email, _, err := own.finish(f.login, ownCallback.Path+"?"+q.Encode()); !errors.Is(err, login.ErrDenied) {
		t.Errorf("a stolen code: got %q, %v; want %v", email, err, login.ErrDenied)
	}
}

func TestLogInReturnsOnlyToLocalPaths(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	for to, want := range map[string]string{
		"/asks/ask_1":            "/asks/ask_1",
		"/grants?x=1#y":          "/grants",
		"":                       "/",
		"asks":                   "/",
		"https://evil.example":   "/",
		"//evil.example":         "/",
		"///evil.example":        "/",
		"/\\evil.example":        "/",
		"\\\\evil.example":       "/",
		"/%5cevil.example":       "/",
		"/%2fevil.example":       "/",
		"/\tevil":                "/",
		"javascript:alert(1)":    "/",
		"http:evil.example":      "/",
		"https:/evil.example":    "/",
		"/\r\nSet-Cookie: a=b":   "/",
		"//user@evil.example/..": "/",
	} {
		var b browser
		if _, got, err := b.finish(f.login, b.begin(t, f.login, to)); got != want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", to, got, err, want)
		}
	}
}

func TestForgedOrExpiredPendingLoginIsRejected(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	var b browser
	callback := b.begin(t, f.login, "/")
	cookie := *b.pending(t)
	good, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		t.Fatal(err)
	}
	other := append(slices.Clone(good[:32]), bytes.Replace(good[32:], []byte(`"t":"/"`), []byte(`"t":"/grants"`), 1)...)
	for name, value := range map[string]string{
		"nothing": "", "one letter": "x", "no signature": base64.RawURLEncoding.EncodeToString(good[32:]),
		"another path": base64.RawURLEncoding.EncodeToString(other), "cut": cookie.Value[:len(cookie.Value)-4],
	} {
		r := httptest.NewRequest("GET", publicURL+callback, nil)
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
		if _, _, err := f.login.Finish(httptest.NewRecorder(), r); !errors.Is(err, login.ErrNotPending) {
			t.Errorf("%s: got %v, want %v", name, err, login.ErrNotPending)
		}
	}
	otherKey := login.NewIssuer(login.Settings{
		Issuer: f.URL, ClientID: f.ClientID, ClientSecret: f.ClientSecret, PublicURL: publicURL, Now: f.clock.Now,
	})
	if _, _, err := b.finish(otherKey, callback); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("signed with another key: got %v, want %v", err, login.ErrNotPending)
	}
	f.clock.advance(10 * time.Minute)
	if _, _, err := b.finish(f.login, callback); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("ten minutes later: got %v, want %v", err, login.ErrNotPending)
	}
}

// A pending log-in is valid only for its own state. If its cookie has the name for another state, the log-in
// is rejected.
func TestPendingLoginIsForItsState(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	var first, second browser
	first.begin(t, f.login, "/")
	callback := second.begin(t, f.login, "/")
	r := httptest.NewRequest("GET", publicURL+callback, nil)
	r.AddCookie(&http.Cookie{Name: second.pending(t).Name, Value: first.pending(t).Value})
	if _, _, err := f.login.Finish(httptest.NewRecorder(), r); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("got %v, want %v", err, login.ErrNotPending)
	}
}

// Several tabs can log in at a time, up to a limit. The link of an attacker ends none of these log-ins.
func TestTabsLogInIndependently(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	var b browser
	var callbacks []string
	for n := range 5 {
		callbacks = append(callbacks, b.begin(t, f.login, fmt.Sprint("/asks/ask_", n)))
	}
	if _, _, err := b.finish(f.login, login.CallbackPath+"?state=x&code=y"); !errors.Is(err, login.ErrNotPending) {
		t.Errorf("an unknown state: got %v", err)
	}
	for n, callback := range callbacks {
		if _, to, err := b.finish(f.login, callback); err != nil || to != fmt.Sprint("/asks/ask_", n) {
			t.Errorf("tab %d: got %q, %v", n, to, err)
		}
	}
	for range 20 {
		b.begin(t, f.login, "/")
	}
	if len(b.cookies) > 5 {
		t.Errorf("the browser keeps %d pending logins", len(b.cookies))
	}
}

// Strangers cannot use up the rate limit that the issuer has for this server.
func TestCodeExchangesAreLimited(t *testing.T) {
	f := newFixture(t)
	f.Person = nil
	f.Callback = func(v url.Values) { v.Del("error"); v.Set("code", "x") }
	limited := 0
	for range 100 {
		var b browser
		_, _, err := b.finish(f.login, b.begin(t, f.login, "/"))
		if errors.Is(err, login.ErrTooMany) {
			limited++
		} else if !errors.Is(err, login.ErrDenied) {
			t.Fatalf("got %v", err)
		}
	}
	if n := f.Asked("/token"); n > 20 || n+limited != 100 {
		t.Errorf("the issuer was asked %d times, and %d log-ins were limited", n, limited)
	}
	f.clock.advance(time.Second)
	f.Callback, f.Person = nil, ana
	var b browser
	if _, _, err := b.finish(f.login, b.begin(t, f.login, "/")); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// If choose is set, the issuer asks the person to log in again, so a person can choose
// another account.
func TestPersonCanChooseAnotherAccount(t *testing.T) {
	f := newFixture(t)
	for _, choose := range []bool{false, true} {
		address, err := f.login.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", publicURL+"/login/oidc", nil),
			"/", choose)
		if err != nil || strings.Contains(address, "prompt=login") != choose {
			t.Errorf("got %s, %v", address, err)
		}
	}
}

func TestLogInFailsWhileIssuerIsUnreachable(t *testing.T) {
	f := newFixture(t)
	f.Person = ana
	f.Answer(http.StatusInternalServerError)
	if _, err := f.login.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", publicURL+"/login/oidc", nil), "/",
		false); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("begin: got %v, want %v", err, login.ErrUnreachable)
	}
	f.Answer(0)
	f.clock.advance(failureTTL)
	var b browser
	callback := b.begin(t, f.login, "/asks/ask_1")
	f.Answer(http.StatusInternalServerError)
	if _, to, err := b.finish(f.login, callback); !errors.Is(err, login.ErrUnreachable) || to != "/asks/ask_1" {
		t.Errorf("finish: got %q, %v; want %v", to, err, login.ErrUnreachable)
	}
}
