package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
)

// answering is a client whose method Answer calls a function of the test.
type answering struct {
	askback.PersonClient
	answer func(ctx context.Context, id string, a askback.Answer) (askback.Ask, error)
}

func (c answering) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	return c.answer(ctx, id, a)
}

// An update is confirmed only after its answer is committed. If the answer cannot be committed, the update
// comes again, even after a restart (E10).
func TestAnswerIsCommittedBeforeItsUpdateIsConfirmed(t *testing.T) {
	b := newBot(t)
	var busy, answered atomic.Int64
	busy.Store(2)
	b.wrap = func(c askback.PersonClient) askback.PersonClient {
		return answering{c, func(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
			offsets := b.Offsets()
			if busy.Add(-1) >= 0 {
				return askback.Ask{}, askback.ErrBusy
			}
			answered.Store(slices.Max(offsets))
			return c.Answer(ctx, id, a)
		}}
	}
	a, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	data := m.Buttons[0][0].Data
	update := b.Inject("callback_query", press("77", ana, m, data))
	if got := b.outcome(a.ID); got.Answers[0].Selected[0] != "Yes" {
		t.Errorf("got %+v", got)
	}
	b.Confirmed(update)
	if n := answered.Load(); n > update {
		t.Errorf("the bot confirmed the updates before %d before it committed the answer of %d", n, update)
	}
}

// press returns the update of a button that ana presses.
func press(id string, user int64, m telegramtest.Message, data string) map[string]any {
	return map[string]any{
		"id": id, "from": map[string]any{"id": user, "is_bot": false, "first_name": "Ana"}, "chat_instance": "1",
		"data":    data,
		"message": map[string]any{"message_id": m.ID, "date": 1, "chat": map[string]any{"id": user, "type": "private"}},
	}
}

// An update that comes again after a crash before its confirmation has no second effect.
func TestRepeatedUpdateHasOneEffect(t *testing.T) {
	b := newBot(t)
	crash := make(chan struct{})
	var once sync.Once
	b.wrap = func(c askback.PersonClient) askback.PersonClient {
		return answering{c, func(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
			after, err := c.Answer(ctx, id, a)
			once.Do(func() { close(crash); <-ctx.Done() }) // the answer is committed, and the process ends
			return after, err
		}}
	}
	checks := question("Which checks?", "lint", "unit")
	checks.MultiSelect = true
	a, m := b.ask(questions(checks))
	b.press(ana, ana, m.ID, "lint")
	mark := b.Message(ana, m.ID).Buttons[1][0].Data
	for _, id := range []string{"1", "2"} { // the same press twice
		b.Confirmed(b.Inject("callback_query", press(id, ana, m, mark)))
	}
	if got := b.Message(ana, m.ID).Text; !strings.Contains(got, "Your answer: lint, unit\n") {
		t.Errorf("after an update that came twice, the message is\n%s", got)
	}
	rows := b.Message(ana, m.ID).Buttons
	send := rows[len(rows)-1][0]
	update := b.Inject("callback_query", press("3", ana, m, send.Data))
	<-crash
	b.restart()
	b.Confirmed(update)
	if got := b.outcome(a.ID); !slices.Equal(got.Answers[0].Selected, []string{"lint", "unit"}) {
		t.Errorf("got %+v", got)
	}
	stored, err := b.agent.Get(t.Context(), a.ID)
	if err != nil || strings.Contains(b.log.String(), "failed") {
		t.Errorf("got %+v, %v; the log:\n%s", stored, err, b.log)
	}
}

// drafting is a client that calls a function before it returns a draft.
type drafting struct {
	askback.PersonClient
	before func()
}

func (c drafting) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	c.before()
	return c.PersonClient.Draft(ctx, id)
}

// If another person answers while the bot draws the buttons again, the buttons are removed (E10).
func TestButtonsDrawnAfterTheOutcomeAreRemoved(t *testing.T) {
	b := newBot(t)
	var drafts atomic.Int64
	ask := make(chan askback.Ask, 1)
	b.wrap = func(c askback.PersonClient) askback.PersonClient {
		return drafting{c, func() {
			if drafts.Add(1) != 2 { // the first call is from the press, the second from the drawing
				return
			}
			a := <-ask
			if _, err := b.engine.As(askback.Principal{Kind: askback.Responder, Name: "ben"}).Answer(t.Context(), a.ID,
				askback.Choose("lint")); err != nil {
				t.Error(err)
			}
			b.wait(ana, "Done: ") // before the buttons are drawn
		}}
	}
	checks := question("Which checks?", "lint", "unit")
	checks.MultiSelect = true
	r := questions(checks)
	r.To = []string{"ana", "ben"}
	a, m := b.ask(r)
	ask <- a
	b.press(ana, ana, m.ID, "unit")
	if got := b.Message(ana, m.ID); got.Live() || got.Edits < 3 {
		t.Errorf("the message has buttons after the outcome, or was not drawn in between: %+v", got)
	}
}

