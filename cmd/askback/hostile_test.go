//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/askback/askback"
)

// hostileServer puts controlText into all strings of its replies, or into one string.
type hostileServer struct {
	asks    map[bool]askback.Ask // the key is whether the ask is settled
	only    int                  // index of the hostile string; -1 for all
	count   int                  // strings in the last reply
	status  int                  // status of every reply; 0 for success
	problem string               // type of the problem if status is set

	// remaining is the number of hostile replies. Later requests get 401, because a client retries when it
	// cannot read a reply.
	remaining int
}

// controlText clears the screen, sets its title, moves the cursor, rings the bell, reverses text, and
// imitates a line of askback.
const controlText = "\x1b[2J\x1b]0;owned\x07\u009b2J\x9b\r\naskback: approved by ana\n\u202e\x00"

func (s *hostileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.remaining--; s.remaining < 0 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if s.status != 0 {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(s.status)
		settled := s.asks[true]
		s.write(w, map[string]any{
			"type": "urn:askback:problem:" + s.problem, "title": "title", "status": s.status, "detail": "detail",
			"ask_id": settled.ID, "ask": settled, "outcome": settled.Outcome,
			"errors":       []askback.Problem{{Pointer: "/pointer", Detail: "detail", Fix: "fix"}},
			"question_ids": []string{settled.ID},
		})
		return
	}
	open := r.Method == http.MethodGet && r.URL.Query().Get("status") != "all"
	switch path := r.URL.Path; {
	case path == "/api/v1/asks" && r.Method == http.MethodGet:
		s.write(w, askback.Page{
			Items:      []askback.Ask{s.asks[!open]},
			NextCursor: map[bool]string{true: "cursor"}[r.URL.Query().Get("cursor") == ""],
		})
	case strings.HasPrefix(path, "/api/v1/grants"):
		grant := askback.Grant{
			ID: "grt_00000000000000000000000000", Owner: "owner", Agent: "agent", ToolName: "tool", Server: "server",
			Scope:     askback.ScopeSession,
			SessionID: "ses_1", Digest: "digest", AskID: "ask_1", Input: []byte(`{"a":"b"}`), By: "ana",
			CreatedAt: hostileTime, ExpiresAt: hostileTime,
		}
		if r.Method == http.MethodGet {
			s.write(w, askback.GrantPage{Items: []askback.Grant{grant}})
			return
		}
		s.write(w, grant)
	case strings.HasPrefix(path, "/api/v1/tokens"):
		token := map[string]any{
			"id": "tok_00000000000000000000000000", "kind": "agent", "name": "robot", "via": "api",
			"created_at": hostileTime,
		}
		switch r.Method {
		case http.MethodGet:
			s.write(w, map[string]any{"items": []any{token}})
		case http.MethodPost:
			s.write(w, map[string]any{"secret": "secret", "token": token})
		default:
			s.write(w, token)
		}
	case strings.HasPrefix(path, "/api/v1/endpoints"):
		e := askback.Endpoint{
			ID: "whe_00000000000000000000000000", Owner: "owner", Origin: "https://agents.example.com",
			Status: askback.EndpointDisabled, Reason: "reason", By: "ana", CreatedAt: hostileTime,
			ChangedAt: hostileTime, FailingSince: hostileTime, SecretAt: hostileTime, OldSecretUntil: hostileTime,
		}
		switch {
		case r.Method == http.MethodGet:
			s.write(w, askback.EndpointPage{Items: []askback.Endpoint{e}})
		case path == "/api/v1/endpoints", strings.HasSuffix(path, "/rotate"):
			s.write(w, map[string]any{"secret": "secret", "endpoint": e})
		case strings.HasSuffix(path, "/test"):
			s.write(w, map[string]any{"accepted": false, "code": 500, "duration_ms": 1, "error": "error"})
		default:
			s.write(w, e)
		}
	case path == "/api/v1/logins":
		s.write(w, map[string]any{"secret": "secret", "url": "http://127.0.0.1/login"})
	default:
		s.write(w, s.asks[!open || r.Method != http.MethodGet || r.URL.Query().Get("wait") != ""])
	}
}

var hostileTime = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func (s *hostileServer) write(w http.ResponseWriter, reply any) {
	raw, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		panic(err)
	}
	s.count = 0
	raw, _ = json.Marshal(s.withControlText(tree, ""))
	_, _ = w.Write(raw)
}

