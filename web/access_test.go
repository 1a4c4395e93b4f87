package web_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// Without a cookie, no page reveals anything about an ask. Asks of other people get the same page as unknown
// asks (T20).
func TestPagesWithoutALogInRevealNoAsk(t *testing.T) {
	h := newServer(t)
	r := single
	r.To = []string{"ben"}
	a := h.ask(r)
	anonymous, ana := browser{h, ""}, h.browser("ana")
	for _, secret := range []string{"", "askback_wrong"} {
		page := browser{h, secret}.open("/asks/"+a.ID, http.StatusUnauthorized)
		if got := page.one(t, ".command").visibleText(); got != "askback login" {
			t.Errorf("how to log in: %q", got)
		}
	}
	same := func(one, other *http.Request) {
		t.Helper()
		got, want := h.do(one), h.do(other)
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s %s and %s can be told apart", one.Method, one.URL.Path, other.URL.Path)
		}
	}
	same(anonymous.request(http.MethodGet, "/asks/"+a.ID, nil),
		anonymous.request(http.MethodGet, "/asks/ask_none", nil))
	same(ana.request(http.MethodGet, "/asks/"+a.ID, nil), ana.request(http.MethodGet, "/asks/ask_none", nil))
	answer := url.Values{"action": {"answer"}, "q1": {"0"}}
	same(ana.request(http.MethodPost, "/asks/"+a.ID, answer), ana.request(http.MethodPost, "/asks/ask_none", answer))
	ana.open("/asks/"+a.ID, http.StatusNotFound)
	ana.open("/nowhere", http.StatusNotFound)
	ana.open("/assets/page.css", http.StatusNotFound)
	h.browser("ben").open("/asks/"+a.ID, http.StatusOK).one(t, "form.ask")
}

// Agents and operators can neither read nor settle asks on the pages, whatever they send. An administrator
// can read and settle asks (T1).
func TestAgentsAndOperatorsAreRejected(t *testing.T) {
	for _, kind := range []askback.Kind{askback.Agent, askback.Operator} {
		h := newServer(t)
		a := h.ask(single)
		c := h.ask(call)
		b := browser{h, h.secret(kind, "bot")}
		for _, path := range []string{"/", "/asks/" + a.ID, "/asks/" + c.ID} {
			page := b.open(path, http.StatusForbidden)
			if strings.Contains(page.visibleText(), "database") {
				t.Errorf("%s reads %s", kind, path)
			}
		}
		for _, action := range []string{"answer", "decline", "approve", "deny"} {
			for _, id := range []string{a.ID, c.ID} {
				b.send("/asks/"+id, url.Values{"action": {action}, "q1": {"0"}}, http.StatusForbidden)
			}
		}
		if h.get(a.ID).Settled() || h.get(c.ID).Settled() {
			t.Errorf("%s settled something", kind)
		}
	}
	h := newServer(t)
	a := h.ask(single)
	admin := browser{h, h.secret(askback.Admin, "root")}
	admin.settle(a, url.Values{"action": {"answer"}, "q1": {"0"}})
}

// A secret in the header Authorization does not open a page, nor does a cookie that has
// expired.
func TestOnlyAValidCookieLogsIn(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	secret := h.secret(askback.Responder, "ana")
	r := browser{h, ""}.request(http.MethodGet, "/asks/"+a.ID, nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	if w := h.do(r); w.Code != http.StatusUnauthorized {
		t.Errorf("a bearer token: %d", w.Code)
	}
	anonymous := browser{h, ""}
	w := h.do(anonymous.request(http.MethodPost, "/login", url.Values{"secret": {h.link("ana")}}))
	b := browser{h, w.Result().Cookies()[0].Value}
	b.open("/", http.StatusOK)
	h.now = h.now.Add(limits.BrowserTime)
	b.open("/", http.StatusUnauthorized)
}

// The cases combine each Sec-Fetch-Site with each Origin and method, with and without a cookie (T11).
func TestCrossSiteFormsChangeNothing(t *testing.T) {
	sites := map[string]bool{"same-origin": true, "none": true, "same-site": false, "cross-site": false, "": true}
	origins := map[string]bool{
		"": true, "null": false, "http://127.0.0.1:7575": true, "http://127.0.0.1:9999": false,
		"https://evil.example": false,
	}
	for site, siteOK := range sites {
		for origin, originOK := range origins {
			for _, cookie := range []bool{true, false} {
				for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"} {
					h := newServer(t)
					a := h.ask(call)
					b := browser{h, ""}
					if cookie {
						b = h.browser("ana")
					}
					r := b.request(method, "/asks/"+a.ID, url.Values{"action": {"approve"}})
					r.Header.Del("Sec-Fetch-Site")
					if site != "" {
						r.Header.Set("Sec-Fetch-Site", site)
					}
					if origin != "" {
						r.Header.Set("Origin", origin)
					}
					w := h.do(r)
					// Sec-Fetch-Site takes precedence over Origin.
					ours := siteOK && (site != "" || originOK)
					want := method == "POST" && cookie && ours
					if got := h.get(a.ID).Settled(); got != want {
						t.Errorf("%s from %q, origin %q, cookie %v: settled %v, status %d", method, site, origin,
							cookie, got, w.Code)
					}
					if !ours && (method == "POST" || method == "PUT") && w.Code != http.StatusForbidden {
						t.Errorf("%s from %q, origin %q: status %d", method, site, origin, w.Code)
					}
				}
			}
		}
	}
}

