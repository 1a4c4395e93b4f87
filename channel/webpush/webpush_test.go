package webpush_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/channel/webpush/webpushtest"
	"github.com/askback/askback/test/kit/racedetector"
)

// The channel passes the suite of channels (F3, T7, T9, T10).
func TestChannelPassesTheSuite(t *testing.T) {
	racedetector.Omit(t)
	channeltest.Test(t, webpushtest.Driver())
}

var now = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// newChannel returns a channel that may send to a service.
func newChannel(t *testing.T, s *webpushtest.Service) *webpush.Channel {
	t.Helper()
	s.Now = func() time.Time { return now }
	c, err := webpush.New(webpush.Options{
		Subject: "mailto:ops@example.com", Allow: s.Allow(t), Roots: s.Roots, Now: s.Now, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	start(t, c, "a secret of the tests, 32 bytes!")
	return c
}

// secret is the secret of a server.
type secret string

func (s secret) ChannelSecret(_ context.Context, channel string) ([]byte, error) {
	if channel != webpush.Name {
		return nil, errors.New("another channel")
	}
	return []byte(s), nil
}

// start runs a channel of a server with a secret until the test ends.
func start(t *testing.T, c *webpush.Channel, of secret) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, of)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		c.Close()
	})
}

// publicKey returns the key with which browsers subscribe.
func publicKey(t *testing.T, c *webpush.Channel) string {
	t.Helper()
	key, err := c.PublicKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pending() askback.Ask {
	return askback.Ask{
		ID:    "ask_01k9x3m5q2t7w8y0a1b2c3d4e5",
		Agent: "bot", Owner: "bot", Kind: askback.Questions, Status: askback.Pending, Questions: []askback.Question{
			{ID: "q1", Text: "Deploy now?", Options: askback.Options("Yes", "No")},
		},
	}
}

func answered() askback.Ask {
	a := pending()
	a.Status = askback.Answered
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: "person", Name: "ana"}, At: now,
		Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"Yes"}}},
	}
	return a
}

func send(t *testing.T, c *webpush.Channel, address string, a askback.Ask) error {
	t.Helper()
	receipt, err := c.Send(t.Context(), askback.Notification{Ask: a, Address: address})
	if receipt != "" {
		t.Errorf("got receipt %q, want none", receipt)
	}
	return err
}

// The question and its outcome have one tag and one topic. So a browser shows one notification, and a browser
// that was off gets only the last message. The question is stored until its deadline, and is sent with high
// urgency.
func TestOutcomeReplacesQuestion(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	b := s.Subscribe(t, publicKey(t, c))
	limited := pending()
	limited.Deadline = now.Add(time.Hour)
	for _, a := range []askback.Ask{limited, answered()} {
		if err := send(t, c, b.Subscription(), a); err != nil {
			t.Fatalf("%v %q", err, s.Problems())
		}
	}
	got := b.Messages()
	if got[0].Topic == "" || got[0].Topic != got[1].Topic || strings.Contains(got[0].Topic, "01k9x3") {
		t.Errorf("got topics %q and %q, want a topic that does not name the ask", got[0].Topic, got[1].Topic)
	}
	if got[0].TTL != "3600" || got[0].Urgency != "high" || got[1].TTL != "2419200" || got[1].Urgency != "normal" {
		t.Errorf("got %+v", got)
	}
	for _, m := range got {
		if m.Size%512 != 0 {
			t.Errorf("got a message of %d bytes, want it padded", m.Size)
		}
	}
	shown, err := b.Shown()
	if err != nil || len(shown) != 1 || !shown[0].Settled || shown[0].Path != "/asks/"+limited.ID ||
		!strings.Contains(shown[0].Body, "ana") {
		t.Errorf("got %+v, %v; want the outcome", shown, err)
	}
	b.SetOffline(true)
	for _, a := range []askback.Ask{pending(), answered()} {
		if err := send(t, c, b.Subscription(), a); err != nil {
			t.Fatal(err)
		}
	}
	b.SetOffline(false)
	if n := len(b.Messages()) - len(got); n != 1 {
		t.Errorf("got %d messages after the browser was off, want 1", n)
	}
}

