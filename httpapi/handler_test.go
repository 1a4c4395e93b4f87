package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

func isUnreachable(err error) bool { return errors.Is(err, askback.ErrUnreachable) }
func isStopping(err error) bool    { return errors.Is(err, askback.ErrStopping) }

// A reply is a response with its whole body.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request without a Client, as curl would.
func (w *fixture) send(method, path, secret, body string, header ...string) reply {
	w.t.Helper()
	r, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := readReply(res)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(raw)}
}

// readReply reads a whole body, or the first frame of a stream.
func readReply(res *http.Response) ([]byte, error) {
	if res.Header.Get("Content-Type") != "text/event-stream" {
		return io.ReadAll(res.Body)
	}
	var all []byte
	for in := bufio.NewReader(res.Body); ; {
		line, err := in.ReadBytes('\n')
		all = append(all, line...)
		if err == io.EOF || bytes.HasSuffix(all, []byte("\n\n")) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

var (
	bot = askback.Principal{Kind: askback.Agent, Name: "bot"}
	ana = askback.Principal{Kind: askback.Responder, Name: "ana"}
)

const databases = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "descriptions": ["a server", null]}`

func (w *fixture) ask(body string) askback.Ask {
	w.t.Helper()
	got := w.send("POST", "/api/v1/asks", w.token(bot), body)
	var ask askback.Ask
	if err := json.Unmarshal([]byte(got.body), &ask); err != nil || got.status != http.StatusCreated {
		w.t.Fatalf("ask: %d %s (%v)", got.status, got.body, err)
	}
	return ask
}

// Plain HTTP requests that ask, wait and answer get the statuses of docs/wire.md §3 (C1, C2,
// D2, E10, F6).
func TestAskIsAnsweredOverPlainHTTP(t *testing.T) {
	w := newFixture(t, &httpapi.Options{PublicURL: "https://ask.example.com"})
	ask := w.ask(databases)
	if want := "https://ask.example.com/asks/" + ask.ID; ask.PageURL != want {
		t.Errorf("page_url: got %q, want %q", ask.PageURL, want)
	}
	path := "/api/v1/asks/" + ask.ID
	for _, step := range []struct {
		name, method, path string
		who                askback.Principal
		body               string
		status             int
		contains           string
	}{
		{"before the answer", "GET", path + "?wait=0s", bot, "", 200, `"status":"pending"`},
		{"an empty answer", "POST", path + "/answer", ana, `{"answer": ""}`, 422, `"pointer":"/answers/0"`},
		{"answered", "POST", path + "/answer", ana, `{"answer": "SQLite"}`, 200, `"selected":["SQLite"]`},
		{
			"the same answer again", "POST", path + "/answer", ana, `{"answers": {"Which database?": "SQLite"}}`, 200,
			`"by":{"kind":"person","name":"ana"}`,
		},
		{
			"a late answer", "POST", path + "/answer",
			askback.Principal{Kind: askback.Responder, Name: "ben"},
			`{"answer": "PostgreSQL"}`, 409, `"ask_id":"` + ask.ID,
		},
		{
			"the outcome of a late decline", "POST", path + "/decline",
			askback.Principal{Kind: askback.Responder, Name: "ben"},
			`{"reason": "no idea"}`, 409, `"name":"ana"`,
		},
		{"the agent waits", "GET", path + "?wait=60s", bot, "", 200, `"status":"answered"`},
		{"another agent", "GET", path, askback.Principal{Kind: askback.Agent, Name: "other"}, "", 404, `not-found`},
		{"an unknown ask", "GET", "/api/v1/asks/ask_01k00000000000000000000000", bot, "", 404, `not-found`},
		{"a late withdrawal", "POST", path + "/cancel", bot, "", 409, `settled`},
		{"the list", "GET", "/api/v1/asks?status=answered", ana, "", 200, ask.ID},
		{
			"the list of pending asks", "GET", "/api/v1/asks", ana, "", 200,
			`{"items":[],"next_cursor":null,"events_cursor":"NC4w"}`,
		},
	} {
		got := w.send(step.method, step.path, w.token(step.who), step.body)
		if got.status != step.status || !strings.Contains(got.body, step.contains) {
			t.Errorf("%s: got %d %s, want %d with %s", step.name, got.status, got.body, step.status, step.contains)
		}
	}
}

