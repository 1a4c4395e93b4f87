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
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/web"
)

// A fakeIssuer is an issuer that returns the values that the test sets, and records calls of Begin.
type fakeIssuer struct {
	email  string
	err    error
	to     string
	choose bool
	begun  int
}

func (v *fakeIssuer) Address() string { return "https://id.example.com" }

func (v *fakeIssuer) Name() string { return "id.example.com" }

func (v *fakeIssuer) Begin(_ http.ResponseWriter, _ *http.Request, to string, choose bool) (string, error) {
	v.to, v.choose = to, choose
	v.begun++
	return "https://id.example.com/authorize", v.err
}

func (v *fakeIssuer) Finish(http.ResponseWriter, *http.Request) (email, to string, err error) {
	return v.email, v.to, v.err
}

const home = "http://127.0.0.1:7575"

func newServerWithIssuer(t *testing.T) (*server, *fakeIssuer) {
	h, v := newServer(t), &fakeIssuer{}
	h.engine.Set(engine.Settings{
		Issuer: "https://id.example.com", People: []askback.Person{{Name: "ana", Email: "ana@example.com"}},
	})
	h.setIssuer(v, home)
	return h, v
}

// setIssuer sets the issuer and the public address of the pages.
func (h *server) setIssuer(v *fakeIssuer, home string) {
	h.handler = web.New(h.engine, h.engine, h.engine,
		&web.Options{Now: func() time.Time { return h.now }, Issuer: v, PublicURL: home})
}

// A browser that is not logged in goes to the issuer, and returns to the page that it
// requested.
func TestSignInReturnsToTheAsk(t *testing.T) {
	h, v := newServerWithIssuer(t)
	a := h.ask(single)
	anonymous := browser{h, ""}
	page := anonymous.open("/asks/"+a.ID, http.StatusUnauthorized)
	at := page.one(t, ".notice .button")
	if got := at.attr["href"]; got != home+"/login/oidc?to=%2Fasks%2F"+a.ID ||
		at.visibleText() != "Log in with id.example.com" {
		t.Errorf("the way in is %q: %s", got, at.visibleText())
	}
	if strings.Contains(page.visibleText(), "database") {
		t.Errorf("a visitor reads %s", page.visibleText())
	}
	w := h.do(anonymous.request(http.MethodGet, "/login/oidc?to=%2Fasks%2F"+a.ID, nil))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://id.example.com/authorize" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	v.email = "Ana@example.com"
	w = h.do(anonymous.request(http.MethodGet, login.CallbackPath+"?code=x&state=y", nil))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/asks/"+a.ID || len(cookies) != 1 ||
		cookies[0].MaxAge != int(limits.SignInTime.Seconds()) {
		t.Fatalf("got %d %v", w.Code, w.Header())
	}
	got := browser{h, cookies[0].Value}.settle(a, url.Values{"action": {"answer"}, "q1": {"0"}})
	if got.Actor.Name != "ana" || got.Channel != askback.ChannelWeb {
		t.Errorf("it was answered by %+v via %s", got.Actor, got.Channel)
	}
}

// If the settings of the server are wrong, the page offers no retry, because a retry would fail, too.
func TestPermanentSignInErrorsOfferNoRetry(t *testing.T) {
	for name, broken := range map[string]func(*server, *fakeIssuer){
		"a wrong secret": func(_ *server, v *fakeIssuer) {
			v.err = fmt.Errorf("%w: invalid_client", login.ErrClient)
		},
		"an issuer that went": func(h *server, _ *fakeIssuer) {
			h.engine.Set(engine.Settings{Issuer: "https://id.example.org"})
		},
	} {
		h, v := newServerWithIssuer(t)
		v.email, v.to = "ana@example.com", "/"
		broken(h, v)
		page := browser{h, ""}.open(login.CallbackPath, http.StatusServiceUnavailable)
		if len(page.all(".notice .button")) != 0 || !strings.Contains(page.visibleText(),
			"Please tell the person who runs it") || page.one(t, ".command").visibleText() != "askback login" {
			t.Errorf("%s: %s", name, page.visibleText())
		}
	}
}

