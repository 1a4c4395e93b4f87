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
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/store/memstore"
)

// connected sends an event on a connection of its own.
func (w *wire) connected(query, event string, header ...string) net.Conn {
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
	_, err = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		hook.Path, query, w.token(bot), len(event), more.String(), event)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// Claude Code closes the connection when its own dialog was quicker, or the run
// ended: then nobody hears an answer, and the card goes. A call that can be
// deferred is waited for by the resumed session (F9).
func TestAHookThatIsClosedWithdraws(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		header []string
		want   askback.Status
	}{
		"a permission":                {runsBash, nil, askback.Cancelled},
		"a question":                  {asksDB, nil, askback.Cancelled},
		"a form":                      {asksForm, nil, askback.Cancelled},
		"a large event":               {strings.Replace(runsBash, `"make"`, `"`+strings.Repeat("make ", 50_000)+`"`, 1), nil, askback.Cancelled},
		"a permission in claude -p":   {runsBash, nobodySits, askback.Cancelled},
		"a call that can be deferred": {before(asksDB), nobodySits, askback.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, nil)
			conn := w.connected("?defer=0s", c.event, c.header...)
			ask := w.open(1, askback.Pending)[0]
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if c.want == askback.Pending {
				w.server.Close() // waits until it is noticed
			}
			if got := w.open(1, c.want)[0]; got.ID != ask.ID {
				t.Errorf("got %s, want %s", got.ID, ask.ID)
			}
		})
	}
}

// The same over HTTP/2, where a stream is closed and the connection is not.
func TestAHookThatIsClosedOverHTTP2Withdraws(t *testing.T) {
	w := newWire(t, nil)
	w.overHTTP2()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.server.URL+hook.Path, strings.NewReader(runsBash))
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

// A server that stops ends the waiting without a decision. It is a failure, so
// that who wants one to block the tool can have that. Nobody hears an answer any
// more: the card goes, but for a call that was put off (F2, F9).
func TestAServerThatStopsDecidesNothing(t *testing.T) {
	w := newWire(t, nil)
	sits, away := w.hooked(bot, "", runsBash), w.hooked(bot, "?defer=0s", before(asksDB), nobodySits...)
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
	wantReply(t, w.send("POST", hook.Path, w.token(bot), runsBash), 503, "stopping")
}

// A server that was killed leaves the card there. The first event that says that
// the session went on retires it, and a new hook for the same call asks anew.
func TestACardOfAKilledServerIsRetired(t *testing.T) {
	for _, event := range []string{
		`{"session_id":"s1","hook_event_name":"Stop"}`, `{"session_id":"s1","hook_event_name":"SessionEnd"}`,
		`{"session_id":"s1","hook_event_name":"UserPromptSubmit"}`, strings.Replace(runsBash, hook.PermissionRequest, hook.PostToolUse, 1),
	} {
		db := memstore.New()
		first := served(t, db, map[askback.Principal]string{})
		seat := first.engine.As(bot)
		ev, err := hook.Read([]byte(runsBash), "")
		if err != nil {
			t.Fatal(err)
		}
		r, _ := hook.Request(ev)
		if _, err := seat.Ask(t.Context(), r); err != nil { // as a hook does, whose server is killed then
			t.Fatal(err)
		}
		second := served(t, db, first.tokens)
		second.open(1, askback.Pending)
		wantReply(t, second.send("POST", hook.Path, second.token(bot), in("s2", event)), 204)
		second.open(1, askback.Pending)
		wantReply(t, second.send("POST", hook.Path, second.token(bot), event), 204)
		second.open(1, askback.Cancelled)
		again := second.hooked(bot, "", runsBash)
		second.answers(`/answer {"decision": "denied"}`)
		wantReply(t, <-again, 200, "deny")
	}
}

