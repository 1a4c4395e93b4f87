package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// sendTo makes one attempt to send a message to a receiver.
func sendTo(t *testing.T, ctx context.Context, to *askbacktest.Receiver, secret, id string) error {
	t.Helper()
	allowed, err := ParseAllowed(to.Address())
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Secret: secret, Allow: []Allowed{allowed}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d := delivery(askback.EventQuestionPending)
	d.ID = id
	return send(ctx, c, d, someAsk, to.URL()+"/calls?key=secret")
}

// Each failure of a receiver has its own error, with the cause and the next step. The next attempt succeeds.
// The receiver records the message once (E3, T16).
func TestReceiverFailuresAreExplained(t *testing.T) {
	later := time.Now().Add(time.Hour)
	other := askbacktest.NewReceiver(t, nil)
	t.Cleanup(func() {
		if n := len(other.Attempts()); n > 0 {
			t.Errorf("a redirect was followed %d times", n)
		}
	})
	for name, c := range map[string]struct {
		fault    askbacktest.Fault
		want     string // expected error; "" if the message is accepted
		final    bool
		min, max time.Duration // RetryAfter
	}{
		"accepts":           {fault: askbacktest.Accept},
		"200":               {fault: askbacktest.Status(200)},
		"202":               {fault: askbacktest.Status(202)},
		"400":               {fault: askbacktest.Status(400), want: "the reply was 400 Bad Request"},
		"500":               {fault: askbacktest.Status(500), want: "the reply was 500 Internal Server Error"},
		"an unknown status": {fault: askbacktest.Status(599), want: "the reply was 599"},
		"410":               {fault: askbacktest.Status(410), want: "the reply was 410 Gone", final: true},
		"429 with seconds": {
			fault: askbacktest.StatusRetryAfter(429, 2*time.Minute), want: "the reply was 429 Too Many Requests",
			min: 2 * time.Minute, max: 2 * time.Minute,
		},
		"503 with a date": {
			fault: askbacktest.StatusRetryAt(503, later), want: "the reply was 503 Service Unavailable",
			min: 50 * time.Minute, max: time.Hour,
		},
		"redirects": {
			fault: askbacktest.Redirect(other.URL()), want: "the reply was a redirect (307), which is not followed",
		},
		"closes midway": {
			fault: askbacktest.CloseMidway(), want: "no reply: the connection failed, or the reply was not HTTP",
		},
		"is not HTTP": {
			fault: askbacktest.NotHTTP("SSH-2.0-secret\r\n"),
			want:  "no reply: the connection failed, or the reply was not HTTP",
		},
		"loses the reply": {
			fault: askbacktest.LoseReply(), want: "no reply: the connection failed, or the reply was not HTTP",
		},
		"sends a huge body": {fault: askbacktest.HugeBody(1 << 30)},
		"sends 300 KB":      {fault: askbacktest.HugeBody(300_000)},
		"sends without end": {fault: askbacktest.SlowBody()},
		"does not reply":    {fault: askbacktest.Hang(), want: "no reply in time"},
		"redirects to 10/8": {
			fault: askbacktest.Redirect("http://10.0.0.1/"),
			want:  "the reply was a redirect (307), which is not followed",
		},
		"a redirect to file": {
			fault: askbacktest.Redirect("file:///etc/passwd"),
			want:  "the reply was a redirect (307), which is not followed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := askbacktest.NewReceiver(t, nil)
			to.Next(c.fault)
			ctx := t.Context()
			switch c.fault.String() {
			case "hang", "slow body": // the channel itself waits longer
				limited, stop := context.WithTimeout(ctx, 4*time.Second)
				defer stop()
				ctx = limited
			}
			err := sendTo(t, ctx, to, askbacktest.ReceiverSecret, "dlv_1")
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
			} else {
				e := &askback.SendError{}
				errors.As(err, &e)
				if err == nil || err.Error() != c.want || e.Final != c.final ||
					e.RetryAfter < c.min || e.RetryAfter > c.max {
					t.Errorf("got %v, %+v, want %q, final %v, after %v to %v", err, e, c.want, c.final, c.min, c.max)
				}
			}
			if err := sendTo(t, t.Context(), to, askbacktest.ReceiverSecret, "dlv_1"); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
			if got := to.Messages(); len(got) != 1 || got[0].Question.ID != "ask_1" ||
				got[0].Header.Get("Content-Type") != "application/json" {
				t.Errorf("got messages %+v, want one", got)
			}
		})
	}
}

