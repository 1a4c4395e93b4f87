package matrix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// queries maps calls to the query that they need.
var queries = map[string]string{
	"GET /api/v1/asks": "?status=all", "GET /api/v1/events": "?after=0", "GET /api/v1/sessions/{id}/events": "?after=0",
	"GET /agent/questions": "?status=pending", "GET /live": "?after=0", "GET /history/export": "?format=jsonl",
	"GET /history": "?q=question", "GET /people/edit": "?name=" + answerer,
}

// body returns a valid body of a cell, in JSON for the API and as a form for pages.
func (w *world) body(c cell) string {
	path, isAPI := strings.CutPrefix(c.path, "/api/v1")
	isAPI = isAPI || strings.HasPrefix(path, "/conversations/") || strings.HasPrefix(path, "/agent/") ||
		strings.HasPrefix(path, "/hooks/")
	switch {
	case c.method == "GET" || c.method == "DELETE":
		return ""
	case isAPI:
		return w.apiBody(c.method + " " + path)
	}
	if c.path == "/undo" {
		return url.Values{"ask": {w.ids[c.record]}}.Encode()
	}
	return cmp.Or(forms[c.path].Encode(), "none=")
}

// contentType returns the type of the body of a cell.
func contentType(c cell) string {
	if _, isForm := forms[c.path]; isForm && c.method == "POST" {
		return "application/x-www-form-urlencoded"
	}
	return "application/json"
}

func (w *world) apiBody(route string) string {
	switch route {
	case "POST /asks", "POST /dialects/{name}/ask":
		return `{"question": "Name?"}`
	case "POST /hooks/claude-code":
		return `{"hook_event_name": "Stop", "session_id": "s1"}`
	case "POST /asks/{id}/answer":
		return `{"answer": "SQLite"}`
	case "POST /asks/{id}/consume":
		return `{"digest": "sha256:0"}`
	case "PUT /asks/{id}/draft":
		return `{"q1": "SQL"}`
	case "POST /asks/{id}/reassign":
		return `{"to": ["ana"]}`
	case "PUT /asks/{id}/snooze":
		return `{"until": "` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`
	case "POST /hooks/{agent}":
		return `{"topic": "rain"}`
	case "POST /sessions":
		return `{"agent": "worker", "prompt": "Go."}`
	case "POST /sessions/{id}/messages":
		return `{"text": "Hello"}`
	case "PUT /sessions/{id}/todos":
		return `{"todos": [{"content": "x", "status": "pending"}]}`
	case "POST /sessions/{id}/answer", "POST /agent/answer/{id}":
		return `{"question_id": "` + w.ids["ask"] + `", "answer": "SQLite"}`
	case "POST /conversations/{id}/respond":
		return `{"answers": {"` + hush + `question?": "SQLite"}}`
	case "POST /endpoints":
		return `{"url": "https://agents.example.com/new", "owner": "bot"}`
	case "POST /contacts":
		return `{"channel": "webpush", "label": "Firefox", "address": "https://push.example.com/2"}`
	case "PUT /people/{name}":
		return `{"email": "dana@example.com"}`
	case "PUT /groups/{name}":
		return `{"people": ["ana"]}`
	case "PUT /routes":
		return `{"items": [{"match": {}, "to": ["ana"]}], "revision": 0}`
	case "POST /contact-codes":
		return `{"channel": "telegram"}`
	case "POST /tokens":
		return `{"kind": "agent", "name": "new"}`
	}
	return ""
}

// forms maps pages to their form.
var forms = map[string]url.Values{
	"/asks/{id}":             {"action": {"answer"}, "q1-other": {"SQLite"}},
	"/asks/{id}/claim":       {},
	"/asks/{id}/seen":        {},
	"/asks/{id}/snooze":      {"until": {"1h"}},
	"/asks/{id}/reassign":    {"to": {"ana"}},
	"/asks/{id}/draft":       {"q1-other": {"SQL"}},
	"/decide":                {"action": {"approve"}},
	"/grants/{id}/revoke":    {},
	"/sessions/{id}/message": {"text": {"Hello"}},
	"/sessions/{id}/cancel":  {"what": {"turn"}},
	"/sessions/{id}/resume":  {},
	"/run":                   {"agent": {"worker"}, "prompt": {"Go."}},
	"/tokens":                {"kind": {"agent"}, "name": {"new"}},
	"/tokens/{id}/revoke":    {},
	"/deliveries/{id}/retry": {},
	"/endpoints":             {"action": {"pause"}},
	"/contacts/code":         {"channel": {"telegram"}},
	"/contacts/{id}/remove":  {},
	"/people":                {"action": {"save"}, "name": {"dana"}},
	"/groups":                {"action": {"save"}, "name": {"flat"}, "people": {"ana"}},
	"/routes":                {"action": {"save"}, "to": {"ana"}, "revision": {"0"}},
	"/logins/{id}/end":       {},
	"/login":                 {"secret": {"garbage"}},
	"/undo":                  {},
	"/logout":                {},
	"/push":                  {},
	"/push/state":            {},
	"/push/{id}/remove":      {},
	"/a/{token}":             {"action": {"answer"}, "q1-other": {"SQLite"}},
}

// toolCall returns the call of a tool over MCP.
func (w *world) toolCall(c cell) string {
	arguments := map[string]any{}
	switch c.path {
	case "ask_user_question":
		arguments["questions"] = []any{map[string]any{
			"question": "Which?", "options": []any{map[string]any{"label": "A"}, map[string]any{"label": "B"}},
		}}
		arguments["max_wait_s"] = 0
	case "confirm_action":
		arguments["action"], arguments["max_wait_s"] = "Deploy.", 0
	case "get_answer", "wait_for_answer", "withdraw_question":
		arguments["question_id"] = w.ids[c.record]
	}
	if c.path == "wait_for_answer" {
		arguments["max_wait_s"] = 0
	}
	raw, err := json.Marshal(map[string]any{"name": c.path, "arguments": arguments})
	w.must(err)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, raw)
}
