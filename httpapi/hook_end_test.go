package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/store/memstore"
)

// dialHook sends an event on a new connection.
func (w *fixture) dialHook(query, event string, header ...string) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	var more strings.Builder
	for i := 0; i < len(header); i += 2 {
		fmt.Fprintf(&more, "%s: %s\r\n", header[i], header[i+1])
	}
	_, err = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		claudecode.Path, query, w.token(bot), len(event), more.String(), event)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// Claude Code closes the connection when its own dialog was answered or the run ended. The ask is then
// cancelled. If the call can be deferred, the ask stays open for the resumed session (F9).
func TestClosedHookCancelsItsAsk(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		header []string
		want   askback.Status
	}{
		"a permission": {runsBash, nil, askback.Cancelled},
		"a question":   {asksDB, nil, askback.Cancelled},
		"a form":       {asksForm, nil, askback.Cancelled},
		"a large event": {
			strings.Replace(runsBash, `"make"`, `"`+strings.Repeat("make ", 50_000)+`"`, 1), nil, askback.Cancelled,
		},
		"a permission in claude -p":   {runsBash, withoutTerminal, askback.Cancelled},
		"a call that can be deferred": {preToolUse(asksDB), withoutTerminal, askback.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			conn := w.dialHook("?defer=0s", c.event, c.header...)
			ask := w.open(1, askback.Pending)[0]
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if c.want == askback.Pending {
				w.server.Close() // waits until the handler has returned
			}
			if got := w.open(1, c.want)[0]; got.ID != ask.ID {
				t.Errorf("got %s, want %s", got.ID, ask.ID)
			}
		})
	}
}

// Over HTTP/2, Claude Code closes the stream and not the connection. The ask is cancelled,
// too.
func TestClosedHookOverHTTP2CancelsItsAsk(t *testing.T) {
	w := newFixture(t, nil)
	w.overHTTP2()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.server.URL+claudecode.Path, strings.NewReader(runsBash))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token(bot))
	r.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		res, err := w.client.Do(r)
		if err == nil {
			err = fmt.Errorf("%s by %s", res.Status, res.Proto)
			res.Body.Close()
		}
		ended <- err
	}()
	w.open(1, askback.Pending)
	cancel()
	if err := <-ended; !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Error(err)
	}
	w.open(1, askback.Cancelled)
}

// A server that stops ends a waiting hook without a decision, with an error status, and
// cancels its ask. A call that can be deferred is deferred, and its ask stays open (F2, F9).
func TestStopEndsHookWithoutDecision(t *testing.T) {
	w := newFixture(t, nil)
	sits, away := w.sendHook(bot, "", runsBash), w.sendHook(bot, "?defer=0s", preToolUse(asksDB), withoutTerminal...)
	w.open(2, askback.Pending)
	w.handler.Stop()
	wantReply(t, <-sits, 503, "stopping")
	wantReply(t, <-away, 200, `"permissionDecision":"defer"`)
	if got := w.open(1, askback.Pending)[0]; got.Kind != askback.Questions {
		t.Errorf("open is %+v, want the deferred call", got)
	}
	if got := w.open(1, askback.Cancelled)[0]; got.Kind != askback.Confirm {
		t.Errorf("cancelled is %+v, want the permission", got)
	}
	wantReply(t, w.send("POST", claudecode.Path, w.token(bot), runsBash), 503, "stopping")
}

// A killed server leaves an open ask. The ask is cancelled by the first event that shows that the session
// continued or ended. A new hook for the same call asks again.
func TestAskOfKilledServerIsCancelled(t *testing.T) {
	for _, event := range []string{
		`{"session_id":"s1","hook_event_name":"Stop"}`, `{"session_id":"s1","hook_event_name":"SessionEnd"}`,
		`{"session_id":"s1","hook_event_name":"UserPromptSubmit"}`,
		strings.Replace(runsBash, claudecode.PermissionRequest, claudecode.PostToolUse, 1),
	} {
		db := memstore.New()
		first := newFixtureOnStore(t, db, map[askback.Principal]string{})
		client := first.engine.As(bot)
		ev, err := claudecode.Read([]byte(runsBash), "")
		if err != nil {
			t.Fatal(err)
		}
		call, _ := claudecode.Call(ev)
		// a hook made this ask before the server was killed
		if _, err := client.Ask(t.Context(), call.Request); err != nil {
			t.Fatal(err)
		}
		second := newFixtureOnStore(t, db, first.tokens)
		second.open(1, askback.Pending)
		wantReply(t, second.send("POST", claudecode.Path, second.token(bot), withSession("s2", event)), 204)
		second.open(1, askback.Pending)
		wantReply(t, second.send("POST", claudecode.Path, second.token(bot), event), 204)
		second.open(1, askback.Cancelled)
		again := second.sendHook(bot, "", runsBash)
		second.answerOpenAsk(`/answer {"decision": "denied"}`)
		wantReply(t, <-again, 200, "deny")
	}
}

