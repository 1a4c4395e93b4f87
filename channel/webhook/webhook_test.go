package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// someAsk is an ask with an outcome.
var someAsk = askback.Ask{
	ID: "ask_1", SessionID: "ses_1", Agent: "write-poem", Kind: askback.Questions,
	Context: json.RawMessage(`{"topic":"love"}`),
	Questions: []askback.Question{
		{ID: "q1", Text: "What style would you prefer?", Options: askback.Options("free verse", "haiku")},
	},
	CreatedAt: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), PageURL: "https://ask.example.com/asks/ask_1",
	Status: askback.Answered,
	Outcome: &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
		Channel: askback.ChannelWeb,
		Answers: []askback.QuestionAnswer{
			{ID: "q1", Question: "What style would you prefer?", Selected: []string{"haiku"}},
		},
		At: time.Date(2026, 1, 2, 9, 1, 0, 0, time.UTC),
	},
}

func delivery(event askback.EventType) askback.Delivery {
	return askback.Delivery{
		ID: "dlv_1", AskID: "ask_1", SessionID: "ses_1", Channel: "webhook", Event: event,
		Status: askback.DeliveryQueued,
	}
}

// newChannel returns a channel that may send to a server.
func newChannel(t *testing.T, server *httptest.Server) *Channel {
	t.Helper()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	c, err := New(Options{
		Secret:  secret,
		Allow:   []egress.Allowed{{Addresses: netip.PrefixFrom(at.Addr(), at.Addr().BitLen()), Port: at.Port()}},
		Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The message has the form of docs/wire.md §8, and a signature of Standard Webhooks (E3).
func TestMessageHasTheDocumentedForm(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	traced := someAsk
	traced.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if err := send(t.Context(), newChannel(t, server), delivery(askback.EventQuestionPending), traced,
		server.URL+"/call?key=1"); err != nil {
		t.Fatal(err)
	}
	if got.Method != "POST" || got.URL.String() != "/call?key=1" || got.Header.Get("X-Agent-Session") != "ses_1" ||
		got.Header.Get("Webhook-Id") != "dlv_1" ||
		got.Header.Get("Content-Type") != "application/json" || got.Header.Get("User-Agent") != "askback/test" ||
		got.Header.Get("Traceparent") != traced.TraceParent {
		t.Errorf("got %s %s, %v", got.Method, got.URL, got.Header)
	}
	var content, want any
	if err := json.Unmarshal(body, &content); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{
		"event": "question_pending", "session_id": "ses_1", "agent_name": "write-poem", "title": null,
		"question": {
			"id": "ask_1", "text": "What style would you prefer?", "options": ["free verse", "haiku"],
			"context": {"topic": "love", "asked_at": "2026-01-02T09:00:00.000Z"}
		},
		"questions": [{
			"id": "q1", "question": "What style would you prefer?", "header": null, "multiSelect": false,
			"options": [{"label": "free verse", "description": "", "preview": ""}, {"label": "haiku"}],
			"allow_custom": true, "required": true, "default": null
		}],
		"answer_url": "https://ask.example.com/agent/answer/ses_1", "page_url": "https://ask.example.com/asks/ask_1"
	}`), &want)
	delete(content.(map[string]any), "questions") // the questions have the form of the API, which other tests check
	delete(want.(map[string]any), "questions")
	if diff := cmp.Diff(want, content); diff != "" {
		t.Errorf("body -want +got:\n%s", diff)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(body, got.Header); err != nil {
		t.Error(err)
	}
	// The test computes the signature without the library, because the channel uses the library.
	mac := hmac.New(sha256.New, []byte("01234567890123456789012345678901"))
	fmt.Fprintf(mac, "dlv_1.%s.%s", got.Header.Get("Webhook-Timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.Header.Get("Webhook-Signature") != want {
		t.Errorf("got signature %s, want %s", got.Header.Get("Webhook-Signature"), want)
	}
	if sent, _ := strconv.ParseInt(got.Header.Get("Webhook-Timestamp"), 10,
		64); time.Since(time.Unix(sent, 0)).Abs() > time.Hour {
		t.Errorf("got timestamp %d", sent)
	}
}

// The message about a session has the session in its state after the event.
func TestSessionMessageHasTheSession(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	d := delivery(askback.EventSessionCompleted)
	d.AskID, d.Session = "", &askback.Session{
		ID: "ses_1", Agent: "write-poem", Owner: "bot", Status: askback.SessionCompleted,
		Result: json.RawMessage(`{"poem":"b"}`), AsksTotal: 1, CreatedAt: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC),
		CompletedAt: time.Date(2026, 1, 2, 9, 1, 0, 0, time.UTC),
	}
	if err := send(t.Context(), newChannel(t, server), d,
		askback.Ask{PageURL: "https://ask.example.com/sessions/ses_1"}, server.URL); err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	if got.Header.Get("X-Agent-Session") != "ses_1" || string(members["event"]) != `"session_completed"` ||
		string(members["session_id"]) != `"ses_1"` || string(members["agent_name"]) != `"write-poem"` ||
		string(members["page_url"]) != `"https://ask.example.com/sessions/ses_1"` {
		t.Errorf("got %s, %v", body, got.Header)
	}
	want, err := d.Session.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var have askback.Session
	if err := json.Unmarshal(members["session"], &have); err != nil {
		t.Fatal(err)
	}
	if again, err := have.MarshalJSON(); err != nil || string(again) != string(want) || len(members) != 5 {
		t.Errorf("got session %s, %v, want %s", again, err, want)
	}
}

// The event that settles an ask has the outcome. The event question_pending has no outcome, even if the ask
// was settled since.
func TestOnlyOutcomeEventsHaveTheOutcome(t *testing.T) {
	var body struct{ Outcome *struct{ Status string } }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body.Outcome = nil
		_ = json.NewDecoder(r.Body).Decode(&body)
	}))
	defer server.Close()
	c := newChannel(t, server)
	for event, has := range map[askback.EventType]bool{
		askback.EventQuestionPending: false, askback.EventQuestionAnswered: true,
	} {
		if err := send(t.Context(), c, delivery(event), someAsk, server.URL); err != nil {
			t.Fatal(err)
		}
		if got := body.Outcome != nil && body.Outcome.Status == "answered"; got != has {
			t.Errorf("%s: got outcome %+v, want one: %v", event, body.Outcome, has)
		}
	}
}

// A reply other than 2xx is an error with the next step. Redirects are not followed (T16).
func TestReplyOtherThan2xxIsAnError(t *testing.T) {
	var followed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer other.Close()
	later := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if after := r.URL.Query().Get("after"); after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Location", other.URL)
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("\x1b[31mthe contents of a private page", 10_000))
	}))
	defer server.Close()
	c := newChannel(t, server)
	for _, in := range []struct {
		path     string
		want     string // the error
		final    bool
		min, max time.Duration // RetryAfter
	}{
		{"/200", "", false, 0, 0},
		{"/202", "", false, 0, 0},
		{"/204", "", false, 0, 0},
		{"/302", "the reply was a redirect (302), which is not followed", false, 0, 0},
		{"/307", "the reply was a redirect (307), which is not followed", false, 0, 0},
		{"/308", "the reply was a redirect (308), which is not followed", false, 0, 0},
		{"/400", "the reply was 400 Bad Request", false, 0, 0},
		{"/410", "the reply was 410 Gone", true, 0, 0},
		{"/429?after=120", "the reply was 429 Too Many Requests", false, 2 * time.Minute, 2 * time.Minute},
		{
			"/503?after=" + url.QueryEscape(later), "the reply was 503 Service Unavailable", false, 58 * time.Minute,
			time.Hour,
		},
		{"/503?after=soon", "the reply was 503 Service Unavailable", false, 0, 0},
		{"/503?after=-5", "the reply was 503 Service Unavailable", false, 0, 0},
		{"/599", "the reply was 599", false, 0, 0},
	} {
		err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk, server.URL+in.path)
		if in.want == "" {
			if err != nil {
				t.Errorf("%s: %v", in.path, err)
			}
			continue
		}
		var e *askback.SendError
		if !errors.As(err, &e) || err.Error() != in.want || e.Final != in.final ||
			e.RetryAfter < in.min || e.RetryAfter > in.max {
			t.Errorf("%s: got %+v, want %q, final %v, after %v to %v", in.path, err, in.want, in.final, in.min, in.max)
		}
	}
	if followed.Load() > 0 {
		t.Errorf("a redirect was followed %d times", followed.Load())
	}
}

// If there is no reply, the error contains neither text of the receiver nor its address, because agents read
// it (T16).
func TestErrorsDoNotContainTextOfTheReceiver(t *testing.T) {
	speaks := func(text string) string { // address of a receiver that sends a text
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				_, _ = io.WriteString(conn, text)
				_ = conn.Close()
			}
		}()
		return l.Addr().String()
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	free := speaks("")
	holder, err := net.Dial("tcp", speaks("")) // occupies the port, so that no other server can use the port
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	refuses := holder.LocalAddr().String()
	for name, in := range map[string]struct{ address, want string }{
		"nothing": {"http://" + free, "no reply: the connection failed, or the reply was not HTTP"},
		"another server": {
			"http://" + speaks("SSH-2.0-secret_9.6\r\n"), "no reply: the connection failed, or the reply was not HTTP",
		},
		"a status": {
			"http://" + speaks("HTTP/1.1 secret\r\n\r\n"), "no reply: the connection failed, or the reply was not HTTP",
		},
		"a header": {
			"http://" + speaks("HTTP/1.1 200 OK\r\nsecret\r\n\r\n"),
			"no reply: the connection failed, or the reply was not HTTP",
		},
		"TLS":           {"https://" + speaks("220 secret ESMTP\r\n"), "no reply: the receiver does not use TLS"},
		"a certificate": {secure.URL, "no reply: the certificate of the receiver is not trusted or has expired"},
		"another name": {
			strings.Replace(secure.URL, "127.0.0.1", "localhost", 1),
			"no reply: the certificate of the receiver is for another name",
		},
		"refused": {"http://" + refuses, "no reply: the connection was refused"},
	} {
		at := netip.MustParseAddrPort(strings.Replace(strings.Split(in.address, "//")[1], "localhost", "127.0.0.1", 1))
		c, err := New(Options{
			Secret: secret, Allow: []egress.Allowed{{Addresses: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk, in.address+"/hooks/secret")
		if err == nil || err.Error() != in.want {
			t.Errorf("%s: got error %v, want %q", name, err, in.want)
		}
		c.Close()
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := send(stopped, newChannel(t, secure), delivery(askback.EventQuestionPending), someAsk,
		secure.URL); err == nil || err.Error() != "no reply: this server stopped" {
		t.Errorf("got %v", err)
	}
}

// A server on loopback gets no message unless its address is allowed, however the address is spelled (T16).
func TestMessagesAreNotSentToLoopback(t *testing.T) {
	var called atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer server.Close()
	c, err := New(Options{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0x7f000001",
		"0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.000.000.001", "0", "0.0.0.0", "[::]", "[::1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "localhost%00.example.com",
	} {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		err := send(ctx, c, delivery(askback.EventQuestionPending), someAsk, "http://"+host+":"+port+"/")
		stop()
		if err == nil {
			t.Errorf("%s: got no error", host)
		}
	}
	if called.Load() > 0 {
		t.Errorf("a private receiver was called %d times", called.Load())
	}
	if err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk,
		server.URL); !errors.Is(err, egress.ErrAddress) || strings.Contains(err.Error(), "127") {
		t.Errorf("got %v, want ErrAddress", err)
	}
}

// The address is checked at each connection. So a name is rejected if it changes from a public to a private
// address (T16).
func TestAddressIsCheckedAtEachConnection(t *testing.T) {
	var called, lookups atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	names := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, us := net.Pipe()
		go answerName(us, &lookups)
		return client, nil
	}}
	n, _ := strconv.ParseUint(port, 10, 16)
	// The first address is allowed, so that the connection is tried and fails. The second is the address of
	// the server.
	allow := []egress.Allowed{{Addresses: netip.MustParsePrefix("127.0.0.2/32"), Port: uint16(n)}}
	c := &Channel{client: egress.NewClient(allow, names), secret: secret, now: time.Now}
	for range 4 {
		if err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk,
			"http://rebind.example:"+port+"/"); err == nil {
			t.Errorf("got no error")
		}
	}
	if called.Load() > 0 {
		t.Errorf("the server was called %d times", called.Load())
	}
	if lookups.Load() < 4 {
		t.Errorf("got %d look-ups, want at least 4", lookups.Load())
	}
}

// answerName answers DNS queries over a stream: 127.0.0.2 for the first query of type A, and 127.0.0.1 for
// later queries.
func answerName(conn net.Conn, lookups *atomic.Int64) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, int(length[0])<<8|int(length[1]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		end := 12
		for query[end] != 0 {
			end += int(query[end]) + 1
		}
		end += 5 // the zero byte, the type and the class
		reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
		if query[end-3] == 1 { // type A
			last := byte(1)
			if lookups.Add(1) == 1 {
				last = 2
			}
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, last)
		}
		if _, err := conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

func TestInvalidSecretsAreRejected(t *testing.T) {
	for _, s := range []string{
		"whsec_", "secret", "whsec_***", "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23)),
		"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65)),
	} {
		if _, err := New(Options{Secret: s}); err == nil || s != "" && strings.Contains(err.Error(), s+`"`) {
			t.Errorf("%q: got %v, want an error without the secret", s, err)
		}
	}
	made, err := NewSecret(strings.NewReader(strings.Repeat("x", 100)))
	if err != nil || CheckSecret(made) != "" {
		t.Errorf("got secret %q, %v: %s", made, err, CheckSecret(made))
	}
}

// The error is the same whether a name does not exist or its address is private. So an agent that sends an
// address learns nothing about private names. Only the cause, which is for the log, differs (T16).
func TestErrorDoesNotShowWhichPrivateNamesExist(t *testing.T) {
	c, err := New(Options{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var texts []string
	for address, cause := range map[string]string{
		"http://127.0.0.1:9/x?key=hidden":          "127.0.0.1:9 is not public",
		"http://localhost:9/x?key=hidden":          ":9 is not public",
		"http://no-such-host.invalid/x?key=hidden": "no-such-host.invalid",
	} {
		err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk, address)
		var sending *askback.SendError
		if !errors.As(err, &sending) || !errors.Is(err, egress.ErrAddress) || sending.Cause == nil ||
			!strings.Contains(sending.Cause.Error(), cause) {
			t.Errorf("%s: got %v, cause %v, want a cause with %q", address, err, sending, cause)
			continue
		}
		if strings.Contains(sending.Cause.Error(), "hidden") {
			t.Errorf("%s: the cause has the address: %v", address, sending.Cause)
		}
		texts = append(texts, fmt.Sprint(err, sending.Final, sending.RetryAfter))
	}
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("got %q and %q, want the same", text, texts[0])
		}
	}
}

