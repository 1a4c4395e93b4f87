// Package login authenticates browsers by a session cookie, and people and agents by an
// issuer of OpenID Connect.
package login

import (
	"net/http"
	"time"

	"github.com/askback/askback/internal/egress"
)

// The names of the session cookie, by https and on loopback. A browser accepts the prefix
// __Host- only over https, and sends the cookie to this host alone.
const (
	secureCookie = "__Host-askback"
	plainCookie  = "askback"
)

// cookieName returns the name of the session cookie for a request. It returns "" unless the request came over
// https or on loopback, because other people could read the cookie.
func cookieName(r *http.Request) string {
	switch {
	case r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https":
		return secureCookie
	case egress.IsLoopback(r.Host):
		return plainCookie
	}
	return ""
}

// Secure reports whether a request came over https, to this server or to a proxy that sets
// X-Forwarded-Proto.
func Secure(r *http.Request) bool { return cookieName(r) == secureCookie }

// Possible reports whether a browser that sent r can stay logged in. This is the case if r came over https,
// or on loopback.
func Possible(r *http.Request) bool { return cookieName(r) != "" }

// Secret returns the secret in the session cookie of a request, or "".
func Secret(r *http.Request) string { return cookieValue(r, "") }

// SetCookie sets the session cookie with a lifetime. If this is not [Possible], it does nothing and returns
// false.
func SetCookie(w http.ResponseWriter, r *http.Request, secret string, lifetime time.Duration) bool {
	return setCookie(w, r, "", secret, lifetime)
}

// ClearCookie deletes the session cookie.
func ClearCookie(w http.ResponseWriter, r *http.Request) { deleteCookie(w, r, "") }

// returnPathSuffix is the suffix of the cookie for the page to which a person returns after
// the log-in.
const returnPathSuffix = "-to"

// SetReturnPath stores the path of a page in a cookie, without its query and fragment. After the log-in, the
// person returns to this page. The cookie expires after lifetime. If this is not [Possible], SetReturnPath
// does nothing.
func SetReturnPath(w http.ResponseWriter, r *http.Request, path string, lifetime time.Duration) {
	setCookie(w, r, returnPathSuffix, localPath(path), lifetime)
}

// TakeReturnPath returns the path that [SetReturnPath] stored and deletes the cookie. The path always leads
// to this server. It is "/" if no path was stored.
func TakeReturnPath(w http.ResponseWriter, r *http.Request) string {
	path := cookieValue(r, returnPathSuffix)
	if path != "" {
		deleteCookie(w, r, returnPathSuffix)
	}
	return localPath(path)
}

// setCookie sets a cookie whose name is the name of the session cookie with a suffix. If this is not
// [Possible], it does nothing and returns false. The cookie is Lax, because the issuer redirects back from
// another site.
func setCookie(w http.ResponseWriter, r *http.Request, suffix, value string, lifetime time.Duration) bool {
	name := cookieName(r)
	if name == "" {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: name + suffix, Value: value, MaxAge: int(lifetime.Seconds()),
		Path: "/", HttpOnly: true, Secure: name == secureCookie, SameSite: http.SameSiteLaxMode,
	})
	return true
}

// deleteCookie deletes the cookie with a suffix.
func deleteCookie(w http.ResponseWriter, r *http.Request, suffix string) {
	setCookie(w, r, suffix, "", -time.Second)
}

// cookieValue returns the value of the cookie with a suffix, or "".
func cookieValue(r *http.Request, suffix string) string {
	cookie, err := r.Cookie(cookieName(r) + suffix)
	if err != nil || !Possible(r) {
		return ""
	}
	return cookie.Value
}
