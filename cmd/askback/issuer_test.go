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

	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/login/logintest"
)

// signing is a server that trusts an issuer.
type signing struct {
	kept
	issuer *logintest.Issuer
	home   string // its public URL
	file   string // its settings
}

func newSigning(t *testing.T) *signing {
	t.Helper()
	s := &signing{issuer: logintest.New(t, "askback", "s3cret"), file: filepath.Join(t.TempDir(), "askback.yaml")}
	env, database := sandbox(t, "OIDC_SECRET=s3cret")
	s.kept = kept{t: t, env: env, place: instance.Place{Database: database}}
	for !s.serves() {
	}
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "create", "--kind", "agent", "--name", "robot"))
	return s
}

// serves starts the server at a port that was free just now, and reports whether
// no other program took it in between.
func (s *signing) serves() bool {
	s.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	at := ln.Addr().String()
	if err := ln.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.home = "http://" + at
	s.knows("ana@example.com")
	s.process = launch(s.t, s.env, "serve", "--config", s.file, "--listen", at)
	if !eventually(func() bool { return s.process.hasEnded() || strings.Contains(s.process.err.String(), "msg=serving") }) {
		s.t.Fatalf("it does not serve:\n%s", s.process.err.String())
	}
	if !s.process.hasEnded() {
		return true
	}
	if !strings.Contains(s.process.err.String(), "address already in use") {
		s.t.Fatalf("it does not serve:\n%s", s.process.err.String())
	}
	return false
}

// knows writes the settings, in which ana has this address.
func (s *signing) knows(email string) {
	s.t.Helper()
	text := fmt.Sprintf("public_url: %s\npeople: [{name: ana, email: %s}]\nlogin: {oidc: {issuer: %q, client_id: askback, client_secret: \"${OIDC_SECRET}\"}}\nlog: {level: debug}\n", s.home, email, s.issuer.URL)
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// browser is one in which nobody is logged in.
func (s *signing) browser() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: testTimeout}
}

