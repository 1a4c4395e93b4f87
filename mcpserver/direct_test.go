package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
)

// A settlingEngine is an engine that settles each ask before the agent waits for the ask.
type settlingEngine struct{ *engine.Engine }

func (e settlingEngine) As(p askback.Principal) askback.Client {
	return settlingClient{e.Engine.As(p), e.Engine.As(ana)}
}

type settlingClient struct {
	askback.Client
	person askback.Client
}

// Ask answers a question with "yes", declines everything else, and returns the pending ask.
func (c settlingClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	ask, err := c.Client.Ask(ctx, r)
	if err != nil || ask.Settled() {
		return ask, err
	}
	if _, err := c.person.Answer(ctx, ask.ID, askback.Choose("yes")); err == nil {
		return ask, nil
	}
	_, err = c.person.Decline(ctx, ask.ID, "<no> & \"no\"\u2028")
	return ask, err
}

// newSettlingHandler returns the handler of a server whose asks are settled immediately, and the token of an
// agent.
func newSettlingHandler(t testing.TB) (http.Handler, string) {
	t.Helper()
	e := engine.New(memstore.New(), nil)
	server := mcpserver.New(&mcpserver.Options{PublicURL: "https://ask.example.com", Version: "test"})
	t.Cleanup(func() { server.Stop(); server.Finish() })
	admin := e.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal})
	_, secret, err := admin.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Agent, Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	return server.Handler(settlingEngine{e}), secret
}

// An httpCall is an HTTP request with the body and the headers of a call. A header with the value "-" is not
// sent.
type httpCall struct{ body, version, method, name, contentType, lastEvent string }

func (c httpCall) serve(h http.Handler, secret, accept string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, c.request(secret, accept))
	return w
}

func (c httpCall) request(secret, accept string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(c.body))
	for name, value := range map[string]string{
		"Authorization": "Bearer " + secret, "Accept": accept, "Content-Type": c.contentType,
		"Mcp-Protocol-Version": c.version, "Mcp-Method": c.method, "Mcp-Name": c.name, "Last-Event-ID": c.lastEvent,
	} {
		if value != "-" {
			r.Header.Set(name, value)
		}
	}
	return r
}

// A flushCounter counts how often a reply is flushed.
type flushCounter struct {
	*httptest.ResponseRecorder
	n int
}

func (f *flushCounter) Flush() { f.n++ }

// usualAccept and unusualAccept allow the same replies, but only the SDK serves a request with unusualAccept.
const usualAccept, unusualAccept = "application/json, text/event-stream", "*/*"

var changing = regexp.MustCompile(`ask_[0-9a-z]{26}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// seen returns the parts of a reply that a client can observe. The JSON of a message is decoded, because the
// SDK escapes some characters.
func seen(w *httptest.ResponseRecorder) map[string]any {
	body := changing.ReplaceAllString(w.Body.String(), "…")
	out := map[string]any{"status": w.Code}
	for _, name := range []string{"Content-Type", "Cache-Control", "Connection"} {
		out[name] = w.Header().Get(name)
	}
	for line := range strings.Lines(body) {
		data, isMessage := strings.CutPrefix(line, "data: ")
		var message any
		if isMessage && json.Unmarshal([]byte(data), &message) == nil {
			out["messages"] = append(asList(out["messages"]), message)
			continue
		}
		out["lines"] = append(asList(out["lines"]), line)
	}
	return out
}

func asList(v any) []any { list, _ := v.([]any); return list }

// compareWithSDK serves a request and reports whether it was served directly. The test fails if the SDK sends
// a different reply.
func compareWithSDK(t *testing.T, h http.Handler, secret string, c httpCall) (direct bool) {
	t.Helper()
	const pauses = 50
	for n := 0; ; n++ {
		got := c.serve(h, secret, usualAccept)
		if !isDirect(got) {
			return false
		}
		diff := cmp.Diff(seen(c.serve(h, secret, unusualAccept)), seen(got))
		if diff == "" {
			return true
		}
		// Soon after the reply to a call, its outcome is acknowledged, which changes the list of open
		// questions.
		if n == pauses || pause.For(t.Context(), 20*time.Millisecond) != nil {
			t.Errorf("%+v (-SDK +direct)\n%s", c, diff)
			return true
		}
	}
}

// isDirect reports whether a reply was written without the SDK. A reply of the SDK has no Content-Length.
func isDirect(w *httptest.ResponseRecorder) bool {
	return w.Code == http.StatusOK && w.Header().Get("Content-Length") != ""
}

const (
	declaring = `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}`
	question  = `"name": "ask_user_question", "arguments": {"question": "Which <b>?"}`
)

// statelessCall returns a call of ask_user_question with these members of _meta.
func statelessCall(meta string) httpCall {
	return rawCall(
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {` + question + `, "_meta": {` + meta + `}}}`,
	)
}

func rawCall(body string) httpCall {
	return httpCall{body, stateless, "tools/call", "ask_user_question", "application/json", "-"}
}

func sessionCall(body string) httpCall {
	return httpCall{body, withSessions, "-", "-", "application/json; charset=utf-8", "-"}
}

