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

	"github.com/askback/askback/internal/mac"
)

// pendingTime is how long a person may take to log in at the issuer.
const pendingTime = 10 * time.Minute

// A pendingLogin is a log-in between [Issuer.Begin] and [Issuer.Finish]. It is stored only in a signed
// cookie, so no other browser can finish it and the server keeps nothing.
type pendingLogin struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // the code verifier of PKCE (RFC 7636)
	To       string `json:"t"`
	Until    int64  `json:"u"` // Unix time
}

// maxPending is the maximum number of pending logins in a browser, such as one in each tab.
const maxPending = 5

// setPending stores a pending login in a cookie. If the browser already has [maxPending] pending logins, it
// deletes these first.
func (i *Issuer) setPending(w http.ResponseWriter, r *http.Request, p pendingLogin) {
	b, _ := json.Marshal(p) // strings and a number can be marshalled
	var old []string
	for _, c := range r.Cookies() {
		if suffix, ok := strings.CutPrefix(c.Name, cookieName(r)); ok && strings.HasPrefix(suffix, pendingPrefix) {
			old = append(old, suffix)
		}
	}
	if len(old) >= maxPending {
		for _, suffix := range old {
			deleteCookie(w, r, suffix)
		}
	}
	setCookie(w, r, pendingSuffix(p.State), base64.RawURLEncoding.EncodeToString(append(i.sum(b), b...)), pendingTime)
}

// takePending returns the pending login with a state and deletes its cookie. It returns false if there is no
// such pending login, if it has expired, or if its cookie is not valid.
func (i *Issuer) takePending(w http.ResponseWriter, r *http.Request, state string) (p pendingLogin, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(cookieValue(r, pendingSuffix(state)))
	if err != nil || len(b) < sha256.Size || !hmac.Equal(b[:sha256.Size], i.sum(b[sha256.Size:])) {
		return p, false
	}
	err = json.Unmarshal(b[sha256.Size:], &p)
	if err != nil || p.State != state || i.settings.Now().Unix() >= p.Until {
		return p, false
	}
	deleteCookie(w, r, pendingSuffix(state))
	return p, true
}

func (i *Issuer) sum(b []byte) []byte { return mac.Sum(i.settings.Key, "pending login", string(b)) }

// pendingPrefix is the beginning of the suffix of each cookie for a pending login.
const pendingPrefix = "-attempt-"

// pendingSuffix returns the suffix of the cookie for the pending login with a state.
func pendingSuffix(state string) string {
	sum := sha256.Sum256([]byte(state))
	return pendingPrefix + base64.RawURLEncoding.EncodeToString(sum[:9])
}

// localPath returns the path of an address, without query and fragment, or "/" if the
// address does not lead to this server.
func localPath(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.IsAbs(), u.Host != "", u.User != nil, u.Opaque != "":
	case !strings.HasPrefix(u.Path, "/"), strings.HasPrefix(u.Path, "//"), strings.ContainsAny(u.Path, "\\\r\n\t"):
	default:
		return u.EscapedPath()
	}
	return "/"
}
