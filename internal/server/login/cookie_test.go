package login_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/askback/askback/internal/server/login"
)

// The name and the attributes of the cookie depend on the connection. The cookie is set only over https or on
// loopback.
func TestCookieMatchesTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		host   string
		tls    bool
		header string
		cookie string
		secure bool
	}{
		"https":                 {host: "ask.example.com", tls: true, cookie: "__Host-askback", secure: true},
		"https at a proxy":      {host: "ask.example.com", header: "https", cookie: "__Host-askback", secure: true},
		"http at a proxy":       {host: "ask.example.com", header: "http"},
		"http, then https":      {host: "ask.example.com", header: "http, https"},
		"loopback":              {host: "127.0.0.1:7575", cookie: "askback"},
		"loopback at a proxy":   {host: "127.0.0.1:7575", header: "http", cookie: "askback"},
		"another loopback":      {host: "127.8.8.8", cookie: "askback"},
		"loopback by name":      {host: "localhost:7575", cookie: "askback"},
		"loopback, IPv6":        {host: "[::1]:7575", cookie: "askback"},
		"plain http elsewhere":  {host: "ask.example.com"},
		"a private address":     {host: "192.168.1.5:7575"},
		"a name like localhost": {host: "localhost.example.com"},
	} {
		r := httptest.NewRequest("POST", "http://x/login", nil)
		r.Host = c.host
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if c.header != "" {
			r.Header.Set("X-Forwarded-Proto", c.header)
		}
		w := httptest.NewRecorder()
		if set := login.SetCookie(w, r, "secret", time.Hour); set != (c.cookie != "") || set != login.Possible(r) {
			t.Errorf("%s: set is %v", name, set)
		}
		cookies := w.Result().Cookies()
		if c.cookie == "" {
			if len(cookies) != 0 {
				t.Errorf("%s: got %v, want no cookie", name, cookies)
			}
			continue
		}
		got := cookies[0]
		if got.Name != c.cookie || got.Secure != c.secure || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode ||
			got.Path != "/" || got.Domain != "" || got.MaxAge != 3600 {
			t.Errorf("%s: got %v", name, got)
		}
		r.AddCookie(got)
		if secret := login.Secret(r); secret != "secret" {
			t.Errorf("%s: read %q back", name, secret)
		}
		out := httptest.NewRecorder()
		login.ClearCookie(out, r)
		if end := out.Result().Cookies(); len(end) != 1 || end[0].MaxAge >= 0 {
			t.Errorf("%s: clearing sets %v", name, end)
		}
	}
}

func TestLoopbackCookieIsIgnoredElsewhere(t *testing.T) {
	r := httptest.NewRequest("GET", "http://ask.example.com/", nil)
	r.AddCookie(&http.Cookie{Name: "askback", Value: "secret"})
	if got := login.Secret(r); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

// If the path in the return cookie was changed, the path still leads to this server.
func TestReturnPathLeadsToThisServer(t *testing.T) {
	for value, want := range map[string]string{
		"/asks/1": "/asks/1", "": "/", "https://evil.example/": "/", "//evil.example": "/", `/\evil.example`: "/",
		"evil.example": "/", "javascript:alert(1)": "/",
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/login", nil)
		r.Host = "127.0.0.1"
		r.Header.Set("Cookie", "askback-to="+value)
		if got := login.TakeReturnPath(httptest.NewRecorder(), r); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
