package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/store/sqlite"
)

const (
	runsBash = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make","description":"Build it"}}`
	asksDB   = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which DB?","header":"DB","options":[{"label":"Postgres","description":"a"},{"label":"SQLite","description":"b"}],"multiSelect":false}]}}`
	asksForm = `{"session_id":"s1","prompt_id":"p1","cwd":"/srv","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which ticket?","mode":"form","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`
)

// preToolUse turns a PermissionRequest event into a PreToolUse event.
func preToolUse(event string) string {
	return strings.Replace(event, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1)
}

// withSession returns an event with the id of another session.
func withSession(session, event string) string {
	return strings.Replace(event, `"s1"`, `"`+session+`"`, 1)
}

// withoutTerminal is the header that Claude Code sends from claude -p.
var withoutTerminal = []string{claudecode.EntrypointHeader, "sdk-cli"}

// sendHook sends an event as Claude Code does, and returns a channel for the reply. If the event cannot be
// sent, the test fails and the reply is empty.
func (w *fixture) sendHook(who askback.Principal, query, event string, header ...string) <-chan reply {
	w.t.Helper()
	out, secret := make(chan reply, 1), w.token(who)
	go func() {
		defer close(out)
		out <- w.send("POST", claudecode.Path+query, secret, event, header...)
	}()
	return out
}

// pollTime is the time between two polls of a test.
const pollTime = 5 * time.Millisecond

// open waits until n asks have a status, and returns them, oldest first.
func (w *fixture) open(n int, status askback.Status) []askback.Ask {
	w.t.Helper()
	late := time.After(time.Minute)
	for {
		page, err := w.engine.As(ana).List(context.Background(), askback.Query{Status: status, Limit: askback.MaxLimit})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(page.Items) == n {
			slices.SortFunc(page.Items, func(a, b askback.Ask) int { return strings.Compare(a.ID, b.ID) })
			return page.Items
		}
		select {
		case <-late:
			w.t.Fatalf("got %d %s asks, want %d", len(page.Items), status, n)
		case <-time.After(pollTime):
		}
	}
}

// answerOpenAsk settles the only open ask as ana. body is the end of the path, such as "/answer", then a
// space and the body of the request.
func (w *fixture) answerOpenAsk(body string) askback.Ask {
	w.t.Helper()
	ask := w.open(1, askback.Pending)[0]
	if got := w.send("POST", "/api/v1/asks/"+ask.ID+body[:strings.Index(body, " ")], w.token(ana),
		body[strings.Index(body, " "):]); got.status != 200 {
		w.t.Fatalf("answer: %d %s", got.status, got.body)
	}
	return ask
}

func wantReply(t *testing.T, got reply, status int, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got.body, part) {
			t.Errorf("got %d %s, want %s in it", got.status, got.body, part)
		}
	}
	if got.status != status || status == 204 && got.body != "" || status == 200 && !json.Valid([]byte(got.body)) {
		t.Errorf("got %d %s, want %d", got.status, got.body, status)
	}
	if status != 200 && strings.Contains(got.body, "allow") {
		t.Errorf("got %d %s, which allows the tool", got.status, got.body)
	}
}

// The answer of a person becomes a decision in the format of Claude Code. Without a
// decision the body is empty, which Claude Code treats as {} (F7, F9).
func TestHookIsAnsweredOverHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		event, answer string
		header        []string
		status        int
		want          []string
	}{
		"a question": {asksDB, `/answer {"answer": "SQLite"}`, nil, 200, []string{
			`"hookEventName":"PermissionRequest"`, `"behavior":"allow"`, `"answers":{"Which DB?":"SQLite"}`,
			`"header":"DB"`,
		}},
		"an own answer": {asksDB, `/answer {"answer": "<none> & \"all\""}`, nil, 200, []string{
			`"answers":{"Which DB?":"<none> & \"all\""}`,
		}},
		"headless": {preToolUse(asksDB), `/answer {"answer": "SQLite"}`, withoutTerminal, 200, []string{
			`"permissionDecision":"allow"`, `"answers":{"Which DB?":"SQLite"}`,
		}},
		"headless, declined": {
			preToolUse(asksDB), `/decline {}`, withoutTerminal, 200, []string{`"permissionDecision":"deny"`},
		},
		"approved": {
			runsBash, `/answer {"decision": "approved"}`, nil, 200, []string{`"decision":{"behavior":"allow"}`},
		},
		"approved, always": {
			runsBash, `/answer {"decision": "approve_all"}`, nil, 200, []string{`"decision":{"behavior":"allow"}`},
		},
		"edited": {runsBash, `/answer {"decision": "approved", "input": {"command": "make test"}}`, nil, 200, []string{
			`"behavior":"allow","updatedInput":{"command":"make test"}`,
		}},
		"denied": {runsBash, `/answer {"decision": "denied", "reason": "not now"}`, nil, 200, []string{
			`"behavior":"deny"`, "not now",
		}},
		"declined":     {runsBash, `/decline {}`, nil, 204, nil},
		"not answered": {asksDB, `/decline {}`, nil, 204, nil},
		"before, approved": {preToolUse(runsBash), `/answer {"decision": "approved"}`, nil, 200, []string{
			`"permissionDecision":"allow"`,
		}},
		"before, declined": {preToolUse(runsBash), `/decline {}`, nil, 200, []string{`"permissionDecision":"ask"`}},
		"a form": {
			asksForm, `/answer {"answer": "42"}`, nil, 200, []string{`"action":"accept","content":{"id":42}`},
		},
		"a form, spaces":   {asksForm, `/answer {"answer": " 42 "}`, nil, 200, []string{`"content":{"id":42}`}},
		"a form, declined": {asksForm, `/decline {}`, nil, 204, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			got := w.sendHook(bot, "", c.event, c.header...)
			ask := w.answerOpenAsk(c.answer)
			wantReply(t, <-got, c.status, c.want...)
			if a, err := w.engine.As(bot).Get(t.Context(), ask.ID); err != nil || a.Agent != "claude-code · srv" {
				t.Errorf("got an ask of %q, %v", a.Agent, err)
			}
		})
	}
}

