package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/login/logintest"
)

// pages are the paths that no document of the API names.
var pages = []string{
	"/", "/asks/{id}", "/asks/{id}/claim", "/grants", "/grants/{id}/revoke", "/login", "/logout", "/login/oidc", "/login/oidc/callback", "/mcp",
	"/assets/{id}", "/nowhere/{id}", "/api/openapi.json", "/api/docs", "/metrics", "/.well-known/oauth-protected-resource/mcp",
}

// No secret is in any line of the log, whichever route it came by, and where it does not
// belong either.
func TestLogHasNoSecret(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	secrets := s.signIn()
	user, err := os.ReadFile(filepath.Join(filepath.Dir(s.place.Database), "user.token"))
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(strings.TrimSpace(mustRun(t, s.env, "login")))
	if err != nil {
		t.Fatal(err)
	}
	secrets["user token"], secrets["agent token"], secrets["link"] = strings.TrimSpace(string(user)), s.agent, link.Query().Get("secret")
	secrets["client secret"] = "s3cret"
	for _, body := range []string{"{", `{"question": "Which?", "options": ["a", "b"], "agent": "` + s.agent + `"}`, `{"kind": "agent", "name": "` + s.agent + `"}`} {
		for _, path := range []string{"/api/v1/asks", "/api/v1/tokens"} {
			s.request("POST", path, secrets["user token"], body)
			s.request("POST", path, s.agent, body)
		}
	}
	s.request("POST", "/login", "", url.Values{"secret": {secrets["link"] + "x"}}.Encode())
	for _, secret := range secrets {
		s.drive(secret)
	}
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil || !s.process.wait() {
		t.Fatalf("the server does not end: %v", err)
	}
	log := s.process.err.String()
	for name, secret := range secrets {
		if secret == "" {
			t.Errorf("there is no %s", name)
		}
		if i := strings.Index(log, secret); secret != "" && i >= 0 {
			t.Errorf("the %s is in the log: …%s…", name, log[max(0, i-200):min(len(log), i+len(secret)+40)])
		}
	}
	for _, want := range []string{
		"msg=request method=GET path=/healthz", "msg=request method=POST path=/login ", "event=login by_kind=responder by=ana", "event=login_refused",
		"event=token_refused", "event=login_link_created", "event=token_created",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q", want)
		}
	}
}

// signIn logs a browser in at the issuer, and returns what it and the server kept
// secret.
func (s *signing) signIn() map[string]string {
	s.t.Helper()
	secrets := map[string]string{}
	b := s.browser()
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		for _, name := range []string{"code", "state"} {
			if v := r.URL.Query().Get(name); v != "" {
				secrets[name] = v
			}
		}
		return nil
	}
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	if _, _, body := s.open(b, s.home+"/login/oidc?to=%2F"); !strings.Contains(body, "ana") {
		s.t.Fatalf("ana is not logged in:\n%s", body)
	}
	home, err := url.Parse(s.home)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(home) {
		secrets["cookie "+c.Name] = c.Value
	}
	return secrets
}

// drive sends a secret to every route, in each place of a request.
func (s *signing) drive(secret string) {
	s.t.Helper()
	_, _, document := s.open(http.DefaultClient, s.home+"/api/openapi.json")
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(document), &api); err != nil || len(api.Paths) < 20 {
		s.t.Fatalf("%d paths: %v", len(api.Paths), err)
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	query := "?" + url.Values{"secret": {secret}, "cursor": {secret}, "after": {secret}, "code": {secret}, "state": {secret}, "to": {"/" + secret}, "wait": {"0"}}.Encode()
	for path := range api.Paths {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			s.request(method, parameter.ReplaceAllString(path, url.PathEscape(known(secret)))+query, secret, `{"secret": "`+secret+`"}`)
		}
	}
	for _, p := range pages {
		for _, method := range []string{"GET", "POST"} {
			s.request(method, parameter.ReplaceAllString(p, url.PathEscape(known(secret)))+query, secret, url.Values{"secret": {secret}}.Encode())
		}
	}
}

// known is a secret that can be known for one, and so be left out of a path. Others are
// not put there by any program.
func known(secret string) string {
	if strings.HasPrefix(secret, "askback_") {
		return secret
	}
	return "ask_1"
}

func (s *signing) request(method, path, secret, body string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.home+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + secret}, "Cookie": {"askback=" + secret}, "Content-Type": {"application/json"}}
	if !strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := &http.Client{Timeout: testTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close() // a stream is not waited for
}

// At a terminal the first lines are for a person, and are true.
func TestServeSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	s := sit(t, env, 80, "askback", "--db", database, "serve", "--listen", "127.0.0.1:0", "--public-url", "https://ask.example.com")
	s.sees(`(?s)Askback listens on http://127\.0\.0\.1:\d+\r\nPeople reach it at https://ask\.example\.com\r\n.*askback --db \S+ login\r\n.*` +
		`askback --db \S+ ask "Which database\?" PostgreSQL SQLite\r\n.*Ctrl\+C`)
	if link := mustRun(t, env, "--db", database, "login"); !strings.HasPrefix(link, "https://ask.example.com/login?secret=") {
		t.Errorf("the link is %s", link)
	}
	s.sees("event=login_link_created")
	s.types("\x03")
	s.exits(0)
}

// The format and the level are those of the flags, and then of the settings file.
func TestLogFormatIsChosen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "askback.yaml")
	if err := os.WriteFile(file, []byte("log: {format: json, level: error}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[string][]string{
		`"msg":"serving","pages":"http`: {"--log-level", "info"},
		`msg=serving pages=http`:        {"--log-level", "info", "--log-format", "text"},
		`"event":"token_created"`:       nil,
	} {
		env, _ := sandbox(t, "ASKBACK_CONFIG="+file)
		p := launch(t, env, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
		if flags == nil { // nothing else says that it serves
			makesToken(t, env)
		}
		p.waitForStderr(t, want)
		if flags == nil && strings.Contains(p.err.String(), "serving") {
			t.Errorf("the level is not that of the file:\n%s", p.err.String())
		}
	}
	for _, wrong := range []string{"--log-format=xml", "--log-level=loud"} {
		env, _ := sandbox(t)
		p := launch(t, env, "serve", wrong)
		if !p.wait() || p.cmd.ProcessState.ExitCode() != exitUsage {
			t.Errorf("%s: %s", wrong, p.err.String())
		}
	}
}

// makesToken makes one at a server, as soon as that answers.
func makesToken(t *testing.T, env []string) {
	t.Helper()
	if !eventually(func() bool {
		cmd := exec.Command("askback", "login") // refused as long as there is no server
		cmd.Env = env
		return cmd.Run() == nil
	}) {
		t.Fatal("there is no server")
	}
	mustRun(t, env, "token", "create", "--kind", "agent", "--name", "bot")
}
