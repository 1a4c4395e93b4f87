package main

import (
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

// The built program checks its own server through a proxy with a certificate of a private
// authority.
func TestDoctorCommandChecksThePublicURL(t *testing.T) {
	env, database := sandbox(t)
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	place, err := instance.At(database)
	if err != nil {
		t.Fatal(err)
	}
	server, _ := place.Last()
	to, _ := url.Parse(server.URL)
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	defer front.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  []string
		code int
		want string
	}{
		{append(env, "SSL_CERT_FILE="+authority), 0, "ok    stream         events pass the proxy without delay"},
		{env, 1, "FAIL  public URL     the certificate at " + front.URL + " is not valid: "},
	} {
		p := launch(t, c.env, "doctor", "--public-url", front.URL)
		if !p.wait() || exitCode(p.result) != c.code || !strings.Contains(p.out.String(), c.want) {
			t.Errorf("exit code %d, want %d and %q:\n%s%s", exitCode(p.result), c.code, c.want, p.out.String(),
				p.err.String())
		}
	}
}
