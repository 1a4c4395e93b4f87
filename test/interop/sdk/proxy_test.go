package sdk_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A proxy is an HTTP proxy with CONNECT. It requires the user agent:s3cret.
type proxy struct {
	mu   sync.Mutex
	seen []string // the requests: method and target
}

func (p *proxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.RequestURI)
	p.mu.Unlock()
	if got := r.Header.Get("Proxy-Authorization"); got != "Basic YWdlbnQ6czNjcmV0" {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		if r.URL.Host == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.RequestURI = ""
		r.Header.Del("Proxy-Authorization")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
		return
	}
	to, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer to.Close()
	from, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
}

// The clients for Python use the proxies of the environment for http and https, except for hosts in NO_PROXY.
// Without the proxy, nothing is approved.
func TestPythonUsesTheProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	askback := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the server got the password of the proxy")
		}
		if strings.HasSuffix(r.URL.Path, "/cancel") {
			fmt.Fprint(w, confirmation("cancelled", outcomeOf("cancelled", "null", "null")))
			return
		}
		fmt.Fprint(w, confirmation("pending", "null"))
	})
	plain, secure := httptest.NewServer(askback), httptest.NewTLSServer(askback)
	defer plain.Close()
	defer secure.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(roots, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	withdraw := call{Call: "cancel", Request: object{"question": "Which?"}, Patience: new(int)}
	*withdraw.Patience = 100
	for _, mode := range []string{"sync", "async"} {
		for _, c := range []struct {
			name, server, user, noProxy string
			used, fails                 bool
		}{
			{"http", plain.URL, "agent:s3cret@", "", true, false},
			{"https", secure.URL, "agent:s3cret@", "", true, false},
			{"a host without a proxy", secure.URL, "agent:s3cret@", "127.0.0.1", false, false},
			{"a wrong password", secure.URL, "agent:x@", "", true, true},
			{"no password", plain.URL, "", "", true, true},
		} {
			t.Run(mode+" "+c.name, func(t *testing.T) {
				p := &proxy{}
				through := httptest.NewServer(p)
				defer through.Close()
				address := "http://" + c.user + strings.TrimPrefix(through.URL, "http://")
				d := driver{args: []string{python(t), "drive.py", mode}, environ: append(pythonPath(t),
					"http_proxy="+address, "https_proxy="+address, "no_proxy="+c.noProxy, "SSL_CERT_FILE="+roots)}
				got := d.start(t, c.server, "askback_token", withdraw).result()
				if (got.Error != "") != c.fails || !c.fails && got.Status != "cancelled" {
					t.Errorf("got %+v", got)
				}
				seen := p.requests()
				host, _ := url.Parse(c.server)
				if (len(seen) > 0) != c.used || c.used && !strings.Contains(seen[0], host.Host) {
					t.Errorf("the proxy saw %q", seen)
				}
			})
		}
	}
}
