package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store"
)

// contents returns all records and history of the store as a string.
func (w *fixture) contents() string {
	w.t.Helper()
	var b strings.Builder
	ctx := context.Background()
	for _, kind := range []string{"ask", "session", "token", "login", "draft", "snooze", "grant"} {
		records, err := w.store.List(ctx, store.Query{Kind: kind, Limit: store.MaxList})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range records {
			fmt.Fprintf(&b, "%s %s v%d %s %s %s\n", r.Kind, r.ID, r.Version, r.Status, r.Fixed, r.State)
		}
	}
	events, err := w.store.History(ctx, "", 0, store.MaxList)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %s %s\n", e.Seq, e.Subject, e.Type, e.Data)
	}
	return b.String()
}

// allCredentials returns a secret of each kind of principal, the secret of bot, and an empty secret.
func (w *fixture) allCredentials() map[string]string {
	out := map[string]string{"anonymous": ""}
	for _, kind := range askback.Kinds {
		out[string(kind)] = w.token(askback.Principal{Kind: kind, Name: "eve"})
	}
	out["the asker"] = w.token(bot)
	return out
}

// GET, HEAD and OPTIONS change nothing, with any credential (F4), except that the first read of messages by the
// agent of a session is recorded.
func TestSafeMethodsChangeNothing(t *testing.T) {
	s := newRouteFixture(t)
	w := s.fixture
	who := w.allCredentials()
	w.send("GET", s.path("/api/v1/sessions/{id}/messages"), "", "", "Authorization", "Bearer "+who["the asker"])
	before := w.contents()
	for _, path := range httpapi.Paths() {
		path = s.path(path)
		for name, secret := range who {
			for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
				for _, header := range [][]string{
					{"Authorization", "Bearer " + secret}, {"Cookie", "askback=" + secret},
				} {
					w.send(method, path, "", "", header...)
					if after := w.contents(); after != before {
						t.Fatalf("%s %s by %s changed the store:\n%s\nwas\n%s", method, path, name, after, before)
					}
				}
			}
		}
	}
}

// The token of an agent cannot answer, decline or claim an ask, or save a draft (F4, E10).
func TestAgentCannotAnswerOverHTTP(t *testing.T) {
	w := newFixture(t, nil)
	ask := w.ask(databases)
	token := w.token(bot)
	before := w.contents()
	for _, action := range []string{"answer", "decline", "claim", "draft"} {
		for _, body := range []string{`{"answer": "SQLite"}`, `{"decision": "approved"}`, `{}`, `{"by": "ana"}`, ""} {
			for _, method := range []string{"POST", "PUT"} {
				got := w.send(method, "/api/v1/asks/"+ask.ID+"/"+action, token, body)
				if got.status != http.StatusForbidden && got.status != http.StatusMethodNotAllowed {
					t.Errorf("%s %s %s: got %d %s, want 403", method, action, body, got.status, got.body)
				}
			}
		}
	}
	if after := w.contents(); after != before {
		t.Errorf("the store changed:\n%s\nwas\n%s", after, before)
	}
}

// Every route needs a token, except the routes for health, the OpenAPI document and its page.
func TestOnlyPublicRoutesNeedNoToken(t *testing.T) {
	w := newFixture(t, nil)
	for method, paths := range httpapi.Routes() {
		for _, path := range paths {
			got := w.send(method, strings.ReplaceAll(path, "{id}", "x"), "", "")
			open := slices.Contains([]string{"/healthz", "/readyz", "/api/openapi.json", "/api/docs", "/api/docs.css"},
				path)
			if open != (got.status == 200) || !open && got.status != 401 {
				t.Errorf("%s %s without a token: got %d", method, path, got.status)
			}
		}
	}
}

// raw sends a request on a new connection and closes the connection. If whole is true, it reads the reply
// first and returns it.
func (w *fixture) raw(request string, whole bool) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.server.URL, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		w.t.Fatal(err)
	}
	if !whole {
		return ""
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	reply, _ := io.ReadAll(conn)
	return string(reply)
}

// If the connection breaks at any byte of an answer and the answer is sent again, there is
// one outcome (D2, E10, F2).
func TestInterruptedAnswerLeavesOneOutcome(t *testing.T) {
	w := newFixture(t, nil)
	answer := func(id string) string {
		const body = `{"answer": "SQLite"}`
		return fmt.Sprintf("POST /api/v1/asks/%s/answer HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: "+
			"Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			id, w.token(ana), len(body), body)
	}
	for n := range len(answer(w.ask(databases).ID)) + 1 {
		ask := w.ask(databases)
		request := answer(ask.ID)
		w.raw(request[:n], false)
		if again := w.raw(request, true); !strings.HasPrefix(again, "HTTP/1.1 200 ") {
			t.Fatalf("cut after %d bytes, then repeated: got %s", n, again)
		}
		w.checkSettledOnce(ask)
	}
}

// checkSettledOnce requires that the history of an ask has exactly one question and one answer.
func (w *fixture) checkSettledOnce(ask askback.Ask) {
	w.t.Helper()
	events, err := w.store.History(context.Background(), ask.SessionID, 0, 10)
	if err != nil || len(events) != 2 || events[0].Type != "question_pending" || events[1].Type != "question_answered" {
		w.t.Fatalf("history of %s: got %v, %v; want one ask and one answer", ask.ID, events, err)
	}
}

// A request that is cut off at any byte and repeated with its key creates one ask.
func TestInterruptedRequestCanBeRepeated(t *testing.T) {
	w := newFixture(t, nil)
	request := func(key string) string {
		return fmt.Sprintf("POST /api/v1/asks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: %s\r\n"+
			"Authorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			key, w.token(bot), len(databases), databases)
	}
	total := len(request("key-000"))
	for n := range total + 1 {
		whole := request(fmt.Sprintf("key-%03d", n))
		w.raw(whole[:n], false)
		if again := w.raw(whole, true); !strings.HasPrefix(again, "HTTP/1.1 20") {
			t.Fatalf("cut after %d bytes, then repeated: got %s", n, again)
		}
	}
	seen := map[string]int{}
	q := askback.Query{Limit: askback.MaxLimit}
	for {
		page, err := w.engine.As(ana).List(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			seen[a.ID]++
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if len(seen) != total+1 {
		t.Errorf("got %d asks for %d keys", len(seen), total+1)
	}
}

// Every route that needs a token has an action, and no other route has an action.
func TestEveryAuthenticatedRouteHasAnAction(t *testing.T) {
	for _, route := range httpapi.Actionless() {
		t.Errorf("%s has no action", route)
	}
}