// The key is sent in the body or in the header, with the same effect.
func TestIdempotencyKeyIsReadFromHeaderOrBody(t *testing.T) {
	w := newFixture(t, nil)
	first := w.send("POST", "/api/v1/asks", w.token(bot), databases, "Idempotency-Key", "k1")
	again := w.send("POST", "/api/v1/asks", w.token(bot), strings.Replace(databases, "{", `{"key": "k1", `, 1))
	other := w.send("POST", "/api/v1/asks", w.token(bot), `{"question": "Else?"}`, "Idempotency-Key", "k1")
	both := w.send("POST", "/api/v1/asks", w.token(bot), `{"question": "Else?", "key": "k2"}`, "Idempotency-Key", "k1")
	if first.status != 201 || again.status != 200 || first.body != again.body {
		t.Errorf("got %d %s and %d %s, want 201 and 200 with the same ask", first.status, first.body, again.status,
			again.body)
	}
	if other.status != 422 || !strings.Contains(other.body, "key-reused") {
		t.Errorf("other content: got %d %s, want 422", other.status, other.body)
	}
	if both.status != 422 || !strings.Contains(both.body, "/key") {
		t.Errorf("two keys: got %d %s, want 422", both.status, both.body)
	}
}

// A body is rejected if it is not strict JSON (docs/wire.md §1), is too large, or has another media type. An
// unknown field and an inexact number are also rejected. The problem describes the error, and nothing changes
// (F15).
func TestMalformedBodiesAreRejected(t *testing.T) {
	w := newFixture(t, nil)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, c := range map[string]struct {
		body, kind string
		status     int
		contains   string
	}{
		"duplicate keys": {`{"question": "A?", "question": "B?"}`, "application/json", 400, "/question"},
		"another case":   {`{"Question": "A?"}`, "application/json", 422, `did you mean \"question\"?`},
		"unknown field":  {`{"question": "A?", "colour": 1}`, "application/json", 422, "/colour"},
		"bad UTF-8":      {"{\"question\": \"\xff\"}", "application/json", 400, "not-json"},
		"lone surrogate": {`{"question": "\ud800"}`, "application/json", 400, "not-json"},
		"too deep":       {`{"context": ` + deep + `}`, "application/json", 400, "not-json"},
		"trailing":       {`{"question": "A?"} {}`, "application/json", 400, "not-json"},
		"nothing":        {"", "application/json", 400, "not-json"},
		"an array":       {`[]`, "application/json", 422, "expected an object, got an array"},
		"a form":         {"question=A", "application/x-www-form-urlencoded", 415, "media-type"},
		"no type":        {`{"question": "A?"}`, "", 415, "media-type"},
		"too large":      {`{"question": "` + strings.Repeat("A", 3<<20) + `"}`, "application/json", 413, "too-large"},
		"number changes": {
			`{"confirmation": {"tool_name": "pay", "input": {"cents": 9007199254740993}}}`, "application/json", 422,
			"/confirmation/input/cents",
		},
		"quorum":   {`{"question": "A?", "quorum": 2}`, "application/json", 422, "/quorum"},
		"callback": {`{"question": "A?", "callback_url": "https://x"}`, "application/json", 422, "/callback_url"},
	} {
		got := w.send("POST", "/api/v1/asks", w.token(bot), c.body, "Content-Type", c.kind)
		if got.status != c.status || !strings.Contains(got.body, c.contains) {
			t.Errorf("%s: got %d %s, want %d with %s", name, got.status, got.body, c.status, c.contains)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%s: got a %s, want a problem", name, kind)
		}
	}
	if page, err := w.engine.As(ana).List(context.Background(), askback.Query{Status: askback.AnyStatus}); err != nil ||
		len(page.Items) != 0 {
		t.Errorf("got %d asks, %v; want none", len(page.Items), err)
	}
}

// Unknown and repeated query keys and invalid values are rejected: a misspelt filter must not
// select everything.
func TestInvalidQueriesAreRejected(t *testing.T) {
	w := newFixture(t, nil)
	for _, path := range []string{
		"/api/v1/asks?stauts=all", "/api/v1/asks?status=all&status=pending", "/api/v1/asks?limit=0",
		"/api/v1/asks?limit=x", "/api/v1/asks?status=done", "/api/v1/asks/x?wait=soon",
	} {
		if got := w.send("GET", path, w.token(ana), ""); got.status != 422 {
			t.Errorf("%s: got %d %s, want 422", path, got.status, got.body)
		}
	}
}