// An approval is consumed when the reply is sent, and only once (D1).
func TestApprovalByHookIsConsumed(t *testing.T) {
	w := newFixture(t, nil)
	got := w.sendHook(bot, "", runsBash)
	ask := w.answerOpenAsk(`/answer {"decision": "approved"}`)
	wantReply(t, <-got, 200, "allow")
	again := w.send("POST", "/api/v1/asks/"+ask.ID+"/consume", w.token(bot),
		`{"digest": "`+ask.Confirmation.Digest+`"}`)
	if again.status != 409 {
		t.Errorf("it was consumed again: %d %s", again.status, again.body)
	}
}

// An event that needs no ask gets an immediate reply. In an interactive session, questions of PreToolUse need
// no ask, because Claude Code shows its own dialog.
func TestEventsWithoutAskGetImmediateReply(t *testing.T) {
	w := newFixture(t, nil)
	w.token(bot)
	kept := w.contents()
	for name, c := range map[string]struct {
		event  string
		header []string
	}{
		"unknown": {`{"session_id":"s1","hook_event_name":"Notification","message":"hello"}`, nil},
		"from a later version": {
			`{"session_id":"s1","hook_event_name":"Daydream","tool_name":"Bash","tool_input":{}}`, nil,
		},
		"a person sits there":   {preToolUse(asksDB), nil},
		"so they do elsewhere":  {preToolUse(asksDB), []string{claudecode.EntrypointHeader, "sdk-ts"}},
		"no variable was given": {preToolUse(asksDB), []string{claudecode.EntrypointHeader, ""}},
		"one of our own tools":  {strings.Replace(runsBash, `"Bash"`, `"mcp__askback__ask_user_question"`, 1), nil},
		"questions without any": {strings.Replace(asksDB, `"Which DB?"`, `""`, 1), nil},
		"long ago":              {`{"session_id":"s1","hook_event_name":"Stop"}`, nil},
		"much output":           {`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{},"tool_response":"` + strings.Repeat("A", 6<<20) + `"}`, nil},
	} {
		got := w.send("POST", claudecode.Path, w.token(bot), c.event, c.header...)
		if got.status != 204 || got.body != "" || w.contents() != kept {
			t.Errorf("%s: got %d %s, or an ask was made", name, got.status, got.body)
		}
	}
}

// An invalid request gets an error status, which Claude Code treats as no decision (T5).
func TestInvalidHookGetsNoDecision(t *testing.T) {
	w := newFixture(t, nil)
	for name, c := range map[string]struct {
		query, event string
		status       int
		part         string
	}{
		"no event":       {"", `{"tool_name":"Bash"}`, 400, "hook_event_name"},
		"a list":         {"", `[]`, 400, "hook_event_name"},
		"nothing":        {"", ``, 400, "not-json"},
		"no duration":    {"?defer=soon", runsBash, 422, "?defer"},
		"a negative one": {"?defer=-1s", runsBash, 422, "?defer"},
		"another word":   {"?wait=10s", runsBash, 422, "the keys are defer"},
		"arguments with a number that changes": {
			"", strings.Replace(runsBash, `"make"`, `12345678901234567890`, 1), 422, "cannot be shown",
		},
		"arguments too large to approve": {
			"", preToolUse(strings.Replace(runsBash, `"make"`, `"make #`+strings.Repeat("A", 1<<20)+`"`, 1)), 422,
			"cannot be shown",
		},
		"a tool without a name": {"", strings.Replace(runsBash, `"Bash"`, `""`, 1), 422, "cannot be shown"},
		"one byte too big":      {"", `{"a":"` + strings.Repeat("A", claudecode.MaxInput), 413, "too-large"},
	} {
		got := w.send("POST", claudecode.Path+c.query, w.token(bot), c.event)
		if got.status != c.status || !strings.Contains(got.body, c.part) {
			t.Errorf("%s: got %d %s, want %d with %s", name, got.status, got.body, c.status, c.part)
		}
	}
	w.open(0, askback.AnyStatus)
}