// Only the status of a reply counts. A body that never ends delays the next message by about a second.
func TestEndlessReplyDoesNotDelayTheMessage(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "."); err != nil {
				break
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
		close(ended)
	}))
	defer server.Close()
	c := newChannel(t, server)
	if err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk, server.URL); err != nil {
		t.Error(err)
	}
	select {
	case <-ended: // Send has closed the connection, and has not waited for the end of the reply
	case <-time.After(time.Minute):
		t.Error("the connection is still open")
	}
}

// The message has a signature by each secret of an endpoint, so a receiver that has one of the secrets
// accepts the message. If the endpoint has no secret, the secret of the channel signs.
func TestMessageIsSignedWithEachSecret(t *testing.T) {
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	c := newChannel(t, server)
	verifies := func(secret string) bool {
		w, err := standardwebhooks.NewWebhook(secret)
		return err == nil && w.Verify(body, header) == nil
	}
	var made []string
	for range 2 {
		s, err := NewSecret(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, s)
	}
	for name, in := range map[string]struct{ secrets, verify, reject []string }{
		"none":             {nil, []string{secret}, made},
		"its own":          {made[:1], made[:1], []string{secret, made[1]}},
		"rotated":          {made, made, []string{secret}},
		"the first of its": {[]string{made[0], ""}, []string{made[0], secret}, made[1:]},
	} {
		if err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk, server.URL,
			in.secrets...); err != nil {
			t.Fatal(err)
		}
		for _, s := range in.verify {
			if !verifies(s) {
				t.Errorf("%s: a receiver with one of the secrets rejects the message", name)
			}
		}
		for _, s := range in.reject {
			if verifies(s) {
				t.Errorf("%s: a receiver with another secret accepts the message", name)
			}
		}
	}
	without, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := send(t.Context(), without, delivery(askback.EventQuestionPending), someAsk, server.URL); err == nil {
		t.Error("a message without a secret was sent")
	}
	code, err := c.SendTest(t.Context(), "test_1", "whe_1", server.URL, made)
	if err != nil || code != 200 || header.Get("Webhook-Id") != "test_1" || header.Get("X-Agent-Session") != "" ||
		!verifies(made[1]) || !strings.Contains(string(body), `"event":"test","endpoint_id":"whe_1"`) {
		t.Errorf("a test: got %d, %v, %v, %s", code, err, header, body)
	}
}

// send sends a delivery about an ask to an address, signed with secrets.
func send(
	ctx context.Context, c *Channel, d askback.Delivery, about askback.Ask, address string, secrets ...string,
) error {
	_, err := c.Send(ctx, askback.Notification{Delivery: d, Ask: about, Address: address, Secrets: secrets})
	return err
}
