package oauth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// forEachClient runs a test with each client and its own fixture.
func forEachClient(t *testing.T, change func(*issuerSetup), run func(t *testing.T, f *fixture, client string)) {
	t.Helper()
	t.Parallel()
	for name, client := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newFixture(t, change), client)
		})
	}
}

// A client that knows only an address finds the issuer, registers, signs a person in and connects. It gets
// only the answers to its own questions (B7).
func TestAgentSignsIn(t *testing.T) {
	forEachClient(t, nil, func(t *testing.T, f *fixture, client string) {
		a := newAgent(f, client).signIn("ana")
		m := a.memory()
		if m.Registrations != 1 || len(m.Redirects) != 1 || m.Client.ID == "" || m.Client.ID == clientID {
			t.Errorf("it registered and was sent away once, but: %+v", m)
		}
		sent := parsed(t, m.Redirects[0]).Query()
		if sent.Get("resource") != f.resource() || sent.Get("code_challenge_method") != "S256" ||
			sent.Get("code_challenge") == "" {
			t.Errorf("it asks the issuer for %v", sent)
		}
		var tools []string
		a.run("tools", nil, &tools)
		if !slices.Contains(tools, "ask_user_question") || !slices.Contains(tools, "wait_for_answer") {
			t.Errorf("its tools are %v", tools)
		}

		done := a.startAsk("Which of us?")
		mine := f.Open(1)[0]
		b := newAgent(f, client).signIn("eve")
		if got := b.questions(); len(got) != 0 {
			t.Errorf("the second account sees %v of the first", got)
		}
		for _, tool := range []string{"get_answer", "wait_for_answer", "withdraw_question"} {
			if r := b.result(b.startCall(tool, map[string]any{"question_id": mine.ID})); !r.IsError {
				t.Errorf("%s of another one's question: %s", tool, r.text())
			}
		}
		other := b.startAsk("Which of us?") // the same question by another agent
		asks := f.Open(2)
		i := slices.IndexFunc(asks, func(k askback.Ask) bool { return k.ID != mine.ID })
		if asks[i].Agent == mine.Agent {
			t.Errorf("both are called %q", mine.Agent)
		}
		if diff := cmp.Diff([]string{mine.ID}, a.questions()); diff != "" {
			t.Errorf("the first sees\n%s", diff)
		}
		f.Answer(mine.ID, askback.Choose("Yes"))
		f.Answer(asks[i].ID, askback.Choose("No"))
		a.wantAnswer(a.result(done), "Which of us?", "Yes")
		b.wantAnswer(b.result(other), "Which of us?", "No")
	})
}

// An account is the same agent with each client.
func TestOneAccountIsOneAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	a, b := newAgent(f, legacy).signIn("ana"), newAgent(f, modern).signIn("ana")
	if a.memory().Client.ID == b.memory().Client.ID {
		t.Error("both clients have one id")
	}
	done := a.startAsk("Still there?")
	id := f.Open(1)[0].ID
	if diff := cmp.Diff([]string{id}, b.questions()); diff != "" {
		t.Errorf("the other client of the account sees\n%s", diff)
	}
	f.Answer(id, askback.Choose("Yes"))
	a.wantAnswer(a.result(done), "Still there?", "Yes")
}

// The access token expires during a call and before another call. The client renews the token, and keeps its
// questions (B7, F4).
func TestExpiredAccessTokenIsRenewed(t *testing.T) {
	forEachClient(t, func(s *issuerSetup) { s.AccessTokenTTL = 3 }, func(t *testing.T, f *fixture, client string) {
		a := newAgent(f, client).signIn("ana")
		waiting, late := a.startAsk("Answered while it waits?"), a.startAsk("Answered late?")
		asks := map[string]askback.Ask{}
		for _, k := range f.Open(2) {
			asks[k.Questions[0].Text] = k
		}
		f.waitUntilExpired(a)
		before := a.memory()
		f.Answer(asks["Answered while it waits?"].ID, askback.Choose("Yes"))
		a.wantAnswer(a.result(waiting), "Answered while it waits?", "Yes")

		want := []string{asks["Answered late?"].ID}
		if diff := cmp.Diff(want, a.questions()); diff != "" {
			t.Errorf("with a new token it sees\n%s", diff)
		}
		after := a.memory()
		if after.Tokens.Access == before.Tokens.Access || len(after.Redirects) != 1 || after.Registrations != 1 {
			t.Errorf("a new token without a person: was %+v, is %+v", before, after)
		}
		again := a.startCall("wait_for_answer", map[string]any{"question_id": want[0]})
		f.waitUntilExpired(a)
		f.Answer(want[0], askback.Choose("No"))
		a.wantAnswer(a.result(again), "Answered late?", "No")
		a.wantAnswer(a.result(late), "Answered late?", "No")
		a.wantAnswer(a.result(a.startCall("get_answer", map[string]any{"question_id": want[0]})), "Answered late?",
			"No")
	})
}

