package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// A proxy is a reverse proxy with TLS for https://example.com, in front of the pages of an engine.
type proxy struct {
	*httptest.Server
	engine *engine.Engine
}

// newProxy starts a proxy. It forwards requests as rewrite changes them, and changes
// replies with modify, which may be nil.
func newProxy(t *testing.T, rewrite func(*httputil.ProxyRequest), modify func(*http.Response) error) *proxy {
	t.Helper()
	e := engine.New(memstore.New(), nil)
	mux := http.NewServeMux()
	mux.Handle("/", web.New(e, e, e, nil))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"status":"ok","proof":%q}`, instance.Proof("secret", r.URL.Query().Get("nonce")))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			rewrite(r)
		},
		ModifyResponse: modify,
	})
	t.Cleanup(front.Close)
	return &proxy{front, e}
}

// check runs the check of a public address, and returns its findings. All connections lead to the proxy.
func (p *proxy) check(t *testing.T, address string, wait time.Duration, secret string) Findings {
	t.Helper()
	transport := p.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, p.Listener.Addr().String())
	}
	c := publicCheck{
		doctor: &doctor{}, url: address, client: newPublicClient(transport), wait: wait,
		proof: func(nonce string) string { return instance.Proof(secret, nonce) },
		login: func(ctx context.Context) (string, error) {
			return p.engine.As(
				askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb},
			).LoginSecret(ctx)
		},
	}
	c.run(t.Context())
	return c.Findings
}

// lines returns findings as text.
func lines(findings Findings) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", f.Status, f.Check, f.Detail, f.Fix)
	}
	return b.String()
}

// forwardWell forwards requests as docs/phone.md requires.
func forwardWell(r *httputil.ProxyRequest) {
	r.Out.Host = r.In.Host
	r.SetXForwarded()
}

// bufferAll reads the whole reply before it passes the reply on.
func bufferAll(r *http.Response) error {
	var b bytes.Buffer
	_, err := b.ReadFrom(r.Body)
	r.Body = io.NopCloser(&b)
	return err
}

// Each fault of a proxy is found and reported with advice (E6).
func TestDoctorChecksThePublicURL(t *testing.T) {
	const plenty = 2 * time.Minute
	reply := func(status int) func(*http.Response) error {
		return func(r *http.Response) error {
			r.StatusCode, r.Status = status, fmt.Sprint(status, " ", http.StatusText(status))
			r.Header.Set("Location", "https://example.org/")
			return nil
		}
	}
	for name, c := range map[string]struct {
		address string
		wait    time.Duration
		secret  string
		rewrite func(*httputil.ProxyRequest)
		modify  func(*http.Response) error
		want    []string // the beginnings of the lines
	}{
		"a good proxy": {want: []string{
			"ok|public URL|https://example.com has a valid certificate and leads to the server of this database|\n",
			"ok|https|", "ok|host|", "ok|log-in|", "ok|stream|events pass the proxy without delay (",
		}},
		"no https": {
			address: "http://example.com", want: []string{"FAIL|public URL|http://example.com is not https"},
		},
		"another name": {address: "https://ask.example.org", want: []string{
			"FAIL|public URL|the certificate at https://ask.example.org is for another name: x509",
		}},
		"this machine only": {address: "https://127.0.0.1", want: []string{
			"warn|public URL|https://127.0.0.1 leads to this machine only|", "ok|public URL|", "ok|https|", "ok|host|",
			"ok|log-in|", "ok|stream|",
		}},
		"another server": {
			secret: "other", want: []string{"FAIL|public URL|another Askback answers at https://example.com"},
		},
		"a redirect": {modify: reply(http.StatusFound), want: []string{
			"FAIL|public URL|https://example.com redirects to https://example.org/|",
		}},
		"no server": {modify: reply(http.StatusBadGateway), want: []string{
			"FAIL|public URL|https://example.com replies with status 502 Bad Gateway: the proxy does not reach the " +
				"server|check that the proxy runs",
		}},
		"another program": {modify: reply(http.StatusNotFound), want: []string{
			"FAIL|public URL|the server at https://example.com is not Askback (status 404 Not Found)|",
		}},
		"no header": {rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host }, want: []string{
			"ok|public URL|",
			"FAIL|https|the server does not recognize https|let the proxy set X-Forwarded-Proto. nginx: " +
				"proxy_set_header X-Forwarded-Proto https. Caddy",
			"ok|host|",
		}},
		"no header, no name": {
			rewrite: func(*httputil.ProxyRequest) {}, want: []string{"ok|public URL|", "FAIL|https|", "FAIL|host|"},
		},
		"no name": {
			rewrite: func(r *httputil.ProxyRequest) { r.SetXForwarded() },
			want: []string{
				"ok|public URL|", "ok|https|",
				"FAIL|host|the proxy sends the server another name than https://example.com",
			},
		},
		"no cookies": {
			modify: func(r *http.Response) error {
				if r.Request.URL.Path == "/login" {
					r.Header.Del("Set-Cookie")
				}
				return nil
			},
			want: []string{
				"ok|public URL|", "ok|https|", "ok|host|",
				"FAIL|log-in|the log-in does not work (status 303 See Other): the cookie does not arrive|",
			},
		},
		"a buffer": {wait: time.Second, modify: bufferAll, want: []string{
			"ok|public URL|", "ok|https|", "ok|host|", "ok|log-in|",
			"FAIL|stream|no event arrived within 1s, so open pages do not change by themselves: the proxy holds " +
				"back the reply|let the proxy pass on streams without delay. nginx: proxy_buffering off",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.address == "" {
				c.address = "https://example.com"
			}
			if c.wait == 0 {
				c.wait = plenty
			}
			if c.secret == "" {
				c.secret = "secret"
			}
			if c.rewrite == nil {
				c.rewrite = forwardWell
			}
			got := lines(newProxy(t, c.rewrite, c.modify).check(t, c.address, c.wait, c.secret))
			rows := strings.SplitAfter(strings.TrimSuffix(got, "\n"), "\n")
			for i, want := range c.want {
				want = strings.ReplaceAll(want, "recognize https|",
					"recognize https, so people cannot log in, or its cookies are not secure|")
				if i >= len(rows) || !strings.HasPrefix(rows[i], strings.TrimSuffix(want, "\n")) {
					t.Errorf("line %d does not begin with %s", i+1, want)
				}
			}
			if len(rows) != len(c.want) || t.Failed() {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// The check revokes its own log-in.
func TestDoctorLogsOut(t *testing.T) {
	p := newProxy(t, forwardWell, nil)
	if got := lines(p.check(t, "https://example.com", time.Minute, "secret")); !strings.Contains(got, "ok|stream|") {
		t.Fatal(got)
	}
	list, err := p.engine.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelAPI}).Tokens(
		t.Context(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].RevokedAt.IsZero() {
		t.Errorf("got %+v, want one log-in that is revoked", list)
	}
}