// The check for cross-site requests also protects the log-in and the log-out.
func TestCrossSiteFormsDoNotLogIn(t *testing.T) {
	h := newServer(t)
	for _, path := range []string{"/login", "/logout"} {
		r := h.browser("ana").request(http.MethodPost, path, url.Values{"secret": {h.link("eve")}})
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if w := h.do(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: status %d, cookies %v", path, w.Code, w.Result().Cookies())
		}
	}
}

// A GET or HEAD with a cookie, a token and the query of a form changes nothing.
func TestGetChangesNothing(t *testing.T) {
	h := newServer(t)
	held := h.grant(askback.ScopeTool)
	asks := []askback.Ask{h.ask(single), h.ask(call), h.ask(form)}
	link := h.link("ana")
	b := h.browser("ana")
	query := "?action=approve&q1=0&secret=" + link + "&_method=POST"
	for range 2 {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, path := range []string{
				"/", "/login", "/logout", "/grants", "/grants/" + held.ID + "/revoke", "/asks/" + asks[0].ID,
				"/asks/" + asks[1].ID, "/asks/" + asks[2].ID,
			} {
				r := b.request(method, path+query, nil)
				r.Header.Set("Authorization", "Bearer "+b.secret)
				r.Header.Set("X-HTTP-Method-Override", "POST")
				if w := h.do(r); len(w.Result().Cookies()) != 0 {
					t.Errorf("%s %s sets a cookie", method, path)
				}
			}
		}
	}
	for _, a := range asks {
		got := h.get(a.ID)
		if got.Settled() || len(got.Claims) != 0 {
			t.Errorf("%s is %s, claimed %d times", a.ID, got.Status, len(got.Claims))
		}
	}
	if a := h.ask(harmless); !a.Settled() {
		t.Error("the standing approval is over")
	}
	w := h.do(browser{h, ""}.request(http.MethodPost, "/login", url.Values{"secret": {link}}))
	if w.Code != http.StatusSeeOther {
		t.Errorf("the link is spent: status %d", w.Code)
	}
}

// The page of a log-in link has one button. Only this button logs in, and only once. After
// the log-out, the cookie is not valid.
func TestLogInLinkWorksOnce(t *testing.T) {
	h := newServer(t)
	anonymous := browser{h, ""}
	secret := h.link("ana")
	path := web.LoginPath(secret)
	w := h.do(anonymous.request(http.MethodGet, path, nil))
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: %s", got)
	}
	page := anonymous.page(w, http.StatusOK)
	page.one(t, "button")
	form := page.one(t, "form[method=post][action=/login]")
	filled := url.Values{"secret": {form.one(t, "input").attr["value"]}}
	w = h.do(anonymous.request(http.MethodPost, "/login", filled))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("status %d, %v", w.Code, w.Header())
	}
	c := w.Result().Cookies()[0]
	ana := browser{h, c.Value}
	if got := ana.open("/", http.StatusOK).one(t, ".top .username").visibleText(); got != "ana" {
		t.Errorf("logged in as %q", got)
	}
	if got := ana.open(path, http.StatusOK).one(t, ".notice .username").visibleText(); got != "ana" {
		t.Errorf("the next link says %q is logged in", got)
	}
	for _, secret := range []string{secret, "", "askback_wrong"} {
		page := anonymous.send("/login", url.Values{"secret": {secret}}, http.StatusForbidden)
		if !strings.Contains(page.visibleText(), "This link has expired") {
			t.Error(page.visibleText())
		}
	}
	old := h.link("ana")
	h.now = h.now.Add(limits.LoginTime)
	anonymous.send("/login", url.Values{"secret": {old}}, http.StatusForbidden)
	anonymous.open("/login", http.StatusUnauthorized)
	w = h.do(ana.request(http.MethodPost, "/logout", url.Values{}))
	if c := w.Result().Cookies()[0]; w.Code != http.StatusSeeOther || c.MaxAge >= 0 || c.Name != "askback" {
		t.Errorf("log-out: status %d, %+v", w.Code, c)
	}
	if w := h.do(ana.request(http.MethodGet, "/", nil)); w.Code != http.StatusUnauthorized {
		t.Errorf("a copy of the cookie after log-out: status %d, want %d", w.Code, http.StatusUnauthorized)
	}
}

