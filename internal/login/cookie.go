// Package login authenticates browsers by the cookie of this server, and people and
// agents by an issuer of OpenID Connect.
package login

import (
	"net/http"
	"time"

	"github.com/askback/askback/internal/loopback"
)

// The names of the session cookie. A browser accepts the prefix __Host- only over https,
// and sends the cookie to this host alone. On loopback there is no https.
const (
	secureCookie = "__Host-askback"
	plainCookie  = "askback"
)

// cookieName returns the name of the session cookie for a request, or "" if the cookie
// would be sent in the clear.
func cookieName(r *http.Request) string {
	switch {
	case r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https":
		return secureCookie
	case loopback.IsHost(r.Host):
		return plainCookie
	}
	return ""
}

// Secure reports whether a request came over https.
func Secure(r *http.Request) bool { return cookieName(r) == secureCookie }

// Possible reports whether a browser that sent this request can stay logged in: over
// https, or on loopback.
func Possible(r *http.Request) bool { return cookieName(r) != "" }

// Secret returns the secret in the session cookie of a request, or "".
func Secret(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SetCookie sets the session cookie for a time. It reports whether that is [Possible].
func SetCookie(w http.ResponseWriter, r *http.Request, secret string, lifetime time.Duration) bool {
	if !Possible(r) {
		return false
	}
	cookie := newCookie(r)
	cookie.Value, cookie.MaxAge = secret, int(lifetime.Seconds())
	http.SetCookie(w, cookie)
	return true
}

// ClearCookie deletes the session cookie.
func ClearCookie(w http.ResponseWriter, r *http.Request) {
	if !Possible(r) {
		return
	}
	cookie := newCookie(r)
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

func newCookie(r *http.Request) *http.Cookie {
	name := cookieName(r)
	return &http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: name == secureCookie, SameSite: http.SameSiteLaxMode}
}
