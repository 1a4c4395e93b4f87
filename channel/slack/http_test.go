package slack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack/slacktest"
)

// The example is from docs.slack.dev/authentication/verifying-requests-from-slack.
var published = struct {
	at        int64
	signature string
	body      string
}{
	1531420618, "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
	form(
		"token", "xyzz0WbapA4vBCDEFasx0q6G", "team_id", "T1DC2JH3J", "team_domain", "testteamnow", "channel_id",
		"G8PSS9T3V", "channel_name", "foobar", "user_id", "U2CERLKJA", "user_name", "roadrunner", "command",
		"/webhook-collect", "text", "",
		"response_url", "https://hooks.slack.com/commands/T1DC2JH3J/397700885554/96rGlfmibIGlgcZRskXaIFfN",
		"trigger_id", "398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
	),
}

// form encodes names and values in their order.
func form(fields ...string) string {
	var pairs []string
	for i := 0; i < len(fields); i += 2 {
		pairs = append(pairs, fields[i]+"="+url.QueryEscape(fields[i+1]))
	}
	return strings.Join(pairs, "&")
}

func verifier(t *testing.T, secret string, now func() time.Time) *Channel {
	t.Helper()
	c, err := New(Options{
		BotToken: "xoxb-1", AppToken: "xapp-1", SigningSecret: secret, Channel: "C1", Team: "T1", Now: now,
	})
	must(t, err)
	return c
}

// check verifies a request as the handler does.
func (c *Channel) check(header http.Header, body []byte) error {
	s, err := c.signatureOf(header)
	if err != nil {
		return err
	}
	return c.verify(s, body)
}

func TestPublishedSignatureIsAccepted(t *testing.T) {
	header := http.Header{"X-Slack-Request-Timestamp": {"1531420618"}, "X-Slack-Signature": {published.signature}}
	if err := verifier(t, slacktest.SigningSecret,
		timeAt(published.at)).check(header, []byte(published.body)); err != nil {
		t.Error(err)
	}
}