// If a receiver refuses connections or has no valid TLS, the error names the cause.
func TestConnectionFailuresAreExplained(t *testing.T) {
	down := askbacktest.NewReceiver(t, nil)
	down.Down()
	for name, c := range map[string]struct {
		to   *askbacktest.Receiver
		want string
	}{
		"down": {down, "no reply: the connection was refused"},
		"untrusted": {
			askbacktest.NewReceiver(t, &askbacktest.ReceiverOptions{Protocol: askbacktest.HTTPS}),
			"no reply: the certificate of the receiver is not trusted or has expired",
		},
		"without TLS": {
			askbacktest.NewReceiver(t, &askbacktest.ReceiverOptions{Protocol: askbacktest.NotTLS}),
			"no reply: the receiver does not use TLS",
		},
	} {
		if err := sendTo(t, t.Context(), c.to, askbacktest.ReceiverSecret, "dlv_1"); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if n := len(c.to.Attempts()); n > 0 {
			t.Errorf("%s: got %d requests", name, n)
		}
	}
	down.Up()
	if err := sendTo(t, t.Context(), down, askbacktest.ReceiverSecret, "dlv_1"); err != nil {
		t.Errorf("up again: %v", err)
	}
	if err := sendTo(t, t.Context(), down, secret, "dlv_2"); err == nil ||
		err.Error() != "the reply was 401 "+http.StatusText(http.StatusUnauthorized) {
		t.Errorf("another secret: got %v, want 401", err)
	}
}

// A receiver fails for three days, in another way each time. It gets every message of an ask and a session,
// in order and with the same ids, signed anew for each attempt. The test moves the clock (E3, F9).
func TestReceiverGetsEveryMessageAfterThreeDaysOfFailures(t *testing.T) {
	var instance *askbacktest.Instance
	now := func() time.Time { return instance.Now() }
	to := askbacktest.NewReceiver(t, &askbacktest.ReceiverOptions{Now: now})
	allowed, err := ParseAllowed(to.Address())
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Secret: askbacktest.ReceiverSecret, Allow: []Allowed{allowed}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	instance = askbacktest.On(t, memstore.New(), &engine.Options{Channels: map[string]engine.Channel{"webhook": c}})
	instance.Person("ana", askbacktest.Answer("Which database", "SQLite"))
	bot := instance.Agent("bot")
	session, err := bot.Start(t.Context(), askback.SessionRequest{Key: "run", CallbackURL: to.URL()})
	if err != nil {
		t.Fatal(err)
	}
	to.Always(askbacktest.Status(http.StatusInternalServerError))
	to.Next(askbacktest.LoseReply(), askbacktest.CloseMidway(), askbacktest.Redirect("http://127.0.0.1:1"),
		askbacktest.StatusRetryAfter(429, time.Hour), askbacktest.Status(404))
	asked := askback.Request{SessionKey: "run", Questions: []askback.Question{
		{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")},
	}}
	ask, err := bot.Ask(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Wait(t.Context(), ask.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Send(t.Context(), session.ID,
		askback.Complete{Result: json.RawMessage(`{"ok":true}`)}); err != nil {
		t.Fatal(err)
	}
	begun := instance.Now()
	for instance.Now().Sub(begun) < 72*time.Hour {
		instance.Advance(time.Hour)
	}
	failed := len(to.Attempts())
	to.Always(askbacktest.Accept)
	for range 100 {
		instance.Advance(time.Hour)
	}
	got := to.Wait(3)
	if len(got) != 3 {
		t.Fatalf("got %d messages, want 3", len(got))
	}
	ids := map[askback.EventType]map[string]bool{}
	var order []askback.EventType
	for _, a := range to.Attempts() {
		if a.Err != nil {
			t.Errorf("%s was rejected: %v", a.Event, a.Err)
		}
		if ids[a.Event] == nil {
			ids[a.Event] = map[string]bool{}
			order = append(order, a.Event)
		}
		ids[a.Event][a.ID] = true
	}
	for event, of := range ids {
		if len(of) != 1 {
			t.Errorf("%s: got ids %v, want one for all attempts", event, of)
		}
	}
	if pending, answered := slices.Index(order, askback.EventQuestionPending),
		slices.Index(order, askback.EventQuestionAnswered); len(order) != 3 || pending < 0 || answered < pending {
		t.Errorf("got %q, want the question before its outcome, and the end of the session", order)
	}
	if failed < 10 {
		t.Errorf("got %d attempts in three days, want more", failed)
	}
}