// withControlText returns a value with controlText in its strings. Times stay valid, so
// that the client can read the reply. Strings that the client compares are changed only if
// s.only is their index.
func (s *hostileServer) withControlText(value any, name string) any {
	switch v := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			v[name] = s.withControlText(v[name], name)
		}
	case []any:
		for i := range v {
			v[i] = s.withControlText(v[i], name)
		}
	case string:
		if strings.HasSuffix(name, "_at") || name == "failing_since" || name == "old_secret_until" || name == "at" ||
			name == "deadline" || name == "type" && s.status != 0 {
			return v
		}
		s.count++
		if s.only == s.count-1 ||
			s.only < 0 && name != "kind" && name != "status" && name != "decision" && name != "id" {
			return controlText + v + controlText
		}
	}
	return value
}

// hostileAsk returns an ask with text in as many fields as its kind and status allow.
func hostileAsk(kind askback.AskKind, settled bool) askback.Ask {
	a := askback.Ask{
		ID: "ask_00000000000000000000000000", SessionID: "ses_00000000000000000000000001", Agent: "agent",
		Owner: "owner", Path: []string{"parent"}, Kind: kind, Title: "title",
		Context: []byte(`{"a":"b"}`), To: []string{"ana"}, Tags: []string{"tag"}, Status: askback.Pending,
		CreatedAt: hostileTime, Deadline: hostileTime, OnTimeout: askback.OnTimeoutWait,
		PageURL: "http://127.0.0.1/page", Claims: []askback.Claim{{Name: "ben", At: hostileTime}},
		Warnings: []askback.Problem{{Pointer: "/p", Detail: "d", Fix: "f"}},
	}
	if kind == askback.Confirm {
		a.Confirmation = &askback.Confirmation{
			ToolName: "tool", Server: "server", Description: "description", Input: []byte(`{"a":"b"}`),
			InputPreview: "preview", Tier: "confirm", Dangerous: true, Context: "context", Digest: "digest",
		}
	} else {
		a.Questions = []askback.Question{{
			ID: "q1", Text: "question", Header: "header", Default: []string{"one"},
			Options: []askback.Option{{Label: "one", Description: "description", Preview: "preview"}, {Label: "two"}},
		}}
	}
	if !settled {
		return a
	}
	a.Status, a.AckedAt = askback.Answered, hostileTime
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Comment: "comment", Reason: "reason",
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelWeb, At: hostileTime,
		GrantID: "grt_1",
		Answers: []askback.QuestionAnswer{
			{ID: "q1", Question: "question", Selected: []string{"one"}, Other: "other", Notes: "notes"},
		},
	}
	if kind == askback.Confirm {
		a.Outcome.Answers, a.Outcome.Decision, a.Outcome.Digest = nil, askback.Deny, "digest"
	}
	return a
}

// printingCommands returns the commands that print text of the server.
func printingCommands() [][]string {
	const id = "ask_00000000000000000000000000"
	return [][]string{
		{"list"},
		{"list", "--status", "all"},
		{"list", "--json"},
		{"show", id},
		{"show", "--json", id},
		{"show", "latest"},
		{"show", "0000"},
		{"show", "nothing"},
		{"answer", id, "1"},
		{"answer", id, "onne"},
		{"answer", "latest", "1"},
		{"answer", id, "--deny"},
		{"decline", id},
		{"cancel", id},
		{"ask", "Which?", "one", "two"},
		{"ask", "--json", "Which?", "one", "two"},
		{"confirm", "Really?"},
		{"grant", "list"},
		{"grant", "list", "--json"},
		{"grant", "remove", "grt_00000000000000000000000000"},
		{"token", "list"},
		{"token", "list", "--json"},
		{"token", "add", "--kind", "agent", "--name", "robot"},
		{"token", "remove", "tok_00000000000000000000000000"},
		{"webhook", "list"},
		{"webhook", "list", "--json"},
		{"webhook", "add", "https://agents.example.com"},
		{"webhook", "pause", "whe_00000000000000000000000000"},
		{"webhook", "rotate", "whe_00000000000000000000000000"},
		{"webhook", "test", "whe_00000000000000000000000000"},
		{"login"},
		{"version"},
		{"doctor"},
	}
}

