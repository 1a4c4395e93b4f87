package login

import (
	"net/http"
	"time"
)

// returnPathCookie returns the cookie for the page that a person opened before the
// log-in.
func returnPathCookie(r *http.Request) *http.Cookie {
	cookie := newCookie(r)
	cookie.Name += "-to"
	return cookie
}

// SetReturnPath stores the path of a page in a cookie, to return to it after the log-in.
// The cookie expires after lifetime.
func SetReturnPath(w http.ResponseWriter, r *http.Request, path string, lifetime time.Duration) {
	if !Possible(r) {
		return
	}
	cookie := returnPathCookie(r)
	cookie.Value, cookie.MaxAge = localPath(path), int(lifetime.Seconds())
	http.SetCookie(w, cookie)
}

// TakeReturnPath returns the path that [SetReturnPath] stored and deletes the cookie.
// The path is always one of this server, and "/" if there is none.
func TakeReturnPath(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(returnPathCookie(r).Name)
	if err != nil {
		return "/"
	}
	deleteCookie(w, r, cookie.Name)
	return localPath(cookie.Value)
}
