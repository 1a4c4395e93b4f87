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

	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/login/logintest"
)

// browser is somebody who signs in.
type browser struct {
	cookies map[string]*http.Cookie
}

func (b *browser) request(path string) *http.Request {
	r := httptest.NewRequest("GET", public+path, nil)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	return r
}

// attempt is the cookie of the one attempt that was begun.
func (b *browser) attempt(t *testing.T) *http.Cookie {
	t.Helper()
	for _, c := range b.cookies {
		if len(b.cookies) == 1 {
			return c
		}
	}
	t.Fatalf("the browser has %v", b.cookies)
	return nil
}

func (b *browser) keep(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if b.cookies == nil {
			b.cookies = map[string]*http.Cookie{}
		}
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
}

// begin goes to the issuer and returns the path of ours where it sends the browser.
func (b *browser) begin(t *testing.T, i *login.Issuer, to string) string {
	t.Helper()
	w := httptest.NewRecorder()
	address, err := i.Begin(w, b.request("/login/oidc"), to, false)
	if err != nil {
		t.Fatal(err)
	}
	b.keep(w)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, ok := strings.CutPrefix(res.Header.Get("Location"), public)
	if !ok {
		t.Fatalf("the issuer sends the browser to %q", res.Header.Get("Location"))
	}
	return back
}

func (b *browser) finish(i *login.Issuer, back string) (email, to string, err error) {
	w := httptest.NewRecorder()
	email, to, err = i.Finish(w, b.request(back))
	b.keep(w)
	return email, to, err
}

var ana = logintest.Claims{"sub": "u1", "email": "Ana@example.com", "email_verified": true}

// Somebody signs in, comes back to what they wanted to see, and nothing of it is left
// in the browser.
func TestSomebodySignsIn(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
	var b browser
	back := b.begin(t, p.login, "/asks/ask_1")
	if c := b.attempt(t); !strings.HasPrefix(c.Name, "__Host-askback-attempt-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 600 {
		t.Errorf("the cookie of the attempt is %v", c)
	}
	email, to, err := b.finish(p.again(), back) // any process can end what another began
	if email != "Ana@example.com" || to != "/asks/ask_1" || err != nil {
		t.Errorf("got %q, %q, %v", email, to, err)
	}
	if len(b.cookies) != 0 {
		t.Errorf("the browser keeps %v", b.cookies)
	}
	if _, _, err := b.finish(p.login, back); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("once more: got %v, want %v", err, login.ErrAttempt)
	}
}

// Whoever the issuer is not sure of does not get in.
func TestWhoIsNotLetIn(t *testing.T) {
	stranger := logintest.Claims{"sub": "u2", "email": "ana@example.com", "email_verified": true}
	for name, c := range map[string]struct {
		change func(*place)
		want   error
	}{
		"denied":              {func(p *place) { p.Person = nil }, login.ErrDenied},
		"a wrong secret":      {func(p *place) { p.ClientSecret = "changed" }, login.ErrClient},
		"not verified":        {func(p *place) { p.Person = ana.With(logintest.Claims{"email_verified": false}) }, login.ErrUnverified},
		"nothing said of it":  {func(p *place) { p.Person = ana.With(logintest.Claims{"email_verified": nil}); p.Info = p.Person }, login.ErrSilent},
		"no address":          {func(p *place) { p.Person = ana.With(logintest.Claims{"email": nil}); p.Info = p.Person }, login.ErrSilent},
		"asked, no answer":    {func(p *place) { p.Person = ana.With(logintest.Claims{"email": nil}) }, login.ErrUnreachable},
		"asked, another one":  {func(p *place) { p.Person = ana.With(logintest.Claims{"email": nil}); p.Info = stranger }, login.ErrInvalid},
		"another client's":    {token(logintest.Claims{"aud": "other"}), login.ErrInvalid},
		"another issuer's":    {token(logintest.Claims{"iss": "https://other.example.com"}), login.ErrInvalid},
		"of another log-in":   {token(logintest.Claims{"nonce": "n"}), login.ErrInvalid},
		"of no log-in":        {token(logintest.Claims{"nonce": nil}), login.ErrInvalid},
		"over":                {token(logintest.Claims{"exp": 1}), login.ErrInvalid},
		"about nobody":        {token(logintest.Claims{"sub": nil}), login.ErrInvalid},
		"says another issuer": {callback("iss", "https://other.example.com"), login.ErrInvalid},
		"another state":       {callback("state", "x"), login.ErrAttempt},
		"no state":            {callback("state", ""), login.ErrAttempt},
		"another code":        {callback("code", "x"), login.ErrDenied},
		"no code":             {callback("code", ""), login.ErrDenied},
	} {
		p := newPlace(t)
		p.Person = ana
		c.change(p)
		var b browser
		email, to, err := b.finish(p.login, b.begin(t, p.login, "/asks/ask_1"))
		if !errors.Is(err, c.want) || email != "" {
			t.Errorf("%s: got %q, %v; want %v", name, email, err, c.want)
		}
		if knows := to == "/asks/ask_1"; knows == errors.Is(c.want, login.ErrAttempt) {
			t.Errorf("%s: they go on to %q", name, to)
		}
		// One that this browser did not begin ends none that it did.
		if kept := len(b.cookies) != 0; kept != errors.Is(c.want, login.ErrAttempt) {
			t.Errorf("%s: the browser keeps %v", name, b.cookies)
		}
	}
}

