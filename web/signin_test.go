package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/web"
)

// vouches is an issuer that finds out at once what it is told to.
type vouches struct {
	email string
	err   error
	to    string
}

func (v *vouches) Name() string { return "id.example.com" }

func (v *vouches) Begin(_ http.ResponseWriter, _ *http.Request, to string) (string, error) {
	v.to = to
	return "https://id.example.com/authorize", v.err
}

func (v *vouches) Finish(http.ResponseWriter, *http.Request) (email, to string, err error) {
	return v.email, v.to, v.err
}

const home = "https://ask.example.com"

func issued(t *testing.T) (*house, *vouches) {
	h, v := newHouse(t), &vouches{}
	h.engine.Set(engine.Settings{People: []askback.Person{{Name: "ana", Email: "ana@example.com"}}})
	h.handler = web.New(h.engine, &web.Options{Now: func() time.Time { return h.now }, Issuer: v, PublicURL: home})
	return h, v
}

// Whoever is not logged in is led to the issuer, and from there to what they wanted to
// see.
func TestTheWayInLeadsBack(t *testing.T) {
	h, v := issued(t)
	a := h.ask(single)
	nobody := browser{h, ""}
	page := nobody.open("/asks/"+a.ID, http.StatusUnauthorized)
	at := page.one(t, ".notice .button")
	if got := at.attr["href"]; got != home+"/login/oidc?to=%2Fasks%2F"+a.ID || at.words() != "Sign in with id.example.com" {
		t.Errorf("the way in is %q: %s", got, at.words())
	}
	if strings.Contains(page.words(), "database") {
		t.Errorf("a stranger reads %s", page.words())
	}
	w := h.do(nobody.request(http.MethodGet, "/login/oidc?to=%2Fasks%2F"+a.ID, nil))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://id.example.com/authorize" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	v.email = "Ana@example.com"
	w = h.do(nobody.request(http.MethodGet, login.CallbackPath+"?code=x&state=y", nil))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/asks/"+a.ID || len(cookies) != 1 || cookies[0].MaxAge != int(askback.SignInTime.Seconds()) {
		t.Fatalf("got %d %v", w.Code, w.Header())
	}
	got := browser{h, cookies[0].Value}.settles(a, url.Values{"action": {"answer"}, "q1": {"0"}})
	if got.By.Name != "ana" || got.Via != askback.ViaWeb {
		t.Errorf("it was answered by %+v via %s", got.By, got.Via)
	}
}

// Each way not to get in has its page, with a way to try again, and no cookie.
func TestWhyNobodyIsSignedIn(t *testing.T) {
	for name, c := range map[string]struct {
		email  string
		err    error
		status int
		says   string
	}{
		"a stranger":     {"<b>eve</b>@example.com", nil, 403, "<b>eve</b>@example.com"},
		"another":        {"", login.ErrAttempt, 403, "did not begin in this browser"},
		"not verified":   {"", login.ErrUnverified, 403, "has not confirmed"},
		"denied":         {"", fmt.Errorf("%w: <i>secret</i>", login.ErrDenied), 403, "did not let you in"},
		"a broken token": {"", login.ErrInvalid, 403, "did not let you in"},
		"away":           {"", fmt.Errorf("%w: secret", login.ErrUnreachable), 503, "does not answer"},
	} {
		h, v := issued(t)
		v.email, v.err, v.to = c.email, c.err, "/asks/ask_1"
		r := browser{h, ""}.request(http.MethodGet, login.CallbackPath, nil)
		w := h.do(r)
		page := browser{h, ""}.page(w, c.status)
		if !strings.Contains(page.words(), c.says) || strings.Contains(page.words(), "secret") {
			t.Errorf("%s: the page says %s", name, page.words())
		}
		if len(w.Result().Cookies()) != 0 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %v", name, w.Header())
		}
		page.one(t, ".notice .button")
		if c.status == 503 {
			if again := h.do(browser{h, ""}.request(http.MethodGet, "/login/oidc?to=/", nil)); again.Code != 503 || again.Header().Get("Retry-After") == "" {
				t.Errorf("%s, to begin: got %d %v", name, again.Code, again.Header())
			}
		}
	}
}

// A log-in that would travel in the clear is not begun, nor ended.
func TestNobodySignsInInTheClear(t *testing.T) {
	h, v := issued(t)
	v.email = "ana@example.com"
	for _, path := range []string{"/login/oidc", login.CallbackPath} {
		r := browser{h, ""}.request(http.MethodGet, path, nil)
		r.Host = "ask.example.com"
		if w := h.do(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
	}
}

// Without an issuer there is no such door.
func TestWithoutAnIssuerNobodySignsIn(t *testing.T) {
	h := newHouse(t)
	for _, path := range []string{"/login/oidc", login.CallbackPath} {
		browser{h, ""}.open(path, http.StatusNotFound)
	}
	if page := (browser{h, ""}).open("/", http.StatusUnauthorized); len(page.all(".notice .button")) != 0 {
		t.Error("the page leads to an issuer")
	}
}