func inSession(params string) httpCall {
	return sessionCall(`{"jsonrpc": "2.0", "id": "a-1", "method": "tools/call", "params": {` + params + `}}`)
}

// directCalls returns calls that the server handles without the SDK.
func directCalls() []httpCall {
	version := `"io.modelcontextprotocol/protocolVersion": "2026-07-28"`
	calls := []httpCall{
		rawCall(toolCall("ask_user_question", database,
			`{"elicitation": {"url": {}}, "roots": {"listChanged": true}, "own": 1}`)),
		rawCall(toolCall("ask_user_question", `{"question": 5}`, `{"extensions": {"own": {}}}`)),
		rawCall(toolCall("ask_user_question", `"not an object"`, `{}`)),
		rawCall(withClientName("claude-code", toolCall("ask_user_question", database, withTasks))),
		statelessCall(version + `, "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "x", "own": 1}`),
		statelessCall(version + `, "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 5, "askback/idempotency-key": "k"`),
		inSession(question), inSession(question + `, "_meta": null`),
		inSession(question + `, "_meta": {"progressToken": "p", "own": [1]}`),
		inSession(`"name": "confirm_action", "arguments": {"action": "Drop the table", "details": "\u2028\u0007é\ud83d\ude00"}`),
		inSession(`"name": "permission_prompt", "arguments": {"tool_name": "Bash", "input": {"command": "ls"}}`),
		inSession(`"name": "get_answer", "arguments": {"question_id": "ask_1"}`), inSession(`"name": "get_answer"`),
		inSession(`"name": "wait_for_answer", "arguments": {"question_id": "ask_01k00000000000000000000000", "max_wait_s": 1}`),
		inSession(`"name": "withdraw_question", "arguments": {"question_id": "ask_1", "reason": "<>&"}`),
		inSession(`"name": "list_open_questions", "arguments": {}`),
		inSession(`"name": "ask_user_question", "arguments": {"question": "` + strings.Repeat("x", 1<<20) + `"}`),
	}
	named := rawCall(strings.ReplaceAll(toolCall("AskUserQuestion", database, `{}`), ": ", " :\n"))
	named.name = "AskUserQuestion"
	for _, version := range []string{"2025-03-26", "2025-06-18"} {
		c := inSession(question)
		c.version = version
		calls = append(calls, c)
	}
	return append(calls, named)
}

// indirectCalls returns calls that only the SDK handles, because they are unusual or invalid.
func indirectCalls() []httpCall {
	version, capabilities := `"io.modelcontextprotocol/protocolVersion": "2026-07-28"`,
		`"io.modelcontextprotocol/clientCapabilities": {}`
	calls := []httpCall{
		rawCall(``), rawCall(`{`), rawCall(`null`), rawCall(`5`), rawCall(`[]`),
		rawCall(toolCall("ask_user_question", database, withTasks)),
		rawCall(withClientName("mcp-inspector",
			toolCall("ask_user_question", database, `{"elicitation": {"url": {}}}`))),
		rawCall(toolCall("ask_user_question", database, `null`)),
		rawCall(toolCall("ask_user_question", database, `[]`)),
		rawCall(toolCall("ask_user_question", database, `{"roots": 5}`)),
		rawCall(toolCall("ask_user_question", database, `{"elicitation": {"form": 5}}`)),
		rawCall(toolCall("get_answer", `{}`, `{}`)),
		statelessCall(version), statelessCall(capabilities),
		statelessCall(version + `, ` + strings.ToUpper(capabilities)),
		statelessCall(strings.Replace(version, "07-28", "07-29", 1) + `, ` + capabilities),
		statelessCall(version + `, ` + capabilities + `, "io.modelcontextprotocol/clientInfo": null`),
		statelessCall(version + `, ` + capabilities + `, "io.modelcontextprotocol/clientInfo": {"name": 5}`),
		statelessCall(version + `, ` + capabilities + `, "progressToken": 1e999`),
		inSession(question + `, ` + declaring),
		inSession(question + `, "_meta": {"io.modelcontextprotocol/protocolVersion": ""}`),
		inSession(question + `, "_meta": 5`), inSession(question + `, "own": 5`),
		inSession(question + `, "requestState": "x"`), inSession(question + `, ` + question),
		inSession(`"name": "ask_user_question", "arguments": null`), inSession(`"name": null`), inSession(`"name": 5`),
		inSession(`"name": "own"`), inSession(``),
		inSession(`"name": "ask_user_question", "arguments": {"question": "` + "\xff" + `"}`),
		inSession(`"name": "ask_user_question", "arguments": {"question": "\ud800"}`),
		inSession(`"name": "ask_user_question", "arguments": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000)),
		inSession(`"name": "ask_user_question", "arguments": {"question": "` + strings.Repeat("x", 2<<20) + `"}`),
		sessionCall(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`),
		sessionCall(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`),
		sessionCall(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}}`),
		sessionCall(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`),
		sessionCall(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}`),
	}
	for _, id := range []string{
		`null`, `1.5`, `-1`, `1e3`, `9007199254740993`, `-0`, `{}`, `true`, `"a", "id": "b"`, `"a\"1"`, `"\u0041"`,
		`"<"`, `"é"`, `1, "own": 1`, `1, "ID": 2`,
	} {
		calls = append(calls,
			sessionCall(`{"jsonrpc": "2.0", "id": `+id+`, "method": "tools/call", "params": {`+question+`}}`))
	}
	for _, start := range []string{
		`{"jsonrpc": "1.0", `, `{"id": 1, `, `{"JSONRPC": "2.0", `, `{"jsonrpc": "2.0", "result": {}, `,
	} {
		calls = append(calls, sessionCall(start+`"id": 2, "method": "tools/call", "params": {`+question+`}}`))
	}
	calls = append(calls, sessionCall(inSession(question).body+" x"),
		sessionCall(inSession(question).body+strings.Repeat(" ", 2<<20)))
	for _, change := range []func(*httpCall){
		func(c *httpCall) { c.version = "-" }, func(c *httpCall) { c.version = "2025-01-01" },
		func(c *httpCall) { c.version = "2027-01-01" }, func(c *httpCall) { c.version = withSessions },
		func(c *httpCall) { c.method = "-" }, func(c *httpCall) { c.method = "tools/list" },
		func(c *httpCall) { c.name = "-" }, func(c *httpCall) { c.name = "own" },
		func(c *httpCall) { c.contentType = "-" }, func(c *httpCall) { c.contentType = "text/plain" },
	} {
		c := rawCall(toolCall("ask_user_question", database, `{}`))
		change(&c)
		calls = append(calls, c)
	}
	for _, version := range []string{"-", "2025-01-01"} {
		c := inSession(question)
		c.version = version
		calls = append(calls, c)
	}
	future := rawCall(strings.ReplaceAll(toolCall("ask_user_question", database, `{}`), stateless, "2027-01-01"))
	future.version = "2027-01-01"
	resumed := inSession(question)
	resumed.lastEvent = "1"
	return append(calls, future, resumed)
}