// A token that is revoked hears no answer and spends no approval (F4).
func TestARevokedHookHearsNothing(t *testing.T) {
	w := newWire(t, nil)
	revoke := w.revocable()
	conn := w.connected("", runsBash, "Connection", "close")
	ask := w.open(1, askback.Pending)[0]
	revoke()
	w.answers(`/answer {"decision": "approved"}`)
	raw, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 401 ") || strings.Contains(string(raw), "allow") {
		t.Errorf("got %s, %v; want 401", raw, err)
	}
	if _, err := w.engine.As(bot).Consume(t.Context(), ask.ID, ask.Confirmation.Digest); err != nil {
		t.Errorf("the approval was spent: %v", err)
	}
}

// Its card goes with the next pulse, whether or not the reply had begun.
func TestARevokedHookIsWithdrawn(t *testing.T) {
	for _, begun := range []bool{false, true} {
		w := newWire(t, nil)
		w.handler.SetPulse(100*time.Millisecond, time.Minute)
		revoke := w.revocable()
		conn := w.connected("", runsBash, "Connection", "close")
		w.open(1, askback.Pending)
		if begun {
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		revoke()
		if raw, _ := io.ReadAll(conn); strings.Contains(string(raw), "hookSpecificOutput") || strings.Contains(string(raw), "{}") {
			t.Errorf("begun: %v, it hears %s", begun, raw)
		}
		w.open(1, askback.Cancelled)
	}
}

// revocable gives bot a token that can be revoked.
func (w *wire) revocable() (revoke func()) {
	w.t.Helper()
	made, secret, err := w.engine.As(root).CreateToken(w.t.Context(), askback.TokenRequest{Kind: askback.Agent, Name: bot.Name})
	if err != nil {
		w.t.Fatal(err)
	}
	w.tokens[askback.Principal{Kind: bot.Kind, Name: bot.Name, Via: askback.ViaAPI}] = secret
	return func() {
		if _, err := w.engine.As(root).RevokeToken(w.t.Context(), made.ID); err != nil {
			w.t.Error(err)
		}
	}
}

// A reply that is long in coming shows that it lives, and is the same decision.
// Where it had begun, no decision is {}, and a failure breaks it off.
func TestAHookThatWaitsShowsThatItLives(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *wire)
		want string // "" breaks off
	}{
		"answered": {func(w *wire) { w.answers(`/answer {"decision": "approved"}`) }, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		"declined": {func(w *wire) { w.answers(`/decline {}`) }, `{}`},
		"stopped":  {func(w *wire) { w.handler.Stop() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, nil)
			w.handler.SetPulse(time.Millisecond, time.Minute)
			conn := w.connected("", runsBash)
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

// The time that a server gives a request to arrive is not that for an answer.
func TestAHookOutlivesTheTimeToRead(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, nil)
			w.server.Close()
			w.server = httptest.NewUnstartedServer(witnessed(t, w.handler))
			w.server.EnableHTTP2 = proto == "HTTP/2.0"
			w.server.Config.ReadTimeout = 2 * time.Second // a busy machine takes its time to send
			w.server.StartTLS()
			w.client = w.server.Client()
			got := w.hooked(bot, "", runsBash)
			w.open(1, askback.Pending)
			<-time.After(w.server.Config.ReadTimeout + 100*time.Millisecond)
			w.answers(`/answer {"decision": "approved"}`)
			wantReply(t, <-got, 200, "allow")
		})
	}
}

// Too many that wait are told so, and leave no card that nobody waits for.
func TestTooManyHooksWait(t *testing.T) {
	e := engine.New(memstore.New(), &engine.Options{MaxWaiters: 1})
	w := &wire{t: t, engine: e, handler: httpapi.NewHandler(e, nil), tokens: map[askback.Principal]string{}, client: &http.Client{}}
	w.server = httptest.NewServer(witnessed(t, w.handler))
	defer w.server.Close()
	defer w.client.CloseIdleConnections()
	first := w.hooked(bot, "", runsBash)
	ask := w.open(1, askback.Pending)[0]
	wantReply(t, w.send("POST", hook.Path, w.token(bot), asksDB), 429, "too-many")
	if got := w.open(1, askback.Pending)[0]; got.ID != ask.ID {
		t.Errorf("open is %s, want %s", got.ID, ask.ID)
	}
	w.open(1, askback.Cancelled)
	w.answers(`/answer {"decision": "approved"}`)
	wantReply(t, <-first, 200, "allow")
}
