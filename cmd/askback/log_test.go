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

	"github.com/askback/askback/internal/server/login/logintest"
)

// otherPaths are the paths that are not in the OpenAPI document.
var otherPaths = []string{
	"/", "/asks/{id}", "/asks/{id}/claim", "/asks/{id}/seen", "/grants", "/grants/{id}/revoke", "/agents", "/people",
	"/numbers", "/tokens", "/tokens/{id}/revoke", "/logins", "/logins/{id}/end", "/more", "/login", "/logout",
	"/login/oidc", "/login/oidc/callback", "/mcp", "/assets/{id}", "/nowhere/{id}", "/api/openapi.json", "/api/docs",
	"/metrics", "/.well-known/oauth-protected-resource/mcp",
}

// The log never contains a secret, whatever the route and the part of the request that contained it (T22).
func TestLogContainsNoSecret(t *testing.T) {
	t.Parallel()
	s := newOIDCServer(t)
	secrets := s.logIn()
	user, err := os.ReadFile(filepath.Join(filepath.Dir(s.place.Database), "user.token"))
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(strings.TrimSpace(mustRun(t, s.env, "login")))
	if err != nil {
		t.Fatal(err)
	}
	secrets["user token"], secrets["agent token"], secrets["link"] = strings.TrimSpace(string(user)), s.agent,
		link.Query().Get("secret")
	secrets["client secret"] = "s3cret"
	for _, body := range []string{
		"{", `{"question": "Which?", "options": ["a", "b"], "agent": "` + s.agent + `"}`,
		`{"kind": "agent", "name": "` + s.agent + `"}`,
	} {
		for _, path := range []string{"/api/v1/asks", "/api/v1/tokens"} {
			s.request("POST", path, secrets["user token"], body)
			s.request("POST", path, s.agent, body)
		}
	}
	s.request("POST", "/login", "", url.Values{"secret": {secrets["link"] + "x"}}.Encode())
	for _, secret := range secrets {
		s.sendEverywhere(secret)
	}
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil || !s.process.wait() {
		t.Fatalf("the server has not exited: %v", err)
	}
	log := s.process.err.String()
	for name, secret := range secrets {
		if secret == "" {
			t.Errorf("the secret %s is empty", name)
		}
		if i := strings.Index(log, secret); secret != "" && i >= 0 {
			t.Errorf("the secret %s is in the log: …%s…", name, log[max(0, i-200):min(len(log), i+len(secret)+40)])
		}
	}
	for _, want := range []string{
		"msg=request method=GET path=/healthz", "msg=request method=POST path=/login ",
		"event=login by_kind=responder by=ana", "event=login_refused", "event=token_refused",
		"event=login_link_created", "event=token_created",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// logIn logs a browser in at the issuer. It returns the code, the state and the cookies of the log-in, keyed
// by name.
func (s *oidcServer) logIn() map[string]string {
	s.t.Helper()
	secrets := map[string]string{}
	b := s.newBrowser()
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		for _, name := range []string{"code", "state"} {
			if v := r.URL.Query().Get(name); v != "" {
				secrets[name] = v
			}
		}
		return nil
	}
	s.issuer.Person = logintest.Claims{"sub": "u1", "email": "ana@example.com", "email_verified": true}
	if _, _, body := s.get(b, s.home+"/login/oidc?to=%2F"); !strings.Contains(body, "ana") {
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

// sendEverywhere sends a secret to every route, in each part of the request.
func (s *oidcServer) sendEverywhere(secret string) {
	s.t.Helper()
	_, _, document := s.get(http.DefaultClient, s.home+"/api/openapi.json")
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(document), &api); err != nil || len(api.Paths) < 20 {
		s.t.Fatalf("%d paths: %v", len(api.Paths), err)
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	query := "?" + url.Values{
		"secret": {secret}, "cursor": {secret}, "after": {secret}, "code": {secret}, "state": {secret},
		"to": {"/" + secret}, "wait": {"0"},
	}.Encode()
	for path := range api.Paths {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			s.request(method, parameter.ReplaceAllString(path, url.PathEscape(pathSegment(secret)))+query, secret,
				`{"secret": "`+secret+`"}`)
		}
	}
	for _, p := range otherPaths {
		for _, method := range []string{"GET", "POST"} {
			s.request(method, parameter.ReplaceAllString(p, url.PathEscape(pathSegment(secret)))+query, secret,
				url.Values{"secret": {secret}}.Encode())
		}
	}
}

// pathSegment returns secret if it has the prefix of Askback's secrets, which the log
// removes from paths. Otherwise it returns an id: programs put no other secrets into paths.
func pathSegment(secret string) string {
	if strings.HasPrefix(secret, "askback_") {
		return secret
	}
	return "ask_1"
}

func (s *oidcServer) request(method, path, secret, body string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.home+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + secret}, "Cookie": {"askback=" + secret}, "Content-Type": {"application/json"},
	}
	if !strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := &http.Client{Timeout: testTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close() // the body is not read, because an event stream does not end
}

// At a terminal, askback serve first prints its URLs and the next commands.
func TestServePrintsTheNextCommandsAtATerminal(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	s := startTerminal(t, env, 80, "askback", "--db", database, "serve", "--listen", "127.0.0.1:0", "--public-url",
		"https://ask.example.com")
	s.waitForScreen(`(?s)Askback listens on http://127\.0\.0\.1:\d+\r\nPeople reach it at https://ask\.example\.com\r\n.*askback --db \S+ login\r\n.*` +
		`askback --db \S+ ask "Which database\?" PostgreSQL SQLite\r\n.*Ctrl\+C`)
	if link := mustRun(t, env, "--db", database, "login"); !strings.HasPrefix(link,
		"https://ask.example.com/login?secret=") {
		t.Errorf("the link is %s", link)
	}
	s.waitForScreen("event=login_link_created")
	s.typeKeys("\x03")
	s.waitExit(0)
}

// Flags override the log format and the log level of the settings file. An unknown format
// or level is an error.
func TestFlagsOverrideTheLogSettings(t *testing.T) {
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
		if flags == nil { // the file sets level error, so "serving" is not logged
			createToken(t, env)
		}
		p.waitForStderr(t, want)
		if flags == nil && strings.Contains(p.err.String(), "serving") {
			t.Errorf("the log is not at the level of the settings file:\n%s", p.err.String())
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

// createToken waits until the server replies and creates a token for an agent.
func createToken(t *testing.T, env []string) {
	t.Helper()
	if !eventually(func() bool {
		cmd := exec.Command("askback", "login") // the command fails without a server
		cmd.Env = env
		return cmd.Run() == nil
	}) {
		t.Fatal("the server does not answer")
	}
	mustRun(t, env, "token", "add", "--kind", "agent", "--name", "bot")
}