// A revoked token gets no answer and consumes no approval (F4).
func TestRevokedHookGetsNoDecision(t *testing.T) {
	w := newFixture(t, nil)
	revoke := w.revocableToken()
	conn := w.dialHook("", runsBash, "Connection", "close")
	ask := w.open(1, askback.Pending)[0]
	revoke()
	w.answerOpenAsk(`/answer {"decision": "approved"}`)
	raw, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 401 ") || strings.Contains(string(raw), "allow") {
		t.Errorf("got %s, %v; want 401", raw, err)
	}
	if _, err := w.engine.As(bot).Consume(t.Context(), ask.ID, ask.Confirmation.Digest); err != nil {
		t.Errorf("the approval was consumed: %v", err)
	}
}

// The ask of a revoked token is cancelled at the next heartbeat.
func TestRevokedHookCancelsItsAsk(t *testing.T) {
	for _, begun := range []bool{false, true} {
		w := newFixture(t, nil)
		w.handler.SetHeartbeat(100*time.Millisecond, time.Minute)
		revoke := w.revocableToken()
		conn := w.dialHook("", runsBash, "Connection", "close")
		w.open(1, askback.Pending)
		if begun {
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		revoke()
		if raw, _ := io.ReadAll(conn); strings.Contains(string(raw), "hookSpecificOutput") ||
			strings.Contains(string(raw), "{}") {
			t.Errorf("begun: %v, got %s", begun, raw)
		}
		w.open(1, askback.Cancelled)
	}
}

// revocableToken creates a token for bot, and returns a function that revokes it.
func (w *fixture) revocableToken() (revoke func()) {
	w.t.Helper()
	made, secret, err := w.engine.As(root).CreateToken(w.t.Context(),
		askback.TokenRequest{Kind: askback.Agent, Name: bot.Name})
	if err != nil {
		w.t.Fatal(err)
	}
	w.tokens[askback.Principal{Kind: bot.Kind, Name: bot.Name, Channel: askback.ChannelAPI}] = secret
	return func() {
		if _, err := w.engine.As(root).RevokeToken(w.t.Context(), made.ID); err != nil {
			w.t.Error(err)
		}
	}
}

// A waiting reply sends heartbeats before the decision. After the first heartbeat, {} means no decision, and
// an error aborts the reply.
func TestWaitingHookSendsHeartbeats(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *fixture)
		want string // the body of the reply, or "" if the reply is aborted
	}{
		"answered": {func(w *fixture) {
			w.answerOpenAsk(`/answer {"decision": "approved"}`)
		}, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		"declined": {func(w *fixture) { w.answerOpenAsk(`/decline {}`) }, `{}`},
		"stopped":  {func(w *fixture) { w.handler.Stop() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			w.handler.SetHeartbeat(time.Millisecond, time.Minute)
			conn := w.dialHook("", runsBash)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			two := make([]byte, 2)
			if _, err := io.ReadFull(res.Body, two); err != nil || res.StatusCode != 200 || string(two) != "\n\n" {
				t.Fatalf("got %d %q, %v; want white space", res.StatusCode, two, err)
			}
			c.end(w)
			rest, err := io.ReadAll(res.Body)
			if got := strings.TrimSpace(string(rest)); got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// The read timeout of the server does not end a waiting hook.
func TestReadTimeoutDoesNotEndWaitingHook(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			w.server.Close()
			w.server = httptest.NewUnstartedServer(checkTraffic(t, w.handler))
			w.server.EnableHTTP2 = proto == "HTTP/2.0"
			w.server.Config.ReadTimeout = 2 * time.Second // sending takes long on a busy machine
			w.server.StartTLS()
			w.client = w.server.Client()
			got := w.sendHook(bot, "", runsBash)
			w.open(1, askback.Pending)
			<-time.After(w.server.Config.ReadTimeout + 100*time.Millisecond)
			w.answerOpenAsk(`/answer {"decision": "approved"}`)
			wantReply(t, <-got, 200, "allow")
		})
	}
}

// A hook that exceeds the limit of waiting calls gets an error and leaves no open ask.
func TestWaitingHooksAreLimited(t *testing.T) {
	e := engine.New(memstore.New(), &engine.Options{MaxWaiters: 1})
	w := &fixture{
		t: t, engine: e, handler: httpapi.NewHandler(e, nil), tokens: map[askback.Principal]string{},
		client: &http.Client{},
	}
	w.server = httptest.NewServer(checkTraffic(t, w.handler))
	defer w.server.Close()
	defer w.client.CloseIdleConnections()
	first := w.sendHook(bot, "", runsBash)
	ask := w.open(1, askback.Pending)[0]
	wantReply(t, w.send("POST", claudecode.Path, w.token(bot), asksDB), 429, "too-many")
	if got := w.open(1, askback.Pending)[0]; got.ID != ask.ID {
		t.Errorf("open is %s, want %s", got.ID, ask.ID)
	}
	w.open(1, askback.Cancelled)
	w.answerOpenAsk(`/answer {"decision": "approved"}`)
	wantReply(t, <-first, 200, "allow")
}
