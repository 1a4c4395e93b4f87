package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// attemptTime is how long somebody may take at the issuer.
const attemptTime = 10 * time.Minute

// An attempt is a log-in that was begun. Only the browser that began it has it, in a
// cookie: nobody else can end it, and nothing is kept here.
type attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE (RFC 7636)
	To       string `json:"t"`
	Until    int64  `json:"u"` // unix time
}

// maxAttempts is how many log-ins a browser can have begun at a time, in as many tabs.
const maxAttempts = 5

// keep gives a browser its attempt. One that began many loses them all before.
func (i *Issuer) keep(w http.ResponseWriter, r *http.Request, a attempt) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	var old []*http.Cookie
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, attemptCookie(r, "").Name) {
			old = append(old, c)
		}
	}
	if len(old) >= maxAttempts {
		for _, c := range old {
			forget(w, r, c.Name)
		}
	}
	cookie := attemptCookie(r, a.State)
	cookie.Value = base64.RawURLEncoding.EncodeToString(append(i.mac(b), b...))
	cookie.MaxAge = int(attemptTime.Seconds())
	http.SetCookie(w, cookie)
	return nil
}

// begun returns the attempt that a browser began with a state, and makes it forget
// it.
func (i *Issuer) begun(w http.ResponseWriter, r *http.Request, state string) (a attempt, ok bool) {
	cookie, err := r.Cookie(attemptCookie(r, state).Name)
	if err != nil {
		return a, false
	}
	b, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(b) < sha256.Size || !hmac.Equal(b[:sha256.Size], i.mac(b[sha256.Size:])) {
		return a, false
	}
	err = json.Unmarshal(b[sha256.Size:], &a)
	if err != nil || a.State != state || i.settings.Now().Unix() >= a.Until {
		return a, false
	}
	forget(w, r, cookie.Name)
	return a, true
}

func (i *Issuer) mac(b []byte) []byte {
	h := hmac.New(sha256.New, i.settings.Key)
	h.Write([]byte("askback: attempt to log in\n"))
	h.Write(b)
	return h.Sum(nil)
}

// attemptCookie is the cookie of the attempt with a state. It goes back with a link
// from another site, which the way back from the issuer is: so it is Lax, as that of
// a log-in.
func attemptCookie(r *http.Request, state string) *http.Cookie {
	cookie := newCookie(r)
	cookie.Name += "-attempt-"
	if state != "" {
		sum := sha256.Sum256([]byte(state))
		cookie.Name += base64.RawURLEncoding.EncodeToString(sum[:9])
	}
	return cookie
}

func forget(w http.ResponseWriter, r *http.Request, name string) {
	cookie := newCookie(r)
	cookie.Name, cookie.MaxAge = name, -1
	http.SetCookie(w, cookie)
}

// local is a path of this server; what leads elsewhere is the list.
func local(to string) string {
	u, err := url.Parse(to)
	switch {
	case err != nil, u.IsAbs(), u.Host != "", u.User != nil, u.Opaque != "":
	case !strings.HasPrefix(u.Path, "/"), strings.HasPrefix(u.Path, "//"), strings.ContainsAny(u.Path, "\\\r\n\t"):
	default:
		return u.EscapedPath()
	}
	return "/"
}