// open reads a page.
func (s *signing) open(b *http.Client, at string) (status int, final, body string) {
	s.t.Helper()
	res, err := b.Get(at)
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

// lists asks for the tools with a token.
func (s *signing) lists(token string) (status int, challenge string) {
	s.t.Helper()
	in, err := http.NewRequest("POST", s.home+"/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
	if err != nil {
		s.t.Fatal(err)
	}
	in.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("WWW-Authenticate")
}

// A person signs in at the issuer, comes back to the very ask and answers it, and is
// logged out once the settings do not know them any more (F4, F12).
func TestAPersonSignsInAtTheIssuer(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	id := s.does(s.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`, 201)["id"].(string)
	ask := s.home + "/asks/" + id
	ana := s.browser()
	if status, _, body := s.open(ana, ask); status != 401 || !strings.Contains(body, s.home+"/login/oidc?to=%2Fasks%2F"+id) {
		t.Errorf("got %d %s", status, body)
	}
	s.issuer.Person = logintest.Claims{"sub": "u2", "email": "eve@example.com", "email_verified": true}
	if status, _, body := s.open(s.browser(), s.home+"/login/oidc?to=/"); status != 403 || !strings.Contains(body, "eve@example.com") {
		t.Errorf("a stranger: got %d %s", status, body)
	}
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	status, final, body := s.open(ana, s.home+"/login/oidc?to=/asks/"+id)
	if status != 200 || final != ask || !strings.Contains(body, "Which database?") {
		t.Errorf("got %d at %s: %s", status, final, body)
	}
	in, err := http.NewRequest("POST", ask, strings.NewReader(url.Values{"action": {"answer"}, "q1": {"1"}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	in.Header.Set("Origin", s.home)
	res, err := ana.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	got, err := json.Marshal(s.does(s.agent, "GET", "/asks/"+id, "", 200)["outcome"])
	if want := `"name":"ana"`; err != nil || !strings.Contains(string(got), want) || !strings.Contains(string(got), "SQLite") || !strings.Contains(string(got), `"via":"web"`) {
		t.Errorf("got %s, %v", got, err)
	}
	s.knows("ana@example.org")
	if !eventually(func() bool { status, _, _ := s.open(ana, s.home+"/"); return status == 401 }) {
		t.Error("ana is still logged in, with an address that nobody has")
	}
}

// Whoever is taken out of the settings is out, also the last one, and so are all when
// the issuer goes.
func TestWhoIsTakenOutIsOut(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	token := s.issuer.Sign(logintest.Claims{"iss": s.issuer.URL, "sub": "u1", "aud": s.home + "/mcp", "exp": time.Now().Add(time.Hour).Unix()})
	for name, settings := range map[string]string{
		"nobody has an address": "public_url: " + s.home + "\npeople: [{name: ben}]\nlogin: {oidc: {issuer: " + strconv.Quote(s.issuer.URL) + ", client_id: askback}}\n",
		"nobody is there":       "public_url: " + s.home + "\nlogin: {oidc: {issuer: " + strconv.Quote(s.issuer.URL) + ", client_id: askback}}\n",
		"no log-in":             "public_url: " + s.home + "\npeople: [{name: ana, email: ana@example.com}]\n",
		"another issuer":        "public_url: " + s.home + "\npeople: [{name: ana, email: ana@example.com}]\nlogin: {oidc: {issuer: \"https://id.example.com\", client_id: askback}}\n",
	} {
		s.knows("ana@example.com")
		ana := s.browser()
		if !eventually(func() bool { status, _, _ := s.open(ana, s.home+"/login/oidc?to=/"); return status == 200 }) {
			t.Fatalf("%s: ana cannot log in", name)
		}
		if err := os.WriteFile(s.file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if !eventually(func() bool { status, _, _ := s.open(ana, s.home+"/"); return status == 401 }) {
			t.Errorf("%s: ana is still logged in", name)
		}
		want, refused := 200, 403 // agents need no person
		if name == "no log-in" || name == "another issuer" {
			want, refused = 401, 503
		}
		if status, _, _ := s.open(s.browser(), s.home+"/login/oidc?to=/"); status != refused {
			t.Errorf("%s: ana logs in again: %d, want %d", name, status, refused)
		}
		if status, _ := s.lists(token); status != want {
			t.Errorf("%s: an agent of the issuer gets %d, want %d", name, status, want)
		}
	}
}

// A token of the issuer is an agent's, at /mcp alone, and the 401 there says where to
// get one (F9).
func TestAnAgentHasATokenOfTheIssuer(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	claims := logintest.Claims{"iss": s.issuer.URL, "sub": "u1", "aud": s.home + "/mcp", "exp": time.Now().Add(time.Hour).Unix()}
	token := s.issuer.Sign(claims)
	status, challenge := s.lists("")
	_, at, _ := strings.Cut(challenge, `resource_metadata="`)
	at = strings.TrimSuffix(at, `"`)
	if status != 401 || !strings.HasPrefix(at, s.home+"/.well-known/") {
		t.Fatalf("got %d %s", status, challenge)
	}
	var says struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	_, _, body := s.open(http.DefaultClient, at)
	if err := json.Unmarshal([]byte(body), &says); err != nil || says.Resource != s.home+"/mcp" || len(says.Servers) != 1 || says.Servers[0] != s.issuer.URL {
		t.Errorf("%s: got %s, %v", at, body, err)
	}
	if status, _ := s.lists(token); status != 200 {
		t.Errorf("a good token: got %d", status)
	}
	if status, _ := s.lists(s.agent); status != 200 {
		t.Errorf("one of ours: got %d", status)
	}
	if status, _ := s.lists(s.issuer.Sign(claims.With(logintest.Claims{"aud": s.home}))); status != 401 {
		t.Errorf("one for something else: got %d", status)
	}
	s.does(token, "GET", "/asks", "", 401)
	s.does(token, "POST", "/asks", `{"question": "Which?"}`, 401)
}

// Without its own address a server cannot send people back.
func TestAnIssuerNeedsThePublicURL(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	file := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(file, []byte("people: [{name: ana, email: ana@example.com}]\nlogin: {oidc: {issuer: \"https://id.example.com\", client_id: askback}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0")
	if !p.wait() || exitCode(p.result) != exitUsage || !strings.Contains(p.err.String(), "public_url") {
		t.Errorf("got %v: %s", p.result, p.err.String())
	}
	q := launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0", "--public-url", "https://ask.example.com")
	q.waitForStderr(t, "msg=serving")
	if err := os.WriteFile(file, []byte("login: {oidc: {issuer: \"https://id.example.com\", client_id: \"https://ask.example.com/mcp\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env, _ = sandbox(t)
	p = launch(t, env, "serve", "--config", file, "--listen", "127.0.0.1:0", "--public-url", "https://ask.example.com")
	if !p.wait() || exitCode(p.result) != exitUsage || !strings.Contains(p.err.String(), "client_id") {
		t.Errorf("got %v: %s", p.result, p.err.String())
	}
}

// The doctor says whether the issuer answers.
func TestTheDoctorLooksForTheIssuer(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	if got := mustRun(t, s.env, "doctor", "--config", s.file); !strings.Contains(got, "ok    log-in         "+s.issuer.URL+" answers; people come back to "+s.home+"/login/oidc/callback") {
		t.Errorf("got\n%s", got)
	}
	s.issuer.Answer(http.StatusBadGateway)
	if got := mustRun(t, s.env, "doctor", "--config", s.file); !strings.Contains(got, "warn  log-in         the issuer does not answer as it should") {
		t.Errorf("got\n%s", got)
	}
}