// A person whose question was reassigned gets a notice that replaces the question, and not the question
// again.
func TestReassignedQuestionIsNotShownAgain(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	b := s.Subscribe(t, publicKey(t, c))
	a := pending()
	for _, event := range []askback.EventType{askback.EventQuestionPending, askback.EventQuestionReassigned} {
		n := askback.Notification{Delivery: askback.Delivery{Event: event}, Ask: a, Address: b.Subscription()}
		if _, err := c.Send(t.Context(), n); err != nil {
			t.Fatalf("%v %q", err, s.Problems())
		}
	}
	shown, err := b.Shown()
	if err != nil || len(shown) != 1 || !shown[0].Settled ||
		!strings.Contains(shown[0].Body, "passed on to other people") {
		t.Errorf("got %+v, %v; want the notice", shown, err)
	}
}

// A message has the whole question if it fits to the last byte. Otherwise it has no part of the question.
func TestMessageHasTheWholeQuestionOrNoPartOfIt(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	b := s.Subscribe(t, publicKey(t, c))
	whole, short, largest := 0, 0, 0
	for n := 3500; n < 3990; n += 7 {
		a := pending()
		a.Questions[0].Text = strings.Repeat("é", n/4) + strings.Repeat("<", n-n/4*2)
		if err := send(t, c, b.Subscription(), a); err != nil {
			t.Fatalf("%d: %v %q", n, err, s.Problems())
		}
		shown, err := b.Shown()
		if err != nil {
			t.Fatal(err)
		}
		switch body := shown[0].Body; {
		case strings.Contains(body, a.Questions[0].Text):
			whole, largest = whole+1, n
		case strings.Contains(body, "éé") || !strings.Contains(body, "does not fit"):
			t.Errorf("%d: got %q", n, body)
		default:
			short++
		}
	}
	if whole == 0 || short == 0 || largest < 3700 {
		t.Errorf("%d were whole, up to %d bytes, and %d short", whole, largest, short)
	}
}

// The status of a reply determines whether the message is sent again. No error contains text of the push
// service.
func TestStatusOfTheReplyDeterminesTheRetry(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	gone := s.Subscribe(t, publicKey(t, c))
	gone.Unsubscribe()
	other, err := webpush.NewKey([]byte("another secret of some server..."))
	if err != nil {
		t.Fatal(err)
	}
	unknown := strings.Replace(gone.Subscription(), "/push/", "/push/x", 1)
	for _, tt := range []struct {
		name, address string
		final, gone   bool
		want          string
	}{
		{"gone", gone.Subscription(), true, true, "410"},
		{"unknown", unknown, true, true, "404"},
		{"another key", s.Subscribe(t, other.Public()).Subscription(), false, false, "403"},
	} {
		err := send(t, c, tt.address, pending())
		sending, ok := errors.AsType[*askback.SendError](err)
		if !ok || sending.Final != tt.final || sending.Gone != tt.gone || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, err, tt)
		}
		if strings.Contains(err.Error(), "text of the service") || strings.Contains(err.Error(), "/push/") {
			t.Errorf("%s: the error has text of the service or the address: %v", tt.name, err)
		}
	}
	b := s.Subscribe(t, publicKey(t, c))
	s.FailAs("too many", 0, 1)
	err = send(t, c, b.Subscription(), pending())
	if sending, ok := errors.AsType[*askback.SendError](err); !ok ||
		sending.RetryAfter != webpushtest.RetryAfter || sending.Final {
		t.Errorf("too many: got %+v", err)
	}
}

