package login

import (
	"net/http"
	"time"
)

// destination is the cookie with the page that a person wanted to see before the log-in.
func destination(r *http.Request) *http.Cookie {
	cookie := newCookie(r)
	cookie.Name += "-to"
	return cookie
}

// Remember makes a browser keep the path of a page until it is logged in, at
// most for a time.
func Remember(w http.ResponseWriter, r *http.Request, path string, most time.Duration) {
	if !Possible(r) {
		return
	}
	cookie := destination(r)
	cookie.Value, cookie.MaxAge = local(path), int(most.Seconds())
	http.SetCookie(w, cookie)
}

// Remembered returns the path that [Remember] kept, which is always one of this server,
// and makes the browser forget it. Without one it returns "/".
func Remembered(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(destination(r).Name)
	if err != nil {
		return "/"
	}
	forget(w, r, cookie.Name)
	return local(cookie.Value)
}