// waitUntilExpired waits until the access token of a client has expired.
func (f *fixture) waitUntilExpired(a *agent) {
	f.t.Helper()
	token := a.memory().Tokens.Access
	until(f.t, "the access token has ended", func() error {
		if got := f.initializeWithToken(token); got.status != http.StatusUnauthorized {
			return statusError(got.status)
		}
		return nil
	})
}

// Tokens of Askback remain valid if there is an issuer. An account with the name of
// an agent of Askback is another agent (F9).
func TestTokensOfAskbackRemainValid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	wantStatus(t, "a token of Askback", f.initializeWithToken(f.AgentToken), http.StatusOK)
	wantStatus(t, "a person's token", f.initializeWithToken(f.PersonToken), http.StatusForbidden)
	k := f.ask("Only for robot?")
	for _, sub := range []string{
		"robot", "Robot", " robot", "robot ", "robot\n", "robot\u200b", "\u202erobot", "oidc:robot", "mcp:robot",
	} {
		token := f.sign(f.claims().withClaim("sub", sub), nil, "")
		got := f.callTool(token, "get_answer", map[string]any{"question_id": k.ID})
		if got.status != http.StatusUnauthorized && !strings.Contains(got.body, "you have no question called") {
			t.Errorf("sub %q is the agent of a token: %+v", sub, got)
		}
	}
}

// Accounts with different subjects are different agents, even if the subjects are
// long or similar, or the accounts have the same unverified address (F9).
func TestAccountsAreSeparateAgents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	long := strings.Repeat("x", 254)
	seen := map[string]string{}
	agentName := func(sub, email string, verified any) {
		c := f.claims().withClaim("sub", sub)
		if email != "" {
			c = c.withClaim("email", email).withClaim("email_verified", verified)
		}
		name, in := f.agentName(c)
		if !in {
			return // rejected, so it has no agent
		}
		who := fmt.Sprintf("%q with %s, %v", sub, email, verified)
		if before, ok := seen[name]; ok {
			t.Errorf("%s and %s are both %q", before, who, name)
		}
		seen[name] = who
	}
	subs := []string{
		"a b", "a_b", "a-b", "a  b", "a/b", "a%20b", "A b", "a b ", " a b", "a\tb", "a\u00a0b", "é", "e\u0301",
		"a\u200bb", "a\u202eb", "x", "X", long + "1", long + "2", strings.Repeat("é", 127) + "1",
		strings.Repeat("é", 127) + "2", "1", "01", "ana@example.com", "oauth:ana@example.com",
	}
	for _, sub := range subs {
		agentName(sub, "", nil)
	}
	agentName("8d7c-1", "ana@example.com", true)
	agentName("8d7c-2", "ana@example.com", false)
	agentName("8d7c-3", "ana@example.com", "false")
	agentName("8d7c-4", "ana@example.com", nil)
	agentName("8d7c-5", "ana@example.com", 1)
	if len(seen) < 20 {
		t.Errorf("only these were let in: %v", seen)
	}
}

// An account whose subject imitates an agent name does not become that agent
// (F9).
func TestSubjectCannotForgeAgentName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, sub := range []string{"a b", "é", strings.Repeat("x", 250)} {
		name, in := f.agentName(f.claims().withClaim("sub", sub))
		if !in {
			t.Fatalf("%q is not let in", sub)
		}
		for rest, found := name, true; found; {
			if _, rest, found = strings.Cut(rest, ":"); !found || rest == sub {
				continue
			}
			if other, in := f.agentName(f.claims().withClaim("sub", rest)); in && other == name {
				t.Errorf("%q and %q are both %q", sub, rest, other)
			}
		}
	}
}