// After a failed sign-in, the page explains the error, offers a retry and sets no cookie.
func TestSignInErrorsOfferARetry(t *testing.T) {
	for name, c := range map[string]struct {
		email  string
		err    error
		status int
		says   string
	}{
		"unknown":        {"<b>eve</b>@example.com", nil, 403, "<b>eve</b>@example.com"},
		"expired":        {"", login.ErrNotPending, 403, "started in another browser"},
		"not verified":   {"", login.ErrUnverified, 403, "has not confirmed"},
		"no e-mail":      {"", login.ErrNoEmail, 403, "does not report whether"},
		"denied":         {"", fmt.Errorf("%w: <i>secret</i>", login.ErrDenied), 403, "rejected the log-in"},
		"a broken token": {"", login.ErrInvalid, 403, "rejected the log-in"},
		"unreachable":    {"", fmt.Errorf("%w: secret", login.ErrUnreachable), 503, "cannot be reached"},
	} {
		h, v := newServerWithIssuer(t)
		v.email, v.err, v.to = c.email, c.err, "/asks/ask_1"
		r := browser{h, ""}.request(http.MethodGet, login.CallbackPath, nil)
		w := h.do(r)
		page := browser{h, ""}.page(w, c.status)
		if !strings.Contains(page.visibleText(), c.says) || strings.Contains(page.visibleText(), "secret") {
			t.Errorf("%s: the page says %s", name, page.visibleText())
		}
		if len(w.Result().Cookies()) != 0 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %v", name, w.Header())
		}
		page.one(t, ".notice .button")
		if c.status == 503 {
			if again := h.do(browser{h, ""}.request(http.MethodGet, "/login/oidc?to=/", nil)); again.Code != 503 ||
				again.Header().Get("Retry-After") == "" {
				t.Errorf("%s, to begin: got %d %v", name, again.Code, again.Header())
			}
		}
	}
}

// A log-in over plain http from another machine is rejected at its start and its end. If the pages use https,
// only a cookie for https is set, whatever headers a proxy sends.
func TestSignInRequiresHTTPS(t *testing.T) {
	for name, c := range map[string]struct {
		home, host, proto string
		ok                bool
	}{
		"plain http elsewhere":      {"http://ask.example.com", "ask.example.com", "", false},
		"loopback":                  {home, "127.0.0.1:7575", "", true},
		"https":                     {"https://ask.example.com", "ask.example.com", "https", true},
		"a proxy that hides https":  {"https://ask.example.com", "ask.example.com", "", false},
		"a proxy that hides it all": {"https://ask.example.com", "127.0.0.1:7575", "", false},
		"a proxy that hides Host":   {"https://ask.example.com", "127.0.0.1:7575", "https", true},
	} {
		h, v := newServerWithIssuer(t)
		h.setIssuer(v, c.home)
		v.email, v.to = "ana@example.com", "/"
		for _, path := range []string{"/login/oidc", login.CallbackPath} {
			r := browser{h, ""}.request(http.MethodGet, path, nil)
			if r.Host = c.host; c.proto != "" {
				r.Header.Set("X-Forwarded-Proto", c.proto)
			}
			w := h.do(r)
			if ok := w.Code == http.StatusSeeOther; ok != c.ok || !ok && len(w.Result().Cookies()) != 0 {
				t.Errorf("%s, %s: got %d %v", name, path, w.Code, w.Header())
			}
			for _, cookie := range w.Result().Cookies() {
				if cookie.Secure != (c.proto == "https") {
					t.Errorf("%s, %s: got %v", name, path, cookie)
				}
			}
		}
	}
}