// A direct call has the same reply as the same call through the SDK. Unusual and invalid
// calls are left to the SDK.
func TestDirectCallsGetSameRepliesAsFromSDK(t *testing.T) {
	h, secret := newSettlingHandler(t)
	for direct, calls := range map[bool][]httpCall{true: directCalls(), false: indirectCalls()} {
		for i, c := range calls {
			t.Run(fmt.Sprintf("direct %t %d", direct, i), func(t *testing.T) {
				if got := compareWithSDK(t, h, secret, c); got != direct {
					t.Errorf("%+v: direct %t, want %t", c, got, direct)
				}
			})
		}
	}
}

// A direct call that waits gets the same notifications and the same pending result as through the SDK.
func TestDirectCallReportsSameProgressAsSDK(t *testing.T) {
	for _, c := range []httpCall{
		rawCall(strings.Replace(toolCall("ask_user_question", database, "{}"), `"_meta": {`,
			`"_meta": {"progressToken": "<p>", `, 1)),
		inSession(question + `, "_meta": {"progressToken": 5}`),
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			h, secret := f.server.Handler(f.engine), f.secret(askback.Agent, "bot")
			got := &flushCounter{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(got, c.request(secret, usualAccept))
			if diff := cmp.Diff(seen(c.serve(h, secret, unusualAccept)), seen(got.ResponseRecorder)); diff != "" {
				t.Errorf("(-SDK +direct)\n%s", diff)
			}
			if n := strings.Count(got.Body.String(), "data: "); n != 5 || got.n != n || isDirect(got.ResponseRecorder) {
				t.Errorf("%d messages, want 5; flushed %d times, with a length %t", n, got.n,
					isDirect(got.ResponseRecorder))
			}
		})
	}
}

// FuzzDirectCall compares the replies to arbitrary requests with the replies of the SDK.
func FuzzDirectCall(f *testing.F) {
	for _, c := range append(directCalls(), indirectCalls()...) {
		if len(c.body) < 1<<12 {
			f.Add(c.body, c.version, c.method, c.name, c.contentType)
		}
	}
	h, secret := newSettlingHandler(f)
	f.Fuzz(func(t *testing.T, body, version, method, name, contentType string) {
		compareWithSDK(t, h, secret, httpCall{body, version, method, name, contentType, "-"})
	})
}

// BenchmarkDirectCall measures a call that asks and gets the answer, without a network.
func BenchmarkDirectCall(b *testing.B) {
	for name, accept := range map[string]string{"direct": usualAccept, "SDK": unusualAccept} {
		b.Run(name, func(b *testing.B) {
			h, secret := newSettlingHandler(b)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				text := fmt.Sprintf(
					`{"question": "Number %d?", "options": [{"label": "yes", "description": "%s"}, {"label": "no"}]}`,
					n, strings.Repeat("x", 160),
				)
				if w := rawCall(toolCall("ask_user_question", text, `{}`)).serve(h, secret,
					accept); !strings.Contains(w.Body.String(), "yes") {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