func TestRequestsThatSlackDidNotSendAreRefused(t *testing.T) {
	body := []byte(published.body)
	good := slacktest.Sign(slacktest.SigningSecret, time.Unix(published.at, 0), body)
	changed := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	const stamp, signature = "X-Slack-Request-Timestamp", "X-Slack-Signature"
	for name, c := range map[string]struct {
		secret string
		after  int64 // seconds
		header http.Header
		body   []byte
		want   string
	}{
		"no secret": {
			"", 0, slacktest.Sign("", time.Unix(published.at, 0), body), body, "there is no signing_secret",
		},
		"another secret": {"another", 0, good, body, "the signature is wrong"},
		"no signature":   {slacktest.SigningSecret, 0, changed(signature, ""), body, "it has no signature"},
		"another version": {
			slacktest.SigningSecret, 0, changed(signature, strings.Replace(good.Get(signature), "v0", "v1", 1)), body,
			"it has no signature",
		},
		"without a version": {
			slacktest.SigningSecret, 0, changed(signature, strings.TrimPrefix(good.Get(signature), "v0=")), body,
			"it has no signature",
		},
		"a part of it": {
			slacktest.SigningSecret, 0, changed(signature, good.Get(signature)[:21]), body, "it has no signature",
		},
		"an empty signature": {slacktest.SigningSecret, 0, changed(signature, "v0="), body, "it has no signature"},
		"no timestamp":       {slacktest.SigningSecret, 0, changed(stamp, ""), body, "it has no timestamp"},
		"a changed timestamp": {
			slacktest.SigningSecret, 0, changed(stamp, "1531420619"), body, "the signature is wrong",
		},
		"a changed body": {
			slacktest.SigningSecret, 0, good, append(bytes.Clone(body), '&'), "the signature is wrong",
		},
		"five minutes old": {slacktest.SigningSecret, 300, good, body, ""},
		"older": {
			slacktest.SigningSecret, 301, good, body, "it is older than five minutes, or from the future",
		},
		"from the future": {
			slacktest.SigningSecret, -301, good, body, "it is older than five minutes, or from the future",
		},
		"with another casing": {
			slacktest.SigningSecret, 0, changed(signature, strings.ToUpper(good.Get(signature))), body,
			"it has no signature",
		},
		"with nothing changed": {slacktest.SigningSecret, 0, good, body, ""},
	} {
		got := ""
		if err := verifier(t, c.secret, timeAt(published.at+c.after)).check(c.header, c.body); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A signature is rejected if any of its characters is changed.
func TestWholeSignatureIsCompared(t *testing.T) {
	body := []byte(published.body)
	good := slacktest.Sign(slacktest.SigningSecret, time.Unix(published.at, 0), body)
	const name = "X-Slack-Signature"
	signature := good.Get(name)
	for i := len("v0="); i < len(signature); i++ {
		h := good.Clone()
		other := byte('0')
		if signature[i] == other {
			other = '1'
		}
		h.Set(name, signature[:i]+string(other)+signature[i+1:])
		if err := verifier(t, slacktest.SigningSecret, timeAt(published.at)).check(h, body); err == nil {
			t.Errorf("the signature was accepted with another character at %d", i)
		}
	}
}

// If the maximum number of requests is stored, a request is removed only if it is too old to be accepted
// again.
func TestOnlyOldRequestsAreForgotten(t *testing.T) {
	now := published.at
	c := verifier(t, slacktest.SigningSecret, func() time.Time { return time.Unix(now, 0) })
	body := []byte("payload=1")
	header := slacktest.Sign(slacktest.SigningSecret, time.Unix(now, 0), body)
	must(t, c.check(header, body))
	for i := range maxSeen - 1 { // signatures of earlier requests
		must(t, c.seen.add([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}, time.Unix(now, 0)))
	}
	now++
	must(t, c.check(slacktest.Sign(slacktest.SigningSecret, time.Unix(now, 0), body), body)) // makes room
	if got := len(c.seen.ends); got != 2 {
		t.Errorf("got %d requests in memory, want the two that could come again", got)
	}
	if c.check(header, body) == nil {
		t.Error("a request of a second ago was accepted again")
	}
}

// A request is accepted once while it is not too old, and never after it has become too old.
func TestRequestIsAcceptedOnce(t *testing.T) {
	now := published.at
	c := verifier(t, slacktest.SigningSecret, func() time.Time { return time.Unix(now, 0) })
	body := []byte("payload=1")
	header := slacktest.Sign(slacktest.SigningSecret, time.Unix(now, 0), body)
	must(t, c.check(header, body))
	for _, at := range []int64{0, 1, 299, 300, 301} {
		now = published.at + at
		if err := c.check(header, body); err == nil {
			t.Errorf("it was accepted again after %d seconds", at)
		}
	}
	if err := c.check(slacktest.Sign(slacktest.SigningSecret, time.Unix(now, 0), body), body); err != nil {
		t.Errorf("the same body with a new signature: %v", err)
	}
}

func TestRequestIsRejectedIfTooManyAreRemembered(t *testing.T) {
	now := published.at
	s := seen{now: func() time.Time { return time.Unix(now, 0) }}
	for i := range maxSeen {
		must(t, s.add([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}, time.Unix(now+300, 0)))
	}
	if s.add([32]byte{31: 1}, time.Unix(now+300, 0)) == nil {
		t.Error("it forgot a request that could come again")
	}
	now += 301
	must(t, s.add([32]byte{31: 1}, time.Unix(now+300, 0)))
	if len(s.ends) != 1 {
		t.Errorf("it remembers %d requests, want 1", len(s.ends))
	}
}

func TestSlackChallengeIsEchoed(t *testing.T) {
	f := newFixture(t, nil)
	ack, reply := f.slack.Event([]byte(`{"token":"x","challenge":"3eZbrw1aB","type":"url_verification"}`))
	if !ack.OK || string(reply) != "3eZbrw1aB" {
		t.Errorf("got %+v, %q", ack, reply)
	}
	if ack, reply := f.slack.Event([]byte(`{"type":"event_callback","event":{"type":"app_home_opened"}}`)); !ack.OK ||
		len(reply) > 0 {
		t.Errorf("an event: got %+v, %q", ack, reply)
	}
}

func TestHandlerRefusesOtherRequests(t *testing.T) {
	c := verifier(t, slacktest.SigningSecret, timeAt(published.at))
	h := c.Handler(nil)
	for name, r := range map[string]struct {
		request *http.Request
		want    int
	}{
		"GET": {httptest.NewRequest(http.MethodGet, "/channels/slack", nil), http.StatusMethodNotAllowed},
		"unsigned": {
			httptest.NewRequest(http.MethodPost, "/channels/slack", strings.NewReader("payload={}")),
			http.StatusUnauthorized,
		},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.request)
		if w.Code != r.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, r.want)
		}
	}
	body := []byte("no=payload")
	r := httptest.NewRequest(http.MethodPost, "/channels/slack", bytes.NewReader(body))
	r.Header = slacktest.Sign(slacktest.SigningSecret, time.Unix(published.at, 0), body)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest {
		t.Errorf("without a payload: got %d", w.Code)
	}
}

