package connection

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/askback/askback/internal/egress"
)

// checkHost rejects requests to a loopback listener whose Host is neither a loopback address nor the public
// host. It prevents DNS rebinding (T28): the domain name of an attacker resolves to 127.0.0.1, so that a page
// of that name has the same origin as this server. The browser still sends that name as Host.
func checkHost(listener net.Addr, public string, next http.Handler) http.Handler {
	if !egress.IsLoopback(listener.String()) {
		return next
	}
	var publicHost string
	if u, err := url.Parse(public); err == nil {
		publicHost = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if egress.IsLoopback(r.Host) || publicHost != "" && strings.EqualFold(withoutPort(r.Host), publicHost) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = io.WriteString(w, misdirected)
	})
}

const misdirected = `{"type":"urn:askback:problem:misdirected","title":"Misdirected Request","status":421,` +
	`"detail":"this server does not serve this host name; set its address with askback serve --public-url"}` + "\n"

func withoutPort(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.Trim(host, "[]")
}
