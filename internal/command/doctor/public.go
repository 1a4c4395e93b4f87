package doctor

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/local/instance"
)

// publicTime is how long each request to the public address may take. A heartbeat must pass the proxy within
// the same time. The server sends the first heartbeat immediately.
const publicTime = 10 * time.Second

// Advice about a proxy. Caddy, Traefik, tailscale serve and cloudflared need no change by default.
const (
	fixProto = "let the proxy set X-Forwarded-Proto. nginx: proxy_set_header X-Forwarded-Proto https. Caddy, " +
		"Traefik, tailscale serve and cloudflared set it, " +
		"unless another proxy is in front of them: then configure them to trust that other proxy (Caddy: " +
		"trusted_proxies, Traefik: " +
		"forwardedHeaders.trustedIPs)"
	fixHost = "let the proxy forward Host. nginx: proxy_set_header Host $http_host. Caddy: remove header_up Host. " +
		"Traefik: passHostHeader: true. " +
		"cloudflared: remove httpHostHeader. tailscale serve forwards it"
	fixStream = "let the proxy pass on streams without delay. nginx: proxy_buffering off, and no " +
		"proxy_ignore_headers X-Accel-Buffering. Caddy: no encode for text/event-stream. " +
		"Traefik: no buffering or compress middleware. cloudflared: a tunnel with a name, not --url alone. " +
		"tailscale serve passes them on"
	fixReach = "check that the proxy runs, forwards to the address where askback serve listens, and that the name " +
		"leads to it"
)

// A publicCheck checks a server at its public address, as a phone reaches it.
type publicCheck struct {
	*doctor
	url    string
	client *http.Client
	wait   time.Duration                         // the time limit for the first heartbeat
	proof  func(nonce string) string             // returns the proof of the server of this database
	login  func(context.Context) (string, error) // returns the secret of a log-in link
}

// checkPublic checks the public address, if one is given. The last check logs in there for a moment, and out
// again.
func (d *doctor) checkPublic(ctx context.Context, address string) {
	const check = "public URL"
	if address == "" {
		return
	}
	address, err := d.program.Origin(address)
	if err != nil {
		d.Fail(check, "", "%v", err)
		return
	}
	p := publicCheck{doctor: d, url: address, client: newPublicClient(nil), wait: publicTime}
	if d.proved {
		p.proof = func(nonce string) string { return instance.Proof(d.server.Secret, nonce) }
		p.login = d.loginSecret
	}
	p.run(ctx)
}

// newPublicClient returns a client that keeps cookies as a browser does, and follows no redirects. If
// transport is nil, the client has a new transport.
func newPublicClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	jar, _ := cookiejar.New(nil) // never fails
	return &http.Client{
		Transport: transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// loginSecret returns the secret of a log-in link for the local user.
func (d *doctor) loginSecret(ctx context.Context) (string, error) {
	conn, err := d.program.Connector("")
	if err != nil {
		return "", err
	}
	secret, err := conn.User.LoginSecret(ctx)
	return secret, errors.Join(err, conn.Close())
}

func (p publicCheck) run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	if !p.checkAddress() || !p.checkReach(ctx) {
		return
	}
	secure := p.checkProto(ctx)
	forwarded := p.checkHost(ctx)
	if p.login == nil {
		p.Warn("stream", "start askback serve on this machine first", "not checked: no server runs here to log in to")
		return
	}
	if secure && forwarded {
		p.checkStream(ctx)
	}
}

// checkAddress reports whether a phone can use the address.
func (p publicCheck) checkAddress() bool {
	const check = "public URL"
	u, _ := url.Parse(p.url) // origin has checked the address
	switch {
	case u.Scheme != "https":
		p.Fail(check, "put a proxy with https in front: docs/phone.md has three",
			"%s is not https, and browsers keep log-ins only over https", p.url)
		return false
	case egress.IsLoopback(u.Host):
		p.Warn(check, "give the address that the phone uses", "%s leads to this machine only", p.url)
	}
	return true
}

// checkReach checks the certificate, and that the address leads to the server of this database. It reports
// whether the address leads to a server of Askback that the other checks can use.
func (p publicCheck) checkReach(ctx context.Context) bool {
	const check = "public URL"
	nonce := rand.Text()
	res, body, err := p.do(ctx, http.MethodGet, "/healthz?nonce="+nonce, nil)
	if err != nil {
		p.reachFailed(err)
		return false
	}
	var reply struct{ Status, Proof string }
	switch {
	case res.StatusCode/100 == 3:
		p.Fail(check, "give that address, or let the proxy forward instead", "%s redirects to %s", p.url,
			res.Header.Get("Location"))
		return false
	case res.StatusCode/100 == 5:
		p.Fail(check, fixReach, "%s replies with status %s: the proxy does not reach the server", p.url, res.Status)
		return false
	case res.StatusCode != http.StatusOK || json.Unmarshal(body, &reply) != nil || reply.Status != "ok":
		p.Fail(check, fixReach, "the server at %s is not Askback (status %s)", p.url, res.Status)
		return false
	case p.proof == nil:
		p.Warn(check, "run this on the machine of the server",
			"an Askback answers at %s; no server runs here to compare it with", p.url)
	case reply.Proof != p.proof(nonce):
		p.Fail(check, fixReach, "another Askback answers at %s, not the server of this database", p.url)
		return false
	default:
		p.OK(check, "%s has a valid certificate and leads to the server of this database", p.url)
	}
	return true
}

