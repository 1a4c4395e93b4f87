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

// each runs a test with each client, each in a house of its own.
func each(t *testing.T, change func(*issuerSetup), run func(t *testing.T, h *house, client string)) {
	t.Helper()
	t.Parallel()
	for name, client := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newHouse(t, change), client)
		})
	}
}

// A client that has nothing but an address finds the issuer, registers, lets a person
// sign in, and is in. A person answers it, and nobody else's questions are its own (B7).
func TestAnAgentSignsInByItself(t *testing.T) {
	each(t, nil, func(t *testing.T, h *house, client string) {
		a := arrives(h, client).signsIn("ana")
		m := a.memory()
		if m.Registrations != 1 || len(m.Redirects) != 1 || m.Client.ID == "" || m.Client.ID == clientID {
			t.Errorf("it registered and was sent away once, but: %+v", m)
		}
		sent := parsed(t, m.Redirects[0]).Query()
		if sent.Get("resource") != h.resource() || sent.Get("code_challenge_method") != "S256" || sent.Get("code_challenge") == "" {
			t.Errorf("it asks the issuer for %v", sent)
		}
		var tools []string
		a.must("tools", nil, &tools)
		if !slices.Contains(tools, "ask_user_question") || !slices.Contains(tools, "wait_for_answer") {
			t.Errorf("its tools are %v", tools)
		}

		done := a.asks("Which of us?")
		mine := h.Open(1)[0]
		b := arrives(h, client).signsIn("eve")
		if got := b.questions(); len(got) != 0 {
			t.Errorf("the second account sees %v of the first", got)
		}
		for _, tool := range []string{"get_answer", "wait_for_answer", "withdraw_question"} {
			if r := b.result(b.calls(tool, map[string]any{"question_id": mine.ID})); !r.IsError {
				t.Errorf("%s of another one's question: %s", tool, r.text())
			}
		}
		other := b.asks("Which of us?") // the same words, and another agent
		asks := h.Open(2)
		i := slices.IndexFunc(asks, func(k askback.Ask) bool { return k.ID != mine.ID })
		if asks[i].Agent == mine.Agent {
			t.Errorf("both are called %q", mine.Agent)
		}
		if diff := cmp.Diff([]string{mine.ID}, a.questions()); diff != "" {
			t.Errorf("the first sees\n%s", diff)
		}
		h.Answer(mine.ID, askback.Choose("Yes"))
		h.Answer(asks[i].ID, askback.Choose("No"))
		a.said(a.result(done), "Which of us?", "Yes")
		b.said(b.result(other), "Which of us?", "No")
	})
}

// One account is one agent, from whichever client it comes.
func TestOneAccountIsOneAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	a, b := arrives(h, legacy).signsIn("ana"), arrives(h, modern).signsIn("ana")
	if a.memory().Client.ID == b.memory().Client.ID {
		t.Error("both clients have one id")
	}
	done := a.asks("Still there?")
	id := h.Open(1)[0].ID
	if diff := cmp.Diff([]string{id}, b.questions()); diff != "" {
		t.Errorf("the other client of the account sees\n%s", diff)
	}
	h.Answer(id, askback.Choose("Yes"))
	a.said(a.result(done), "Still there?", "Yes")
}