// The same event with another token creates another ask. Its events do not cancel the asks
// of other tokens (E10, F4).
func TestHooksOfDifferentAgentsAreSeparate(t *testing.T) {
	w := newFixture(t, nil)
	other := principals["other"]
	mine := w.sendHook(bot, "", runsBash)
	ask := w.open(1, askback.Pending)[0]
	theirs := w.sendHook(other, "", runsBash)
	asks := w.open(2, askback.Pending)
	second := asks[1-slices.IndexFunc(asks, func(a askback.Ask) bool { return a.ID == ask.ID })]
	if got := w.send("POST", "/api/v1/asks/"+second.ID+"/answer", w.token(ana),
		`{"decision": "approved"}`); got.status != 200 {
		t.Fatal(got.body)
	}
	wantReply(t, <-theirs, 200, "allow")
	for _, name := range []string{
		claudecode.Stop, claudecode.SessionEnd, claudecode.UserPromptSubmit, claudecode.PostToolUse,
	} {
		event := strings.Replace(runsBash, claudecode.PermissionRequest, name, 1)
		wantReply(t, w.send("POST", claudecode.Path, w.token(other), event), 204)
	}
	if got := w.open(1, askback.Pending)[0]; got.ID != ask.ID {
		t.Errorf("the open ask is %s, want %s", got.ID, ask.ID)
	}
	wantReply(t, w.send("POST", claudecode.Path, w.token(bot),
		strings.Replace(runsBash, claudecode.PermissionRequest, claudecode.PostToolUse, 1)), 204)
	wantReply(t, <-mine, 204)
	if got := w.open(1, askback.Cancelled)[0]; got.ID != ask.ID {
		t.Errorf("the cancelled ask is %s, want %s", got.ID, ask.ID)
	}
}

// Twenty concurrent sessions ask the same question, and each session gets its own answer (D2).
func TestConcurrentHooksGetTheirOwnAnswers(t *testing.T) {
	const sessions = 20
	w := newFixture(t, nil)
	w.client.CloseIdleConnections()
	replies := map[string]<-chan reply{}
	for n := range sessions {
		session := fmt.Sprintf("session %d", n)
		replies[session] = w.sendHook(bot, "", withSession(session, asksDB))
	}
	var group sync.WaitGroup
	for _, ask := range w.open(sessions, askback.Pending) {
		var from struct {
			Session string `json:"claude_session"`
		}
		if err := json.Unmarshal(ask.Context, &from); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			if _, err := w.engine.As(ana).Answer(t.Context(), ask.ID, askback.Choose("for "+from.Session)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for session, got := range replies {
		wantReply(t, <-got, 200, `"answers":{"Which DB?":"for `+session+`"}`)
	}
}

// newFixtureOnStore returns a fixture whose server uses the store db. The store outlives the server.
func newFixtureOnStore(t *testing.T, db engine.Store, tokens map[askback.Principal]string) *fixture {
	t.Helper()
	e := engine.New(db, nil)
	w := &fixture{t: t, engine: e, handler: httpapi.NewHandler(e, nil), tokens: tokens}
	w.server = httptest.NewServer(checkTraffic(t, w.handler))
	w.client = w.server.Client()
	t.Cleanup(func() {
		w.handler.Stop()
		w.server.Close()
	})
	return w
}

// A deferred call finds its ask again, even if the server was restarted or the ask was
// answered in the meantime (B7, F2, F9).
func TestDeferredHookIsAnsweredAfterRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	tokens := map[askback.Principal]string{}
	var id string
	for _, round := range []string{"ask", "answer", "hear"} {
		db, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := newFixtureOnStore(t, db, tokens)
		switch round {
		case "ask":
			got := w.send("POST", claudecode.Path+"?defer=1s", w.token(bot), preToolUse(asksDB), withoutTerminal...)
			wantReply(t, got, 200, `"permissionDecision":"defer"`)
			id = w.open(1, askback.Pending)[0].ID
			wantReply(t,
				w.send("POST", claudecode.Path, w.token(bot), `{"session_id":"s1","hook_event_name":"SessionEnd"}`),
				204)
		case "answer":
			if got := w.answerOpenAsk(`/answer {"answer": "SQLite"}`); got.ID != id {
				t.Errorf("answered %s, want %s", got.ID, id)
			}
		case "hear":
			resumed := strings.Replace(strings.Replace(preToolUse(asksDB), `"prompt_id":"p1",`, "", 1), "/srv",
				"/elsewhere", 1)
			wantReply(t, w.send("POST", claudecode.Path+"?defer=1s", w.token(bot), resumed, withoutTerminal...), 200,
				`"permissionDecision":"allow"`, `"Which DB?":"SQLite"`)
			another := strings.Replace(resumed, "toolu_1", "toolu_2", 1)
			wantReply(t, w.send("POST", claudecode.Path+"?defer=1s", w.token(bot), another, withoutTerminal...), 200,
				`"permissionDecision":"defer"`)
		}
		w.handler.Stop()
		w.server.Close()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