// reachFailed reports the reason why the address cannot be reached.
func (p publicCheck) reachFailed(err error) {
	const check = "public URL"
	var certificate *tls.CertificateVerificationError
	var host x509.HostnameError
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err // the URL contains the nonce, so only the inner error is reported
	}
	switch {
	case errors.As(err, &host):
		p.Fail(check, "get a certificate for this name", "the certificate at %s is for another name: %v", p.url, host)
	case errors.As(err, &certificate):
		p.Fail(check, "use a certificate that phones trust, such as one of Let's Encrypt",
			"the certificate at %s is not valid: %v", p.url, certificate.Err)
	default:
		p.Fail(check, fixReach, "%s cannot be reached: %v", p.url, err)
	}
}

// checkProto checks that the server recognizes https, and reports the result. With https, a log-in link opens
// its page, and a reply without a log-in sets a cookie that browsers send only over https.
func (p publicCheck) checkProto(ctx context.Context) bool {
	const check = "https"
	res, page, err := p.do(ctx, http.MethodGet, "/login?secret=doctor", nil)
	if err != nil {
		p.reachFailed(err)
		return false
	}
	shown := res.StatusCode == http.StatusOK && strings.Contains(string(page), `action="/login"`)
	if res, _, err = p.do(ctx, http.MethodGet, "/history", nil); err != nil {
		p.reachFailed(err)
		return false
	}
	for _, c := range res.Cookies() {
		if shown && c.Secure && strings.HasPrefix(c.Name, "__Host-") {
			p.OK(check, "the server recognizes https: it shows the page of a log-in and sets secure cookies")
			return true
		}
	}
	p.Fail(check, fixProto,
		"the server does not recognize https, so people cannot log in, or its cookies are not secure")
	return false
}

// checkHost checks that the server gets the name that browsers use, and reports the result. The server
// rejects forms of other sites by this name. The check logs out without a log-in, which changes nothing.
func (p publicCheck) checkHost(ctx context.Context) bool {
	const check = "host"
	res, _, err := p.do(ctx, http.MethodPost, "/logout", url.Values{})
	if err != nil {
		p.reachFailed(err)
		return false
	}
	if res.StatusCode != http.StatusSeeOther {
		p.Fail(check, fixHost, "the proxy sends the server another name than %s, so the server rejects forms as if "+
			"another site had sent them (status %s)", p.url, res.Status)
		return false
	}
	p.OK(check, "the server sees the name that browsers use")
	return true
}

// checkStream logs in as a browser does, and checks that events arrive without delay. It logs out at the end.
func (p publicCheck) checkStream(ctx context.Context) {
	secret, err := p.login(ctx)
	if err != nil {
		p.Fail("log-in", "", "no log-in link could be made: %v", err)
		return
	}
	res, _, err := p.do(ctx, http.MethodPost, "/login", url.Values{"secret": {secret}})
	if err != nil {
		p.reachFailed(err)
		return
	}
	defer func() { _, _, _ = p.do(context.WithoutCancel(ctx), http.MethodPost, "/logout", url.Values{}) }()
	if inbox, _, err := p.do(ctx, http.MethodGet, "/", nil); res.StatusCode != http.StatusSeeOther || err != nil ||
		inbox.StatusCode != http.StatusOK {
		p.Fail("log-in", "let the proxy pass on cookies in both directions, and change no forms",
			"the log-in does not work (status %s): the cookie does not arrive", res.Status)
		return
	}
	p.OK("log-in", "a browser can log in, and its cookie arrives")
	began := time.Now()
	if err := p.readHeartbeat(ctx); err != nil {
		p.Fail("stream", fixStream, "no event arrived within %s, so open pages do not change by themselves: %v",
			p.wait, err)
		return
	}
	p.OK("stream", "events pass the proxy without delay (%d ms)", time.Since(began).Milliseconds())
}

// readHeartbeat reads the heartbeat with which the stream of the pages begins.
func (p publicCheck) readHeartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/live", nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		var urlErr *url.Error
		if errors.As(err, &urlErr) && urlErr.Timeout() {
			return errors.New("the proxy holds back the reply")
		}
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", res.Status)
	}
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	switch {
	case ctx.Err() != nil:
		return errors.New("the proxy holds back the reply")
	case err != nil:
		return err
	case line != ":\n":
		return fmt.Errorf("the proxy changes the stream: it begins with %q", line)
	}
	return nil
}

// maxPublicReply is the maximum number of bytes that are read from a reply.
const maxPublicReply = 1 << 20

// do sends a request and reads the reply. If form is not nil, do sends it as a browser does.
func (p publicCheck) do(ctx context.Context, method, path string, form url.Values) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, publicTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", p.url)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPublicReply))
	return res, body, err
}