// The access token ends while a call waits and before another is made: the client
// gets a new one by itself, and what it asked is still its own (B7, F4).
func TestAnAccessTokenEnds(t *testing.T) {
	each(t, func(s *issuerSetup) { s.AccessTokenTTL = 3 }, func(t *testing.T, h *house, client string) {
		a := arrives(h, client).signsIn("ana")
		waiting, late := a.asks("Answered while it waits?"), a.asks("Answered late?")
		asks := map[string]askback.Ask{}
		for _, k := range h.Open(2) {
			asks[k.Questions[0].Text] = k
		}
		h.ended(a)
		before := a.memory()
		h.Answer(asks["Answered while it waits?"].ID, askback.Choose("Yes"))
		a.said(a.result(waiting), "Answered while it waits?", "Yes")

		want := []string{asks["Answered late?"].ID}
		if diff := cmp.Diff(want, a.questions()); diff != "" {
			t.Errorf("with a new token it sees\n%s", diff)
		}
		after := a.memory()
		if after.Tokens.Access == before.Tokens.Access || len(after.Redirects) != 1 || after.Registrations != 1 {
			t.Errorf("a new token without a person: was %+v, is %+v", before, after)
		}
		again := a.calls("wait_for_answer", map[string]any{"question_id": want[0]})
		h.ended(a)
		h.Answer(want[0], askback.Choose("No"))
		a.said(a.result(again), "Answered late?", "No")
		a.said(a.result(late), "Answered late?", "No")
		a.said(a.result(a.calls("get_answer", map[string]any{"question_id": want[0]})), "Answered late?", "No")
	})
}

// ended waits until the access token of a client is good no more.
func (h *house) ended(a *agent) {
	h.t.Helper()
	token := a.memory().Tokens.Access
	until(h.t, "the access token has ended", func() error {
		if got := h.bears(token); got.status != http.StatusUnauthorized {
			return statusError(got.status)
		}
		return nil
	})
}

// The tokens of Askback go on beside it, and where both would have one name, an
// account of the issuer is not the agent of a token (F9).
func TestTokensOfAskbackBesideIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	wants(t, "a token of Askback", h.bears(h.AgentToken), http.StatusOK)
	wants(t, "a person's token", h.bears(h.PersonToken), http.StatusForbidden)
	k := h.asked("Only for robot?")
	for _, sub := range []string{"robot", "Robot", " robot", "robot ", "robot\n", "robot\u200b", "\u202erobot", "oidc:robot", "mcp:robot"} {
		token := h.signed(h.claims().but("sub", sub), nil, "")
		got := h.tool(token, "get_answer", map[string]any{"question_id": k.ID})
		if got.status != http.StatusUnauthorized && !strings.Contains(got.body, "you have no question called") {
			t.Errorf("sub %q is the agent of a token: %+v", sub, got)
		}
	}
}

// Accounts that differ in anything are two agents, however alike they look, however
// long their ids are, and whatever they say of an address that is not theirs (F9).
func TestAccountsAreNeverMixed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	long := strings.Repeat("x", 254)
	seen := map[string]string{}
	named := func(sub, email string, verified any) {
		c := h.claims().but("sub", sub)
		if email != "" {
			c = c.but("email", email).but("email_verified", verified)
		}
		name, in := h.named(c)
		if !in {
			return // refused, which mixes nothing
		}
		who := fmt.Sprintf("%q with %s, %v", sub, email, verified)
		if before, ok := seen[name]; ok {
			t.Errorf("%s and %s are both %q", before, who, name)
		}
		seen[name] = who
	}
	subs := []string{
		"a b", "a_b", "a-b", "a  b", "a/b", "a%20b", "A b", "a b ", " a b", "a\tb", "a\u00a0b", "é", "e\u0301", "a\u200bb", "a\u202eb", "x", "X",
		long + "1", long + "2", strings.Repeat("é", 127) + "1", strings.Repeat("é", 127) + "2", "1", "01", "ana@example.com", "oauth:ana@example.com",
	}
	for _, sub := range subs {
		named(sub, "", nil)
	}
	named("8d7c-1", "ana@example.com", true)
	named("8d7c-2", "ana@example.com", false)
	named("8d7c-3", "ana@example.com", "false")
	named("8d7c-4", "ana@example.com", nil)
	named("8d7c-5", "ana@example.com", 1)
	if len(seen) < 20 {
		t.Errorf("only these were let in: %v", seen)
	}
}