func token(changes logintest.Claims) func(*place) {
	return func(p *place) { p.Token = func(c logintest.Claims) logintest.Claims { return c.With(changes) } }
}

func callback(key, value string) func(*place) {
	return func(p *place) { p.Callback = func(v url.Values) { v.Set(key, value) } }
}

// Where the token does not say it, the issuer is asked.
func TestTheIssuerIsAskedAboutAPerson(t *testing.T) {
	p := newPlace(t)
	p.Person, p.Info = logintest.Claims{"sub": "u1"}, ana
	var b browser
	if email, _, err := b.finish(p.login, b.begin(t, p.login, "/")); email != "Ana@example.com" || err != nil {
		t.Errorf("got %q, %v", email, err)
	}
}

// Nobody can end in another's browser what they began in their own: they would be
// logged in there as whoever they like.
func TestALogInIsEndedWhereItBegan(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
	var mallory, victim, own browser
	back := mallory.begin(t, p.login, "/")
	if _, _, err := victim.finish(p.login, back); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("a browser that began nothing: got %v, want %v", err, login.ErrAttempt)
	}
	own.begin(t, p.login, "/")
	if _, _, err := own.finish(p.login, back); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("a browser that began another: got %v, want %v", err, login.ErrAttempt)
	}
	// A code that was stolen on the way is of no use in an attempt of one's own.
	stolen, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := url.Parse(own.begin(t, p.login, "/"))
	if err != nil {
		t.Fatal(err)
	}
	q := mine.Query()
	q.Set("code", stolen.Query().Get("code"))
	if email, _, err := own.finish(p.login, mine.Path+"?"+q.Encode()); !errors.Is(err, login.ErrDenied) {
		t.Errorf("a stolen code: got %q, %v; want %v", email, err, login.ErrDenied)
	}
}

// A log-in leads to pages of this server alone.
func TestALogInLeadsNowhereElse(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
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
		if _, got, err := b.finish(p.login, b.begin(t, p.login, to)); got != want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", to, got, err, want)
		}
	}
}

