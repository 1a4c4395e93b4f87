package askbacktest_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/askbacktest"
)

const otherSecret = "whsec_YW5vdGhlciBzZWNyZXQgb2YgYSByZWNlaXZlcg=="

// post sends a message as Standard Webhooks require, with one signature for each secret.
// change may change the request after it was signed.
func post(
	t *testing.T, to *askbacktest.Receiver, id, body string, at time.Time, change func(*http.Request),
	secrets ...string,
) (status int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to.URL(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	sent := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		io.WriteString(mac, id+"."+sent+"."+body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", sent)
	r.Header.Set("Webhook-Signature", strings.Join(signatures, " "))
	if change != nil {
		change(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, reply.Body)
	return reply.StatusCode, err
}

const sessionBody = `{"event": "session_completed", "session_id": "ses_1", "agent_name": "bot", "header": {"X": ["y"]}, "session": {"id": "ses_1", "status": "completed", "result": {"ok": true}}}`

// A message is accepted if it is not old and one of its signatures is valid for a secret. Otherwise it is
// rejected with a reason, and not recorded (E3, T17).
func TestReceiverVerifiesMessages(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		at      time.Time
		secrets []string
		change  func(*http.Request)
		err     string // the reason, or "" if the message is accepted
	}{
		"signed":         {now, []string{askbacktest.ReceiverSecret}, nil, ""},
		"two signatures": {now, []string{otherSecret, askbacktest.ReceiverSecret}, nil, ""},
		"another secret": {now, []string{otherSecret}, nil, "webhook-signature does not match"},
		"no signature":   {now, nil, nil, "webhook-signature is missing"},
		"old": {
			now.Add(-6 * time.Minute), []string{askbacktest.ReceiverSecret}, nil, "the message is too old: 6m",
		},
		"from the future": {
			now.Add(6 * time.Minute), []string{askbacktest.ReceiverSecret}, nil, "the message is from the future: 5m",
		},
		"a changed body": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			setBody(r, sessionBody+" ")
		}, "webhook-signature does not match"},
		"a changed id": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			r.Header.Set("Webhook-Id", "dlv_2")
		}, "webhook-signature does not match"},
		"no id": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			r.Header.Del("Webhook-Id")
		}, "webhook-id is missing"},
		"a changed time": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix()-1, 10))
		}, "webhook-signature does not match"},
		"no time": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			r.Header.Del("Webhook-Timestamp")
		}, "webhook-timestamp is not a number of seconds"},
		"an unknown signature": {now, []string{askbacktest.ReceiverSecret}, func(r *http.Request) {
			r.Header.Set("Webhook-Signature", "v2,"+r.Header.Get("Webhook-Signature")[3:])
		}, "webhook-signature does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			to := askbacktest.NewReceiver(t, nil)
			to.Next(askbacktest.Accept, askbacktest.Status(500)) // invalid messages do not use the script
			status, err := post(t, to, "dlv_1", sessionBody, c.at, c.change, c.secrets...)
			if err != nil {
				t.Fatal(err)
			}
			want := http.StatusNoContent
			if c.err != "" {
				want = http.StatusUnauthorized
			}
			a := to.WaitAttempts(1)[0]
			if status != want || (a.Err == nil) != (c.err == "") ||
				a.Err != nil && !strings.HasPrefix(a.Err.Error(), c.err) {
				t.Fatalf("got status %d with the reason %v, want %d with %q", status, a.Err, want, c.err)
			}
			if c.err != "" {
				if n := len(to.Messages()); n != 0 || a.Result != "rejected" {
					t.Errorf("got %d messages, and the result %q", n, a.Result)
				}
				status, err = post(t, to, "dlv_1", sessionBody, now, nil, askbacktest.ReceiverSecret)
				if err != nil || status != http.StatusNoContent {
					t.Errorf("the next one: got %d, %v, want it accepted", status, err)
				}
				return
			}
			m := to.Wait(1)[0]
			if m.ID != "dlv_1" || m.Event != "session_completed" || m.SessionID != "ses_1" || m.AgentName != "bot" ||
				string(m.Session.Result) != `{"ok": true}` ||
				m.At.Unix() != now.Unix() || string(m.Body) != sessionBody || m.Header.Get("X") != "" {
				t.Errorf("got message %+v", m)
			}
		})
	}
}

func setBody(r *http.Request, body string) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
}

// The messages are recorded once and in order, although attempts fail, replies are lost and
// messages are repeated.
func TestReceiverFailsByScript(t *testing.T) {
	to := askbacktest.NewReceiver(t,
		&askbacktest.ReceiverOptions{Secrets: []string{askbacktest.ReceiverSecret, otherSecret}})
	to.Next(askbacktest.Status(503), askbacktest.Accept, askbacktest.LoseReply(), askbacktest.Accept)
	to.Always(askbacktest.Status(410))
	for i, c := range []struct {
		id     string
		status int // 0: no reply
	}{{"dlv_1", 503}, {"dlv_1", 204}, {"dlv_2", 0}, {"dlv_2", 204}, {"dlv_3", 410}, {"dlv_4", 410}} {
		status, err := post(t, to, c.id, sessionBody, time.Now(), nil,
			[]string{askbacktest.ReceiverSecret, otherSecret}[i%2])
		if status != c.status || (err == nil) != (c.status != 0) {
			t.Errorf("attempt %d: got status %d, %v, want %d", i+1, status, err, c.status)
		}
	}
	var ids, results []string
	for _, m := range to.Messages() {
		ids = append(ids, m.ID)
	}
	for _, a := range to.Attempts() {
		results = append(results, a.ID+" "+a.Result)
	}
	if !slices.Equal(ids, []string{"dlv_1", "dlv_2"}) {
		t.Errorf("got messages %q", ids)
	}
	want := []string{
		"dlv_1 status 503", "dlv_1 accepted", "dlv_2 lose the reply", "dlv_2 repeated", "dlv_3 status 410",
		"dlv_4 status 410",
	}
	if !slices.Equal(results, want) {
		t.Errorf("got attempts %q, want %q", results, want)
	}
	to.SetSecrets(otherSecret)
	if status, err := post(t, to, "dlv_5", sessionBody, time.Now(), nil,
		askbacktest.ReceiverSecret); status != http.StatusUnauthorized {
		t.Errorf("with a secret that was removed: got %d, %v", status, err)
	}
}

// A receiver that is down refuses connections, and has the same address when it is up again. Waiting requests
// end.
func TestReceiverRefusesConnectionsWhileItIsDown(t *testing.T) {
	to := askbacktest.NewReceiver(t, nil)
	to.Next(askbacktest.Hang())
	ended := make(chan error, 1)
	go func() {
		_, err := post(t, to, "dlv_1", sessionBody, time.Now(), nil, askbacktest.ReceiverSecret)
		ended <- err
	}()
	to.WaitAttempts(1)
	address := to.Address()
	to.Down()
	if err := <-ended; err == nil {
		t.Errorf("the attempt that hung has no error")
	}
	if _, err := post(t, to, "dlv_1", sessionBody, time.Now(), nil, askbacktest.ReceiverSecret); err == nil ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("while it is down: got %v, want a refused connection", err)
	}
	to.Up()
	status, err := post(t, to, "dlv_1", sessionBody, time.Now(), nil, askbacktest.ReceiverSecret)
	if err != nil || status != 204 || to.Address() != address || fmt.Sprint(len(to.Wait(1))) != "1" {
		t.Errorf("up again at %s: got %d, %v, want 204 at %s", to.Address(), status, err, address)
	}
}
