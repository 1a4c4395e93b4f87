// Package login finds out who somebody is: a browser by our cookie, a person or an
// agent by an issuer of OpenID Connect.
package login

import (
	"net/http"
	"time"

	"github.com/askback/askback/internal/loopback"
)

// The names of the cookie. A browser takes __Host- only over https, for this
// host alone and all its paths; on loopback there is no https to ask for.
const (
	secureCookie      = "__Host-askback"
	plainCookie = "askback"
)

// name returns the cookie's name for how a request came, or "" where a cookie
// would travel in the clear.
func name(r *http.Request) string {
	switch {
	case r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https":
		return secureCookie
	case loopback.IsHost(r.Host):
		return plainCookie
	}
	return ""
}

// Secure says whether a browser came over https.
func Secure(r *http.Request) bool { return name(r) == secureCookie }

// Possible says whether a browser that came like this can stay logged in: over
// https, or on loopback.
func Possible(r *http.Request) bool { return name(r) != "" }

// Secret returns the secret that a browser shows, or "".
func Secret(r *http.Request) string {
	cookie, err := r.Cookie(name(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Keep gives a browser its secret for a time. It says whether that is possible.
func Keep(w http.ResponseWriter, r *http.Request, secret string, until time.Duration) bool {
	if !Possible(r) {
		return false
	}
	cookie := newCookie(r)
	cookie.Value, cookie.MaxAge = secret, int(until.Seconds())
	http.SetCookie(w, cookie)
	return true
}

// End makes a browser forget its secret.
func End(w http.ResponseWriter, r *http.Request) {
	if !Possible(r) {
		return
	}
	cookie := newCookie(r)
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

func newCookie(r *http.Request) *http.Cookie {
	n := name(r)
	return &http.Cookie{Name: n, Path: "/", HttpOnly: true, Secure: n == secureCookie, SameSite: http.SameSiteLaxMode}
}