// The key depends only on the secret of the server.
func TestKeyDependsOnlyOnTheSecret(t *testing.T) {
	var keys []string
	for _, secret := range []string{
		"a secret of the tests, 32 bytes!", "a secret of the tests, 32 bytes!", "another secret of some server...",
	} {
		key, err := webpush.NewKey([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.Public())
	}
	if keys[0] != keys[1] || keys[0] == keys[2] || len(keys[0]) != 87 {
		t.Errorf("got %q", keys)
	}
	if _, err := webpush.NewKey([]byte("short")); err == nil {
		t.Error("a short secret was accepted")
	}
}

// A message goes only to a public address, over https, and follows no redirect (T16).
func TestOnlyPublicPushServicesAreReached(t *testing.T) {
	s := webpushtest.NewService(t)
	c, err := webpush.New(webpush.Options{Roots: s.Roots})
	if err != nil {
		t.Fatal(err)
	}
	start(t, c, "a secret of the tests, 32 bytes!")
	b := s.Subscribe(t, publicKey(t, c))
	if err := send(t, c, b.Subscription(), pending()); err == nil || !strings.Contains(err.Error(), "public") {
		t.Errorf("a private address: got %v", err)
	}
	if len(b.Messages())+len(s.Problems()) != 0 {
		t.Errorf("the service got %q", s.Problems())
	}
	reached := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer target.Close()
	away := httptest.NewTLSServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	s.Roots.AddCert(away.Certificate())
	s.URL = away.URL
	moved := strings.Replace(b.Subscription(), b.Endpoint, away.URL+"/push/1", 1)
	if err := send(t, newChannel(t, s), moved, pending()); err == nil ||
		!strings.Contains(err.Error(), "redirect") || reached {
		t.Errorf("a redirect: got %v, followed: %v", err, reached)
	}
}

// An address is stored only if it is a subscription with an https address and valid keys. Equal subscriptions
// have one form.
func TestOnlySubscriptionsAreValidAddresses(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	good := s.Subscribe(t, publicKey(t, c)).Subscription()
	first, err := c.CheckAddress(good)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.CheckAddress(" " + strings.Replace(good, `"expirationTime":null,`, "", 1)); err != nil ||
		again != first {
		t.Errorf("got %s, %v; want %s", again, err, first)
	}
	if again, err := c.CheckAddress(first); err != nil || again != first {
		t.Errorf("got %s, %v; want %s", again, err, first)
	}
	key := strings.Split(strings.Split(good, `"p256dh":"`)[1], `"`)[0]
	auth := strings.Split(strings.Split(good, `"auth":"`)[1], `"`)[0]
	for name, bad := range map[string]string{
		"text": "https://push.example.com", "empty": "{}", "http": strings.Replace(good, "https:", "http:", 1),
		"user":         strings.Replace(good, "https://", "https://a:b@", 1),
		"no point":     strings.Replace(good, key, strings.Repeat("A", 87), 1),
		"compressed":   strings.Replace(good, key, "A"+key[1:44], 1),
		"short secret": strings.Replace(good, auth, auth[:20], 1),
		"no base64":    strings.Replace(good, auth, "ä", 1),
	} {
		_, err := c.CheckAddress(bad)
		if p, ok := errors.AsType[askback.Invalid](err); !ok || p[0].Pointer != "/address" {
			t.Errorf("%s: got %v, want it to be invalid", name, err)
		}
		if err := send(t, c, bad, pending()); err == nil {
			t.Errorf("%s: it was sent", name)
		}
	}
}

// Only subjects that push services accept are valid.
func TestSubjectsAreChecked(t *testing.T) {
	for subject, want := range map[string]bool{
		"mailto:ops@example.com": true, "https://ask.example.com": true, "ops@example.com": false,
		"http://ask.example.com": false, "mailto:": false, "mailto:Ana <ana@example.com>": false,
		"https://": false, "https://a:b@example.com": false,
	} {
		if got := webpush.SubjectProblem(subject) == ""; got != want {
			t.Errorf("%q: got %v, want %v", subject, got, want)
		}
		if _, err := webpush.New(webpush.Options{Subject: subject}); (err == nil) != want {
			t.Errorf("%q: got %v", subject, err)
		}
	}
}

// An attempt ends with its context.
func TestSendEndsWithItsContext(t *testing.T) {
	s := webpushtest.NewService(t)
	c := newChannel(t, s)
	b := s.Subscribe(t, publicKey(t, c))
	s.FailAs("slow", 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Send(ctx, askback.Notification{Ask: pending(), Address: b.Subscription()}); err == nil {
		t.Error("got no error")
	}
}

// A keeper returns errors until it has a secret.
type keeper struct{ failures int }

func (k *keeper) ChannelSecret(context.Context, string) ([]byte, error) {
	if k.failures--; k.failures >= 0 {
		return nil, errors.New("the database is busy")
	}
	return []byte("a secret of the tests, 32 bytes!"), nil
}

// Nothing is sent before the key of the server is known. Then messages are sent, even if the store failed at
// first.
func TestMessagesWaitForTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := webpush.New(webpush.Options{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := c.PublicKey(t.Context()); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("got error %v after %v, want one after 5 s", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx, &keeper{failures: 2})
		if key, err := c.PublicKey(t.Context()); err != nil || len(key) != 87 || time.Since(began) != 8*time.Second {
			t.Errorf("got %q, %v after %v, want a key after 3 s more", key, err, time.Since(began)-5*time.Second)
		}
		cancel()
	})
}