// A cookie that somebody wrote is none, and one that is old neither.
func TestAForgedAttemptIsNone(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
	var b browser
	back := b.begin(t, p.login, "/")
	is := *b.attempt(t)
	good, err := base64.RawURLEncoding.DecodeString(is.Value)
	if err != nil {
		t.Fatal(err)
	}
	other := append(slices.Clone(good[:32]), bytes.Replace(good[32:], []byte(`"t":"/"`), []byte(`"t":"/grants"`), 1)...)
	for name, value := range map[string]string{
		"nothing": "", "a letter": "x", "no signature": base64.RawURLEncoding.EncodeToString(good[32:]),
		"another path": base64.RawURLEncoding.EncodeToString(other), "cut": is.Value[:len(is.Value)-4],
	} {
		r := httptest.NewRequest("GET", public+back, nil)
		r.AddCookie(&http.Cookie{Name: is.Name, Value: value})
		if _, _, err := p.login.Finish(httptest.NewRecorder(), r); !errors.Is(err, login.ErrAttempt) {
			t.Errorf("%s: got %v, want %v", name, err, login.ErrAttempt)
		}
	}
	stranger := login.NewIssuer(login.Settings{Issuer: p.URL, ClientID: p.ClientID, ClientSecret: p.ClientSecret, PublicURL: public, Now: p.clock.Now})
	if _, _, err := b.finish(stranger, back); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("signed with another key: got %v, want %v", err, login.ErrAttempt)
	}
	p.clock.pass(10 * time.Minute)
	if _, _, err := b.finish(p.login, back); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("ten minutes later: got %v, want %v", err, login.ErrAttempt)
	}
}

// Somebody can log in in several tabs at a time, though not in any number, and a link
// of a stranger ends none of it.
func TestTabsDoNotEndEachOther(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
	var b browser
	var backs []string
	for n := range 5 {
		backs = append(backs, b.begin(t, p.login, fmt.Sprint("/asks/ask_", n)))
	}
	if _, _, err := b.finish(p.login, login.CallbackPath+"?state=x&code=y"); !errors.Is(err, login.ErrAttempt) {
		t.Errorf("a stranger's: got %v", err)
	}
	for n, back := range backs {
		if _, to, err := b.finish(p.login, back); err != nil || to != fmt.Sprint("/asks/ask_", n) {
			t.Errorf("tab %d: got %q, %v", n, to, err)
		}
	}
	for range 20 {
		b.begin(t, p.login, "/")
	}
	if len(b.cookies) > 5 {
		t.Errorf("the browser keeps %d attempts", len(b.cookies))
	}
}

// Strangers cannot use up what the issuer allows us.
func TestLogInsDoNotFloodTheIssuer(t *testing.T) {
	p := newPlace(t)
	p.Person = nil
	p.Callback = func(v url.Values) { v.Del("error"); v.Set("code", "x") }
	many := 0
	for range 100 {
		var b browser
		_, _, err := b.finish(p.login, b.begin(t, p.login, "/"))
		if errors.Is(err, login.ErrTooMany) {
			many++
		} else if !errors.Is(err, login.ErrDenied) {
			t.Fatalf("got %v", err)
		}
	}
	if n := p.Asked("/token"); n > 20 || n+many != 100 {
		t.Errorf("the issuer was asked %d times, and %d were turned away", n, many)
	}
	p.clock.pass(time.Second)
	p.Callback, p.Person = nil, ana
	var b browser
	if _, _, err := b.finish(p.login, b.begin(t, p.login, "/")); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// Whoever was refused can choose another account.
func TestThePersonMayChoose(t *testing.T) {
	p := newPlace(t)
	for _, choose := range []bool{false, true} {
		address, err := p.login.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", public+"/login/oidc", nil), "/", choose)
		if err != nil || strings.Contains(address, "prompt=login") != choose {
			t.Errorf("got %s, %v", address, err)
		}
	}
}

func TestAnIssuerAwayEndsNoLogIn(t *testing.T) {
	p := newPlace(t)
	p.Person = ana
	p.Answer(http.StatusInternalServerError)
	if _, err := p.login.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", public+"/login/oidc", nil), "/", false); !errors.Is(err, login.ErrUnreachable) {
		t.Errorf("to begin: got %v, want %v", err, login.ErrUnreachable)
	}
	p.Answer(0)
	p.clock.pass(badTime)
	var b browser
	back := b.begin(t, p.login, "/asks/ask_1")
	p.Answer(http.StatusInternalServerError)
	if _, to, err := b.finish(p.login, back); !errors.Is(err, login.ErrUnreachable) || to != "/asks/ask_1" {
		t.Errorf("to end: got %q, %v; want %v", to, err, login.ErrUnreachable)
	}
}