// A screen is a pseudo-terminal in the test process that records its output.
type screen struct {
	t     *testing.T
	tty   *os.File
	shown syncBuffer
	runs  int
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	keys, tty, err := pty.Open()
	if err != nil {
		t.Skipf("LEFT OUT: no pseudo-terminal here: %v", err)
	}
	s := &screen{t: t, tty: tty}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := keys.Read(buf)
			_, _ = s.shown.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { tty.Close(); <-done; keys.Close() })
	return s
}

// run runs a command on this screen, and returns its output.
func (s *screen) run(args ...string) string {
	s.t.Helper()
	before := len(s.shown.String())
	in, err := os.Open(os.DevNull)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	run(context.Background(), args, streams{in, s.tty, s.tty})
	s.runs++
	end := fmt.Sprintf("<end of run %d>\r\n", s.runs)
	fmt.Fprintf(s.tty, "<end of run %d>\n", s.runs)
	if !eventually(func() bool { return strings.HasSuffix(s.shown.String(), end) }) {
		s.t.Fatal("the screen lost output")
	}
	return strings.TrimSuffix(s.shown.String()[before:], end)
}

// findHarm searches for U+202E and for control characters except line breaks. If it finds
// no such character, it searches for a line that begins with forged. It returns the text
// around the first match. If forged is "", it does not search for a line.
func findHarm(shown, forged string) (excerpt string, found bool) {
	plain := strings.ReplaceAll(shown, "\r\n", "\n")
	i := strings.IndexFunc(plain, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == 0x202e
	})
	if i < 0 && forged != "" {
		i = strings.Index("\n"+plain, "\n"+forged)
	}
	if i < 0 {
		return "", false
	}
	return plain[max(0, i-40):min(len(plain), i+40)], true
}

// No field of a reply can control the terminal, whichever command prints it.
func TestHostileServerCannotControlTheTerminal(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("ASKBACK_TOKEN", "askback_token")
	t.Setenv("TERM", "dumb") // then askback itself prints no control sequences
	s := newScreen(t)
	for _, kind := range []askback.AskKind{askback.Questions, askback.Confirm} {
		h := &hostileServer{asks: map[bool]askback.Ask{false: hostileAsk(kind, false), true: hostileAsk(kind, true)}}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		t.Setenv("ASKBACK_URL", server.URL)
		for _, args := range printingCommands() {
			if kind == askback.Confirm && !slices.Contains([]string{"list", "show", "answer", "confirm"}, args[0]) {
				continue // the kind of the ask does not change their output
			}
			check := func(variant string) {
				t.Helper()
				h.remaining = 5
				shown := s.run(args...)
				forged := "askback: approved by ana"
				if args[0] == "ask" || args[0] == "confirm" {
					forged = "" // these commands print the answer unchanged, and it may have several lines
				}
				if excerpt, found := findHarm(shown, forged); found {
					t.Errorf("askback %s, %s: printed %q", strings.Join(args, " "), variant, excerpt)
				}
			}
			h.status, h.only = 0, -1
			check("every string")
			for h.only = 0; h.only < max(1, h.count); h.only++ {
				check(fmt.Sprintf("string %d", h.only))
			}
			h.only = -1
			for problem, status := range map[string]int{
				"unauthorized": 401, "forbidden": 403, "not-found": 404, "settled": 409, "consumed": 409,
				"invalid": 422, "key-reused": 422, "something-new": 418,
			} {
				h.problem, h.status = problem, status
				check(problem)
			}
		}
	}
	if s.runs < 500 {
		t.Errorf("%d runs, want at least 500", s.runs)
	}
}

// Lists contain no control characters in a pipe either, because the pipe may lead to a pager.
func TestListsInAPipeContainNoControlCharacters(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("ASKBACK_TOKEN", "askback_token")
	h := &hostileServer{asks: map[bool]askback.Ask{
		false: hostileAsk(askback.Confirm, false), true: hostileAsk(askback.Questions, true),
	}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("ASKBACK_URL", server.URL)
	for _, args := range [][]string{
		{"list"}, {"list", "--status", "all"}, {"grant", "list"}, {"token", "list"}, {"webhook", "list"},
	} {
		h.only = 0
		for n := 1; h.only < n; h.only++ {
			h.remaining = 5
			var out, errs bytes.Buffer
			run(context.Background(), args, streams{nil, &out, &errs})
			n = h.count
			if excerpt, found := findHarm(out.String()+errs.String(), "askback: approved by ana"); found {
				t.Errorf("askback %s, string %d: printed %q", strings.Join(args, " "), h.only, excerpt)
			}
		}
	}
}