// A body is not read if the header shows that Slack did not send the request. It is not read either if the
// header gives a size above the largest body of Slack. If the header has no length, at most this size is
// read.
func TestBodyOfAForgedRequestIsNotRead(t *testing.T) {
	c := verifier(t, slacktest.SigningSecret, timeAt(published.at))
	at := func(seconds int64) http.Header {
		return slacktest.Sign(slacktest.SigningSecret, time.Unix(published.at+seconds, 0), nil)
	}
	without := func(name string) http.Header {
		h := at(0)
		h.Del(name)
		return h
	}
	for name, r := range map[string]struct {
		header http.Header
		length int64
		want   int
		read   bool
	}{
		"unsigned":                   {http.Header{}, 100, http.StatusUnauthorized, false},
		"without a timestamp":        {without("X-Slack-Request-Timestamp"), 100, http.StatusUnauthorized, false},
		"without a signature":        {without("X-Slack-Signature"), 100, http.StatusUnauthorized, false},
		"stale":                      {at(-301), 100, http.StatusUnauthorized, false},
		"from the future":            {at(301), 100, http.StatusUnauthorized, false},
		"too large":                  {at(0), maxRequest + 1, http.StatusRequestEntityTooLarge, false},
		"too large without a length": {at(0), -1, http.StatusBadRequest, true},
		"with a wrong signature":     {at(0), maxRequest, http.StatusUnauthorized, true},
	} {
		body := &countedBody{left: r.length}
		if r.length < 0 {
			body.left = 10 * maxRequest
		}
		request := httptest.NewRequest(http.MethodPost, "/channels/slack", body)
		request.Header, request.ContentLength = r.header, r.length
		w := httptest.NewRecorder()
		c.Handler(nil).ServeHTTP(w, request)
		if w.Code != r.want || (body.read > 0) != r.read || body.read > maxRequest+1 {
			t.Errorf("%s: got %d and %d bytes were read", name, w.Code, body.read)
		}
	}
}

// A forged request gets its reply although its body never arrives.
func TestForgedRequestIsRefusedBeforeItsBodyArrives(t *testing.T) {
	s := httptest.NewServer(verifier(t, slacktest.SigningSecret, timeAt(published.at)).Handler(nil))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /channels/slack HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusUnauthorized || !got.Close {
		t.Errorf("got status %d; closed: %t", got.StatusCode, got.Close)
	}
}

// A countedBody is a body that counts the bytes read.
type countedBody struct{ left, read int64 }

