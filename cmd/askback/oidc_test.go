package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/login/logintest"
)

// oidcServer is a server with log-in by an OpenID Connect issuer.
type oidcServer struct {
	testServer
	issuer *logintest.Issuer
	home   string // its public URL
	file   string // its settings file
}

func newOIDCServer(t *testing.T) *oidcServer {
	t.Helper()
	s := &oidcServer{issuer: logintest.New(t, "askback", "s3cret"), file: filepath.Join(t.TempDir(), "askback.yaml")}
	env, database := sandbox(t, "OIDC_SECRET=s3cret")
	s.testServer = testServer{t: t, env: env, place: instance.Place{Database: database}}
	for !s.tryStart() {
	}
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "agent", "--name", "robot"))
	return s
}

// tryStart starts the server at a free port. It returns false if another process has taken the port
// meanwhile.
func (s *oidcServer) tryStart() bool {
	s.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.home = "http://" + address
	s.writeSettings("ana@example.com")
	s.process = launch(s.t, s.env, "serve", "--config", s.file, "--listen", address)
	if !eventually(func() bool {
		return s.process.hasEnded() || strings.Contains(s.process.err.String(), "msg=serving")
	}) {
		s.t.Fatalf("the server did not start:\n%s", s.process.err.String())
	}
	if !s.process.hasEnded() {
		return true
	}
	if !strings.Contains(s.process.err.String(), "address already in use") {
		s.t.Fatalf("the server did not start:\n%s", s.process.err.String())
	}
	return false
}

// writeSettings writes a settings file with the person ana and this e-mail address.
func (s *oidcServer) writeSettings(email string) {
	s.t.Helper()
	text := fmt.Sprintf("public_url: %s\npeople: [{name: ana, email: %s}]\nlogin: {oidc: {issuer: %q, client_id: "+
		"askback, client_secret: \"${OIDC_SECRET}\"}}\nlog: {level: debug}\nundo: 0\n", s.home, email, s.issuer.URL)
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// newBrowser returns an HTTP client with a new cookie jar.
func (s *oidcServer) newBrowser() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: testTimeout}
}

// get fetches a page, following redirects, and returns the status, the final URL and the
// body.
func (s *oidcServer) get(b *http.Client, page string) (status int, final, body string) {
	s.t.Helper()
	res, err := b.Get(page)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, res.Request.URL.String(), string(raw)
}

// listTools lists the tools of /mcp, and returns the status and WWW-Authenticate.
func (s *oidcServer) listTools(token string) (status int, challenge string) {
	s.t.Helper()
	req, err := http.NewRequest("POST", s.home+"/mcp",
		strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + token},
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("WWW-Authenticate")
}