// Only one process reads the updates of a bot. The other process waits, and logs that it waits.
func TestSecondProcessBacksOff(t *testing.T) {
	b := newBot(t)
	second := newChannel(t, b.options)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { second.Run(ctx, linked{b.contacts, b.engine}) })
	defer func() { cancel(); group.Wait() }()
	waitFor(t, func() bool { return strings.Contains(b.log.String(), "another process reads the updates") })
	a, m := b.ask(questions(question("Deploy?", "Yes", "No")))
	b.press(ana, ana, m.ID, "Yes")
	if got := b.outcome(a.ID); got.Answers[0].Selected[0] != "Yes" {
		t.Errorf("got %+v", got)
	}
}

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(until) {
			t.Fatal("this did not happen in time")
		}
	}
}

// A bot with a webhook cannot be polled. The log contains the action to take.
func TestWebhookOfTheBotIsReported(t *testing.T) {
	b := newBot(t)
	b.SetWebhook()
	b.restart()
	waitFor(t, func() bool { return strings.Contains(b.log.String(), "delete it with deleteWebhook") })
}

// The token is a part of the URL, but is in no error and no log.
func TestErrorsAndLogDoNotContainTheToken(t *testing.T) {
	s := telegramtest.NewServer(t)
	s.AddUser(ana)
	o := options(t, s)
	unreachable := o
	unreachable.URL = "http://127.0.0.1:1"
	private := o
	private.Allow = nil
	wrong := o
	wrong.Token = "1234567890:" + strings.Repeat("W", 35)
	for name, o := range map[string]telegram.Options{"unreachable": unreachable, "private": private, "wrong": wrong} {
		log := &logBuffer{}
		o.Log = logger(log)
		c := newChannel(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { c.Run(ctx, linked{&contacts{}, nil}) })
		waitFor(t, func() bool { return strings.Contains(log.String(), "cannot be reached") })
		cancel()
		group.Wait()
		_, err := c.Send(t.Context(), askback.Notification{
			Ask: askback.Ask{ID: askID, Questions: []askback.Question{{ID: "q1", Text: "?"}}}, Address: "4001",
		})
		var sending *askback.SendError
		text := log.String()
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if text += err.Error(); errors.As(err, &sending) && sending.Cause != nil {
			text += sending.Cause.Error()
		}
		if sending != nil && sending.Final {
			t.Errorf("%s: the error is final, so the question is lost: %v", name, err)
		}
		if secret := strings.SplitN(o.Token, ":", 2)[1]; strings.Contains(text, secret) {
			t.Errorf("%s: the token is in %q", name, text)
		}
	}
	if _, err := telegram.New(telegram.Options{Token: "12345:short-secret"}); err == nil ||
		strings.Contains(err.Error(), "short") {
		t.Errorf("got %v", err)
	}
}

const askID = "ask_01k6m3v7q8r9s0t1v2w3x4y5z6"

// A chat gets a burst of messages, and then one message a second. A group gets twenty messages a minute. No
// message is sent before the time that Telegram requested.
func TestMessagesAreWithinTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := telegram.NewLimiter(time.Now)
		begin := time.Now()
		for range 25 {
			if err := l.Wait(t.Context(), ana); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(begin); got != 5*time.Second {
			t.Errorf("25 messages to a chat took %s, want 5s", got)
		}
		begin = time.Now()
		for range 20 {
			if err := l.Wait(t.Context(), room); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(begin); got != 30*time.Second {
			t.Errorf("20 messages to a group took %s, want 30s", got)
		}
		begin = time.Now()
		for user := range 100 {
			if err := l.Wait(t.Context(), int64(user+10_000)); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(begin); got < 2*time.Second || got > 4*time.Second {
			t.Errorf("100 messages took %s, want about 3s", got)
		}
		l.Hold(ben, 40*time.Second)
		var sending *askback.SendError
		if err := l.Wait(t.Context(), ben); !errors.As(err, &sending) || sending.RetryAfter < 40*time.Second {
			t.Errorf("got %v, want an error with the time", err)
		}
	})
}

// Many concurrent asks stay within the limits that Telegram enforces.
func TestBurstOfAsksIsNotRejected(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds of the real clock")
	}
	b := newBot(t, func(o *telegram.Options) { o.Burst = 0 })
	b.Limit(20)
	for range 22 {
		if _, err := b.agent.Ask(
			t.Context(),
			askback.Request{Questions: []askback.Question{question("Deploy?", "Yes", "No")}, To: []string{"ben"}},
		); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool {
		return len(slices.DeleteFunc(b.Messages(ben), func(m telegramtest.Message) bool { return !m.Live() })) == 22
	})
	if got := b.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
}