func (b *countedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), b.left)
	b.left -= n
	b.read += n
	return int(n), nil
}

// After a restart, a request that is repeated within five minutes changes nothing: no answer, no vote and no
// message. At most, its sender gets a private note again.
func TestReplayAfterARestartChangesNothing(t *testing.T) {
	f := newFixture(t, nil)
	single, voted := f.ask(choice("PostgreSQL", "SQLite")), call(`{"command":"make deploy"}`)
	voted.To, voted.Quorum = []string{"ana", "ben"}, 2
	two := f.ask(voted)
	// otherwise the request could arrive before the message has its buttons
	f.message(two, "D"+slacktest.Ben.ID[1:], slacktest.Message.HasElements)
	var requests [][]byte
	for text, m := range map[string]slacktest.Message{
		"SQLite": f.live(single), "Approve": f.message(two, "D"+slacktest.Ana.ID[1:], slacktest.Message.HasElements),
	} {
		e, block, ok := m.Button(text)
		if !ok {
			t.Fatalf("there is no button %s in:\n%s", text, m.Shown())
		}
		requests = append(requests, slacktest.Form(f.slack.Action(slacktest.Ana, m, block, e, nil)))
	}
	var headers []http.Header
	for _, body := range requests {
		header := slacktest.Sign(slacktest.SigningSecret, f.slack.Now(), body)
		if ack, _ := f.slack.Send(body, "application/x-www-form-urlencoded", header); !ack.OK {
			t.Fatalf("got %+v", ack)
		}
		headers = append(headers, header)
	}
	f.done(single)
	ana := f.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	state := func() string {
		f.working.Wait()
		all, err := ana.List(t.Context(), askback.Query{Status: askback.AnyStatus})
		must(t, err)
		late, _, err := f.engine.Reports(askback.Principal{Kind: askback.Responder, Name: "ana"}).LateAnswers(
			t.Context(), single.ID,
		)
		must(t, err)
		asks, err := json.Marshal(all.Items)
		must(t, err)
		seen := fmt.Sprintf("%s\n%d late", asks, len(late))
		for _, m := range f.slack.Messages() {
			seen += "\n" + m.TS + " " + m.Shown()
		}
		return seen
	}
	before := state()
	if got, err := ana.Get(t.Context(), two.ID); err != nil || got.Settled() || len(got.Votes) != 1 {
		t.Fatalf("got %+v, %v; want one vote", got, err)
	}
	restarted, err := New(f.options)
	must(t, err)
	defer restarted.Close()
	f.Channel = restarted
	f.serve(f.engine)
	for i, body := range requests {
		if ack, _ := f.slack.Send(body, "application/x-www-form-urlencoded", headers[i]); !ack.OK {
			t.Errorf("request %d: got %+v", i, ack)
		}
		if ack, _ := f.slack.Send(body, "application/x-www-form-urlencoded",
			headers[i]); ack.Status != http.StatusUnauthorized {
			t.Errorf("request %d again: got %+v", i, ack)
		}
	}
	if after := state(); after != before {
		t.Errorf("got %s\nwant %s", after, before)
	}
}

// A flood of forged requests writes a few lines a minute to the log.
func TestFloodDoesNotFillTheLog(t *testing.T) {
	var log bytes.Buffer
	now := published.at
	c := verifier(t, slacktest.SigningSecret, func() time.Time { return time.Unix(now, 0) })
	c.options.Log = slog.New(slog.NewTextHandler(&log, nil))
	h := c.Handler(nil)
	for range 3 {
		for range 100 {
			h.ServeHTTP(httptest.NewRecorder(),
				httptest.NewRequest(http.MethodPost, "/channels/slack", strings.NewReader("payload={}")))
		}
		now += 60
	}
	if got := strings.Count(log.String(), "was refused"); got != 3*maxForged {
		t.Errorf("the log has %d lines of 300 requests in 3 minutes", got)
	}
}