// A person whose e-mail address is in the settings logs in at the issuer, returns to the page of the ask and
// answers it. When the address is removed from the settings, the person is logged out (F4, F12).
func TestPersonLogsInWithOIDC(t *testing.T) {
	t.Parallel()
	s := newOIDCServer(t)
	id := s.call(s.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`,
		201)["id"].(string)
	ask := s.home + "/asks/" + id
	ana := s.newBrowser()
	if status, _, body := s.get(ana, ask); status != 401 ||
		!strings.Contains(body, s.home+"/login/oidc?to=%2Fasks%2F"+id) {
		t.Errorf("got %d %s", status, body)
	}
	s.issuer.Person = logintest.Claims{"sub": "u2", "email": "eve@example.com", "email_verified": true}
	if status, _, body := s.get(s.newBrowser(), s.home+"/login/oidc?to=/"); status != 403 ||
		!strings.Contains(body, "eve@example.com") {
		t.Errorf("an unknown person: got %d %s, want 403", status, body)
	}
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	status, final, body := s.get(ana, s.home+"/login/oidc?to=/asks/"+id)
	if status != 200 || final != ask || !strings.Contains(body, "Which database?") {
		t.Errorf("got %d at %s: %s", status, final, body)
	}
	req, err := http.NewRequest("POST", ask, strings.NewReader(url.Values{"action": {"answer"}, "q1": {"1"}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.home)
	res, err := ana.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	got, err := json.Marshal(s.call(s.agent, "GET", "/asks/"+id, "", 200)["outcome"])
	if want := `"name":"ana"`; err != nil || !strings.Contains(string(got), want) ||
		!strings.Contains(string(got), "SQLite") || !strings.Contains(string(got), `"via":"web"`) {
		t.Errorf("got %s, %v", got, err)
	}
	s.writeSettings("ana@example.org")
	if !eventually(func() bool { status, _, _ := s.get(ana, s.home+"/"); return status == 401 }) {
		t.Error("ana is still logged in, with an address that is not in the settings")
	}
}

// A person who is removed from the settings is logged out, even the last person. If the issuer is removed or
// replaced, all people are logged out, and tokens of that issuer are rejected.
func TestPersonRemovedFromSettingsIsLoggedOut(t *testing.T) {
	t.Parallel()
	s := newOIDCServer(t)
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	token := s.issuer.Sign(logintest.Claims{
		"iss": s.issuer.URL, "sub": "u1", "aud": s.home + "/mcp", "exp": time.Now().Add(time.Hour).Unix(),
	})
	for name, settings := range map[string]string{
		"no person has an address": "public_url: " + s.home + "\npeople: [{name: ben}]\nlogin: {oidc: {issuer: " +
			strconv.Quote(s.issuer.URL) + ", client_id: askback}}\n",
		"no person": "public_url: " + s.home + "\nlogin: {oidc: {issuer: " + strconv.Quote(s.issuer.URL) +
			", client_id: askback}}\n",
		"no log-in": "public_url: " + s.home + "\npeople: [{name: ana, email: ana@example.com}]\n",
		"another issuer": "public_url: " + s.home + "\npeople: [{name: ana, email: ana@example.com}]\nlogin: {oidc: " +
			"{issuer: \"https://id.example.com\", client_id: askback}}\n",
	} {
		s.writeSettings("ana@example.com")
		ana := s.newBrowser()
		if !eventually(func() bool { status, _, _ := s.get(ana, s.home+"/login/oidc?to=/"); return status == 200 }) {
			t.Fatalf("%s: ana cannot log in", name)
		}
		if err := os.WriteFile(s.file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if !eventually(func() bool { status, _, _ := s.get(ana, s.home+"/"); return status == 401 }) {
			t.Errorf("%s: ana is still logged in", name)
		}
		wantMCP, wantLogin := 200, 403 // /mcp needs no person in the settings
		if name == "no log-in" || name == "another issuer" {
			wantMCP, wantLogin = 401, 503
		}
		if status, _, _ := s.get(s.newBrowser(), s.home+"/login/oidc?to=/"); status != wantLogin {
			t.Errorf("%s: ana logs in again: got %d, want %d", name, status, wantLogin)
		}
		if status, _ := s.listTools(token); status != wantMCP {
			t.Errorf("%s: a token of the issuer at /mcp: got %d, want %d", name, status, wantMCP)
		}
	}
}

// A token of the issuer makes its bearer an agent, but only at /mcp. A 401 reply of /mcp contains the URL of
// the metadata, which has the address of the issuer (F9).
func TestAgentUsesATokenOfTheIssuer(t *testing.T) {
	t.Parallel()
	s := newOIDCServer(t)
	claims := logintest.Claims{
		"iss": s.issuer.URL, "sub": "u1", "aud": s.home + "/mcp", "exp": time.Now().Add(time.Hour).Unix(),
	}
	token := s.issuer.Sign(claims)
	status, challenge := s.listTools("")
	_, metadata, _ := strings.Cut(challenge, `resource_metadata="`)
	metadata = strings.TrimSuffix(metadata, `"`)
	if status != 401 || !strings.HasPrefix(metadata, s.home+"/.well-known/") {
		t.Fatalf("got %d %s", status, challenge)
	}
	var document struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	_, _, body := s.get(http.DefaultClient, metadata)
	if err := json.Unmarshal([]byte(body), &document); err != nil || document.Resource != s.home+"/mcp" ||
		len(document.Servers) != 1 || document.Servers[0] != s.issuer.URL {
		t.Errorf("%s: got %s, %v", metadata, body, err)
	}
	if status, _ := s.listTools(token); status != 200 {
		t.Errorf("a valid token: got %d, want 200", status)
	}
	if status, _ := s.listTools(s.agent); status != 200 {
		t.Errorf("a token of Askback: got %d, want 200", status)
	}
	if status, _ := s.listTools(s.issuer.Sign(claims.With(logintest.Claims{"aud": s.home}))); status != 401 {
		t.Errorf("a token with another audience: got %d, want 401", status)
	}
	s.call(token, "GET", "/asks", "", 401)
	s.call(token, "POST", "/asks", `{"question": "Which?"}`, 401)
}

// Log-in with OpenID Connect needs public_url, and a client_id that is not the URL of /mcp.
func TestInvalidOIDCSettingsAreRejected(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	file := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(file, []byte("people: [{name: ana, email: ana@example.com}]\nlogin: {oidc: {issuer: "+
		"\"https://id.example.com\", client_id: askback}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0")
	if !p.wait() || exitCode(p.result) != exitUsage || !strings.Contains(p.err.String(), "public_url") {
		t.Errorf("got %v: %s", p.result, p.err.String())
	}
	q := launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0", "--public-url", "https://ask.example.com")
	q.waitForStderr(t, "msg=serving")
	if err := os.WriteFile(file,
		[]byte("login: {oidc: {issuer: \"https://id.example.com\", client_id: \"https://ask.example.com/mcp\"}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	env, _ = sandbox(t)
	p = launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0", "--public-url", "https://ask.example.com")
	if !p.wait() || exitCode(p.result) != exitUsage || !strings.Contains(p.err.String(), "client_id") {
		t.Errorf("got %v: %s", p.result, p.err.String())
	}
}

// askback doctor warns if the issuer does not answer correctly.
func TestDoctorReportsWhetherTheIssuerAnswers(t *testing.T) {
	t.Parallel()
	s := newOIDCServer(t)
	if got := mustRun(t, s.env, "doctor", "--config", s.file); !strings.Contains(got, "ok    log-in         "+
		s.issuer.URL+" answers; after log-in, people return to "+s.home+"/login/oidc/callback") {
		t.Errorf("got\n%s", got)
	}
	s.issuer.Answer(http.StatusBadGateway)
	if got := mustRun(t, s.env, "doctor", "--config", s.file); !strings.Contains(got,
		"warn  log-in         the issuer did not reply, or its reply is not valid") {
		t.Errorf("got\n%s", got)
	}
}