// Who can choose a subject cannot choose what a name is made of when it is another
// one's (F9).
func TestNobodyChoosesTheNameOfAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, sub := range []string{"a b", "é", strings.Repeat("x", 250)} {
		victim, in := h.named(h.claims().but("sub", sub))
		if !in {
			t.Fatalf("%q is not let in", sub)
		}
		for rest, found := victim, true; found; {
			if _, rest, found = strings.Cut(rest, ":"); !found || rest == sub {
				continue
			}
			if thief, in := h.named(h.claims().but("sub", rest)); in && thief == victim {
				t.Errorf("%q and %q are both %q", sub, rest, thief)
			}
		}
	}
}

// named is what an agent is called that comes with some claims, if it comes in.
func (h *house) named(c claims) (name string, in bool) {
	h.t.Helper()
	token := h.signed(c, nil, "")
	if h.bears(token).status == http.StatusUnauthorized {
		return "", false
	}
	done := make(chan knock, 1)
	go func() { done <- h.tool(token, "ask_user_question", map[string]any{"question": "Who?"}) }()
	k := h.Open(1)[0]
	h.Answer(k.ID, askback.Choose("I, "+k.Agent))
	if got := <-done; got.status != http.StatusOK || !strings.Contains(got.body, "I, ") {
		h.t.Errorf("%v: %+v", c, got)
	}
	return k.Agent, true
}

// asked is an ask of the agent of Askback's own token.
func (h *house) asked(question string) askback.Ask {
	h.t.Helper()
	k, err := h.Robot.Ask(h.t.Context(), askback.Request{Questions: []askback.Question{{
		Text: question, Options: []askback.Option{{Label: "Yes"}, {Label: "No"}},
	}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return k
}

// tool calls a tool with a token, as a client of 2026-07-28 does.
func (h *house) tool(token, name string, input map[string]any) knock {
	h.t.Helper()
	call, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": name, "arguments": input, "_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
				"io.modelcontextprotocol/clientInfo": map[string]any{"name": "tester", "version": "1"},
			},
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.sends(http.MethodPost, "/mcp", string(call), http.Header{
		"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {name},
	})
}

// A client sees where it is to go, from the refusal and without it.
func TestWhereToSignInIsSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	got := h.knocks()
	wants(t, "nobody", got, http.StatusUnauthorized)
	if want := `resource_metadata="` + h.URL + `/.well-known/oauth-protected-resource/mcp"`; !strings.HasPrefix(got.challenge, "Bearer ") || !strings.Contains(got.challenge, want) {
		t.Errorf("got %q, want %s", got.challenge, want)
	}
	const path = "/.well-known/oauth-protected-resource/mcp"
	found := h.sends(http.MethodGet, path, "", http.Header{"Origin": {"http://localhost:6274"}})
	wants(t, path, found, http.StatusOK)
	var said struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	if err := json.Unmarshal([]byte(found.body), &said); err != nil || said.Resource != h.resource() || !slices.Equal(said.Servers, []string{h.setup.Issuer}) {
		t.Errorf("%s: %s, %v", path, found.body, err)
	}
}

// Whoever has a token of the issuer is an agent at /mcp, and nobody anywhere else.
func TestATokenOfTheIssuerIsForMCPAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	token := h.signed(h.claims(), nil, "")
	wants(t, "at /mcp", h.bears(token), http.StatusOK)
	h.asked("Who reads it?")
	stranger := httpapi.NewClient(h.URL, token, nil)
	if _, err := stranger.List(t.Context(), askback.Query{}); err == nil {
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
		if got := h.sends(r.method, r.path, r.body, bearer); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s: got %d, want 401: %s", r.method, r.path, got.status, got.body)
		}
	}
	for _, name := range []string{"askback", "__Host-askback", "askback-oidc"} {
		got := h.sends(http.MethodGet, "/", "", http.Header{"Cookie": {name + "=" + token}})
		if got.status == http.StatusOK || strings.Contains(got.body, "Log out") {
			t.Errorf("the cookie %s: got %d: %s", name, got.status, got.body)
		}
	}
	if got := h.sends(http.MethodGet, "/", "", bearer); got.status == http.StatusOK {
		t.Errorf("the pages: got %d: %s", got.status, got.body)
	}
}