// A link on another site does not start a log-in, but leads to a page with a button.
func TestCrossSiteSignInRequiresConfirmation(t *testing.T) {
	for from, begins := range map[string]bool{
		"": true, "none": true, "same-origin": true, "cross-site": false, "same-site": false,
	} {
		h, v := newServerWithIssuer(t)
		r := browser{h, ""}.request(http.MethodGet, "/login/oidc?to=/grants&choose=1", nil)
		if from != "" {
			r.Header.Set("Sec-Fetch-Site", from)
		}
		w := h.do(r)
		if begun := v.begun == 1; begun != begins || (w.Code == http.StatusSeeOther) != begins {
			t.Errorf("%q: got %d, begun %t", from, w.Code, begun)
		}
		if begins && (v.to != "/grants" || !v.choose) {
			t.Errorf("%q: to %q, choose %t", from, v.to, v.choose)
		}
		if !begins {
			at := parse(t, w.Body.String()).one(t, ".notice .button")
			if got := at.attr["href"]; got != home+"/login/oidc?choose=1&to=%2Fgrants" {
				t.Errorf("%q: the page leads to %s", from, got)
			}
		}
	}
}

// The page for a form from a browser that is not logged in links to the log-in, which
// returns to the page of the form.
func TestSignInReturnsToThePageOfTheForm(t *testing.T) {
	h, _ := newServerWithIssuer(t)
	a := h.ask(single)
	for path, want := range map[string]string{
		"/asks/" + a.ID: "/asks/" + a.ID, "/asks/" + a.ID + "/claim": "/asks/" + a.ID,
		"/asks/" + a.ID + "/seen": "/asks/" + a.ID, "/grants/gr_1/revoke": "/grants",
	} {
		answer := url.Values{"action": {"answer"}, "q1": {"0"}}
		page := browser{h, ""}.send(path, answer, http.StatusUnauthorized)
		if got := page.one(t, ".notice .button").attr["href"]; got != home+"/login/oidc?to="+url.QueryEscape(want) {
			t.Errorf("%s leads to %s", path, got)
		}
		if !strings.Contains(page.visibleText(), "Nothing was sent") {
			t.Errorf("%s: %s", path, page.visibleText())
		}
	}
	if h.get(a.ID).Settled() {
		t.Error("it is answered")
	}
}

// The cookie of the browser's earlier log-in is revoked.
func TestSignInEndsTheEarlierSession(t *testing.T) {
	h, v := newServerWithIssuer(t)
	v.email, v.to = "ana@example.com", "/"
	var b browser
	for range 3 {
		old := b
		w := h.do(browser{h, b.secret}.request(http.MethodGet, login.CallbackPath, nil))
		b = browser{h, w.Result().Cookies()[0].Value}
		b.open("/", http.StatusOK)
		if old.secret != "" {
			old.open("/", http.StatusUnauthorized)
		}
	}
}

// A form is rejected if its sender is removed while the server reads it.
func TestRemovedPersonCannotFinishAForm(t *testing.T) {
	h, v := newServerWithIssuer(t)
	v.email, v.to = "ana@example.com", "/"
	a := h.ask(single)
	secret := h.do(browser{h, ""}.request(http.MethodGet, login.CallbackPath, nil)).Result().Cookies()[0].Value
	for _, path := range []string{"/asks/" + a.ID, "/grants/gr_1/revoke"} {
		h.engine.Set(engine.Settings{
			Issuer: "https://id.example.com", People: []askback.Person{{Name: "ana", Email: "ana@example.com"}},
		})
		r := browser{h, secret}.request(http.MethodPost, path, url.Values{})
		r.Body = slowBody{strings.NewReader(url.Values{"action": {"answer"}, "q1": {"0"}}.Encode()), func() {
			h.engine.Set(engine.Settings{})
		}}
		if w := h.do(r); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
	if h.get(a.ID).Settled() {
		t.Error("a removed person answered it")
	}
}

// slowBody is a body that calls the function during while the body is read.
type slowBody struct {
	*strings.Reader
	during func()
}

func (l slowBody) Read(p []byte) (int, error) { l.during(); return l.Reader.Read(p) }
func (l slowBody) Close() error               { return nil }

// Without an issuer, the paths for signing in are not found, and no page links to them.
func TestNoSignInWithoutAnIssuer(t *testing.T) {
	h := newServer(t)
	for _, path := range []string{"/login/oidc", login.CallbackPath} {
		browser{h, ""}.open(path, http.StatusNotFound)
	}
	if page := (browser{h, ""}).open("/", http.StatusUnauthorized); len(page.all(".notice .button")) != 0 {
		t.Error("the page leads to an issuer")
	}
}