// A request is rejected if it has no token, or if its token is unknown, revoked, in the URL or sent as Basic.
// A revocation takes effect immediately (F4).
func TestOnlyValidTokensAreAccepted(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	made, secret, err := w.engine.As(root).CreateToken(ctx, askback.TokenRequest{Kind: askback.Responder, Name: "cem"})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/asks"
	if got := w.send("GET", path, secret, ""); got.status != 200 {
		t.Errorf("a good token: got %d %s", got.status, got.body)
	}
	if _, err := w.engine.As(root).RevokeToken(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]reply{
		"revoked":    w.send("GET", path, secret, ""),
		"none":       w.send("GET", path, "", ""),
		"made up":    w.send("GET", path, "askback_"+strings.Repeat("A", 43), ""),
		"in the URL": w.send("GET", path+"?token="+w.token(ana), "", ""),
		"as Basic":   w.send("GET", path, "", "", "Authorization", "Basic "+w.token(ana)),
	} {
		if got.status != 401 && got.status != 422 {
			t.Errorf("%s: got %d %s, want 401", name, got.status, got.body)
		}
		if got.status == 401 && got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: status 401 has no WWW-Authenticate", name)
		}
	}
}

// An admin creates, lists and revokes tokens, and an operator can list them. Agents and
// responders cannot. A list contains no secret.
func TestAdminManagesTokens(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	admin := w.As(askback.Principal{Kind: askback.Admin, Name: "eve"})
	made, secret, err := admin.CreateToken(ctx,
		askback.TokenRequest{Kind: askback.Agent, Name: "new-bot", ExpiresIn: 90 * 60e9})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := w.engine.Authenticate(ctx, secret); err != nil || who.Name != "new-bot" ||
		who.Kind != askback.Agent {
		t.Errorf("got %+v, %v; want agent new-bot", who, err)
	}
	if got := made.ExpiresAt.Sub(made.CreatedAt); got != 90*60e9 {
		t.Errorf("it is valid for %v, want 1h30m", got)
	}
	tokens, err := admin.Tokens(ctx)
	if err != nil || len(tokens) != 2 {
		t.Errorf("got %d tokens, %v; want 2", len(tokens), err)
	}
	if all, _ := json.Marshal(tokens); bytes.Contains(all, []byte(secret)) {
		t.Error("a list of tokens shows a secret")
	}
	if _, err := admin.RevokeToken(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := w.engine.Authenticate(ctx, secret); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("a revoked token: got %v, want %v", err, askback.ErrUnauthorized)
	}
	seen, err := w.As(askback.Principal{Kind: askback.Operator, Name: "ops"}).Tokens(ctx)
	if all, _ := json.Marshal(seen); err != nil || len(seen) < 2 || bytes.Contains(all, []byte(secret)) {
		t.Errorf("an operator got %s, %v; want the tokens without their secrets", all, err)
	}
	for _, p := range []askback.Principal{bot, ana} {
		if _, err := w.As(p).Tokens(ctx); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("%s: got %v, want %v", p.Kind, err, askback.ErrForbidden)
		}
	}
}

// A browser's cookie is accepted from a page of this origin, and rejected from other origins.
func TestCrossSiteRequestsAreRejected(t *testing.T) {
	w := newFixture(t, nil)
	ask := w.ask(databases)
	path := "/api/v1/asks/" + ask.ID + "/answer"
	cookie := "askback=" + w.token(ana)
	const body = `{"answer": "SQLite"}`
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		got := w.send("POST", path, "", body, append(header, "Cookie", cookie)...)
		if got.status != 403 {
			t.Errorf("%v: got %d %s, want 403", header, got.status, got.body)
		}
	}
	if got := w.send("POST", path, "", body, "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); got.status != 200 {
		t.Errorf("the same origin: got %d %s, want 200", got.status, got.body)
	}
}

// An unknown path returns a problem. If only the method is unknown, the header Allow lists the methods of the
// path.
func TestUnknownPathReturnsProblem(t *testing.T) {
	w := newFixture(t, nil)
	if got := w.send("GET", "/api/v1/nothing", w.token(ana), ""); got.status != 404 ||
		!strings.Contains(got.body, "urn:askback:problem") {
		t.Errorf("got %d %s", got.status, got.body)
	}
	got := w.send("DELETE", "/api/v1/asks", w.token(ana), "")
	if got.status != 405 || got.header.Get("Allow") != "POST, GET" {
		t.Errorf("got %d, Allow %q; want 405 and POST, GET", got.status, got.header.Get("Allow"))
	}
}

// docs/problems.md has the problem of every error in the table sentinels, with its status.
func TestProblemsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/problems.md")
	if err != nil {
		t.Fatal(err)
	}
	for word, status := range httpapi.Sentinels() {
		if row := fmt.Sprintf("| `%s` | %d |", word, status); !strings.Contains(string(page), row) {
			t.Errorf("docs/problems.md lacks the row %s", row)
		}
	}
}