// agentName returns the name of the agent with these claims. It returns false if a token with the claims is
// rejected.
func (f *fixture) agentName(c claims) (name string, in bool) {
	f.t.Helper()
	token := f.sign(c, nil, "")
	if f.initializeWithToken(token).status == http.StatusUnauthorized {
		return "", false
	}
	done := make(chan response, 1)
	go func() {
		defer close(done) // even if the call fails
		done <- f.callTool(token, "ask_user_question", map[string]any{"question": "Who?"})
	}()
	k := f.Open(1)[0]
	f.Answer(k.ID, askback.Choose("I, "+k.Agent))
	if got := <-done; got.status != http.StatusOK || !strings.Contains(got.body, "I, ") {
		f.t.Errorf("%v: %+v", c, got)
	}
	return k.Agent, true
}

// ask makes an ask with the agent token of Askback, and returns the ask.
func (f *fixture) ask(question string) askback.Ask {
	f.t.Helper()
	k, err := f.Robot.Ask(f.t.Context(), askback.Request{Questions: []askback.Question{{
		Text: question, Options: []askback.Option{{Label: "Yes"}, {Label: "No"}},
	}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

// callTool calls a tool like a client of revision 2026-07-28, and returns the response.
func (f *fixture) callTool(token, name string, input map[string]any) response {
	f.t.Helper()
	call, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": name, "arguments": input, "_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
				"io.modelcontextprotocol/clientCapabilities": map[string]any{},
				"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "tester", "version": "1"},
			},
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.request(http.MethodPost, "/mcp", string(call), http.Header{
		"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"},
		"Mcp-Name": {name},
	})
}

// A 401 response contains the address of the resource metadata, which names the
// issuer and needs no token.
func TestResourceMetadataNamesTheIssuer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	got := f.initialize()
	wantStatus(t, "without a token", got, http.StatusUnauthorized)
	if want := `resource_metadata="` + f.URL + `/.well-known/oauth-protected-resource/mcp"`; !strings.HasPrefix(
		got.challenge, "Bearer ",
	) || !strings.Contains(got.challenge, want) {
		t.Errorf("got %q, want %s", got.challenge, want)
	}
	const path = "/.well-known/oauth-protected-resource/mcp"
	got = f.request(http.MethodGet, path, "", http.Header{"Origin": {"http://localhost:6274"}})
	wantStatus(t, path, got, http.StatusOK)
	var metadata struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	if err := json.Unmarshal([]byte(got.body), &metadata); err != nil || metadata.Resource != f.resource() ||
		!slices.Equal(metadata.Servers, []string{f.setup.Issuer}) {
		t.Errorf("%s: %s, %v", path, got.body, err)
	}
}

// A token of the issuer is valid at /mcp only.
func TestIssuerTokenIsForMCPOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	token := f.sign(f.claims(), nil, "")
	wantStatus(t, "at /mcp", f.initializeWithToken(token), http.StatusOK)
	f.ask("Who reads it?")
	client := httpapi.NewClient(f.URL, token, nil)
	if _, err := client.List(t.Context(), askback.Query{}); err == nil {
		t.Error("it lists asks over the API")
	}
	bearer := http.Header{"Authorization": {"Bearer " + token}}
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/api/v1/asks", ""},
		{"POST", "/api/v1/asks", `{"question":"Who?"}`},
		{"POST", "/api/v1/hooks/claude-code", `{"session_id":"1","hook_event_name":"Stop"}`},
		{"POST", "/api/v1/dialects/flat/ask", `{"question":"Who?"}`},
		{"GET", "/api/v1/tokens", ""},
		{"POST", "/api/v1/logins", "{}"},
	} {
		if got := f.request(r.method, r.path, r.body, bearer); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s: got %d, want 401: %s", r.method, r.path, got.status, got.body)
		}
	}
	for _, name := range []string{"askback", "__Host-askback", "askback-oidc"} {
		got := f.request(http.MethodGet, "/", "", http.Header{"Cookie": {name + "=" + token}})
		if got.status == http.StatusOK || strings.Contains(got.body, "Log out") {
			t.Errorf("the cookie %s: got %d: %s", name, got.status, got.body)
		}
	}
	if got := f.request(http.MethodGet, "/", "", bearer); got.status == http.StatusOK {
		t.Errorf("the pages: got %d: %s", got.status, got.body)
	}
}