// The scheme and the host determine the name of the cookie. If no cookie is possible, the
// page explains why, and the link stays valid.
func TestCookieDependsOnSchemeAndHost(t *testing.T) {
	for name, c := range map[string]struct {
		host  string
		tls   bool
		proxy bool
		want  string
	}{
		"https":                   {"ask.example.com", true, false, "__Host-askback"},
		"https by a proxy":        {"ask.example.com", false, true, "__Host-askback"},
		"https on loopback":       {"127.0.0.1:7575", true, false, "__Host-askback"},
		"loopback":                {"127.0.0.1:7575", false, false, "askback"},
		"loopback, another":       {"127.8.8.8", false, false, "askback"},
		"loopback, IPv6":          {"[::1]:7575", false, false, "askback"},
		"localhost":               {"localhost:7575", false, false, "askback"},
		"http elsewhere":          {"ask.example.com", false, false, ""},
		"http in a local network": {"192.168.1.5:7575", false, false, ""},
		"nearly localhost":        {"localhost.example.com", false, false, ""},
		"nearly an address":       {"127.0.0.1.example.com", false, false, ""},
		"a name for a trick":      {"rebind.example:7575", false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newServer(t)
			secret := h.link("ana")
			arrive := func(r *http.Request) *httptest.ResponseRecorder {
				r.Host = c.host
				if c.tls {
					r.TLS = &tls.ConnectionState{}
				}
				if c.proxy {
					r.Header.Set("X-Forwarded-Proto", "https")
				}
				return h.do(r)
			}
			anonymous := browser{h, ""}
			w := arrive(anonymous.request(http.MethodPost, "/login", url.Values{"secret": {secret}}))
			if c.want == "" {
				if w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 ||
					!strings.Contains(w.Body.String(), "plain http") {
					t.Errorf("status %d, cookies %v", w.Code, w.Result().Cookies())
				}
				stolen := browser{h, h.secret(askback.Responder, "ana")}
				if w := arrive(stolen.request(http.MethodGet, "/", nil)); w.Code != http.StatusForbidden {
					t.Errorf("a cookie in the clear: status %d", w.Code)
				}
				if w := h.do(
					anonymous.request(http.MethodPost, "/login", url.Values{"secret": {secret}}),
				); w.Code != http.StatusSeeOther {
					t.Errorf("the link is spent: status %d", w.Code)
				}
				return
			}
			got := w.Result().Cookies()[0]
			secure := c.want == "__Host-askback"
			if got.Name != c.want || got.Secure != secure || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode ||
				got.Path != "/" || got.Domain != "" || got.MaxAge != int(limits.BrowserTime.Seconds()) {
				t.Errorf("got %+v", got)
			}
			r := anonymous.request(http.MethodGet, "/", nil)
			r.AddCookie(&http.Cookie{Name: got.Name, Value: got.Value})
			if w := arrive(r); w.Code != http.StatusOK {
				t.Errorf("with its cookie: status %d", w.Code)
			}
			other := map[string]string{"askback": "__Host-askback", "__Host-askback": "askback"}[got.Name]
			r = anonymous.request(http.MethodGet, "/", nil)
			r.AddCookie(&http.Cookie{Name: other, Value: got.Value})
			if w := arrive(r); w.Code != http.StatusUnauthorized {
				t.Errorf("with the other cookie: status %d", w.Code)
			}
		})
	}
}

// Errors and static files have the headers, too. The pages have no inline styles or event handlers (T6, T7,
// T12).
func TestSecurityHeadersAreInEveryReply(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	ana := h.browser("ana")
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	css := page.one(t, "link[rel=stylesheet]").attr["href"]
	for path, status := range map[string]int{
		"/": 200, "/asks/" + a.ID: 200, "/asks/ask_none": 404, "/nowhere": 404, "/login": 200, "/logout": 404, css: 200,
	} {
		w := h.do(ana.request(http.MethodGet, path, nil))
		if w.Code != status {
			t.Errorf("%s: status %d, want %d", path, w.Code, status)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
				"connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; " +
				"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types askback",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	hashed := regexp.MustCompile(`^/(assets/[a-z-]+\.[0-9a-f]{16}\.(css|js|svg|png))$`)
	for _, n := range append(page.all("[src]"), page.all("link[href]:not([rel=manifest])")...) {
		at := n.attr["src"] + n.attr["href"]
		w := h.do(browser{h, ""}.request(http.MethodGet, at, nil))
		if w.Code != http.StatusOK || !hashed.MatchString(at) ||
			!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, %s", at, w.Code, w.Header().Get("Cache-Control"))
		}
	}
	for _, selector := range []string{"[style]", "style", "[onclick]", "[onload]", "[formaction]", "iframe"} {
		if len(page.all(selector)) != 0 {
			t.Errorf("there is a %s", selector)
		}
	}
}

// New requires only an Authenticator.
func TestNewAcceptsNilOptions(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	for _, o := range []*web.Options{nil, {}, {Zone: time.FixedZone("", 3600)}} {
		w := httptest.NewRecorder()
		web.New(e, e, e, o).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
		if w.Code != http.StatusUnauthorized {
			t.Errorf("status %d", w.Code)
		}
	}
}
