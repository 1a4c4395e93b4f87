package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// testable is embedded in a channel to implement [engine.SecretChannel].
type testable struct{}

func (testable) SendTest(context.Context, string, string, string, []string) (int, error) {
	return http.StatusOK, nil
}

// receiver is a channel that records its messages. It returns the result of reply for each attempt, or
// success if reply is nil.
type receiver struct {
	testable
	mu    sync.Mutex
	got   []askback.Delivery
	at    []time.Time
	asks  []askback.Ask
	reply func(n int) error // n is the number of the attempt, from 1
}

func (r *receiver) Send(_ context.Context, n askback.Notification) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.Address != callback {
		return "", errors.New("wrong address")
	}
	r.got, r.at, r.asks = append(r.got, n.Delivery), append(r.at, time.Now()), append(r.asks, n.Ask)
	if r.reply == nil {
		return "", nil
	}
	return "", r.reply(len(r.got))
}

// events returns the events of all attempts, in order.
func (r *receiver) events() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got {
		out = append(out, string(d.Event))
	}
	return out
}

const callback = "https://agents.example.com/calls?key=secret"

func calledBack() askback.Request {
	r := question()
	r.CallbackURL = callback
	return r
}

// newSender returns a fixture that sends to a receiver.
func newSender(t *testing.T, s engine.Store, r *receiver) *fixture {
	t.Helper()
	return newFixture(t, s, &engine.Options{Channels: map[string]engine.Channel{"webhook": r}})
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got events %q, want %q", got, want)
	}
}

// The callback receives the question without delay, and the outcome after the answer (E3).
func TestCallbackReceivesQuestionAndOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		p.engine.Link("https://ask.example.com")
		a := p.ask(calledBack())
		p.ask(question()) // without a callback
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending")
		p.answer(p.ana, a, "SQLite")
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending", "question_answered")
		if got := to.asks[1]; got.ID != a.ID || got.PageURL != "https://ask.example.com/asks/"+a.ID ||
			got.Outcome.Actor.Name != "ana" {
			t.Errorf("got ask %+v, want %s with its page and its outcome", got, a.ID)
		}
		if got := p.history(a); !slices.Equal(got,
			[]string{"question_pending", "delivery_sent", "question_answered", "delivery_sent"}) {
			t.Errorf("got history %q", got)
		}
	})
}

// A receiver that fails for three days gets all messages in order, with the same ids. Each attempt is at most
// a day after the previous attempt.
func TestReceiverThatFailsForThreeDaysGetsEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		to := &receiver{}
		to.reply = func(int) error {
			if time.Since(begun) < 72*time.Hour {
				return errors.New("no reply")
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		a := p.ask(calledBack())
		p.answer(p.ana, a, "SQLite")
		<-time.After(100 * time.Hour)
		synctest.Wait()
		got := to.events()
		if n := len(got); n < 3 || got[n-1] != "question_answered" || slices.Index(got, "question_answered") != n-1 {
			t.Fatalf("got attempts %q, want question_pending until it succeeds, and then question_answered", got)
		}
		for i, d := range to.got[:len(got)-1] {
			if d.ID != to.got[0].ID || d.Attempts != i {
				t.Errorf("attempt %d: got delivery %+v, want the delivery of the first attempt", i+1, d)
			}
			if i > 0 {
				if pause := to.at[i].Sub(to.at[i-1]); pause < 5*time.Second || pause > 27*time.Hour {
					t.Errorf("attempt %d: got a pause of %v", i+1, pause)
				}
			}
		}
		if first := to.at[1].Sub(to.at[0]); first > 11*time.Second {
			t.Errorf("got a first pause of %v, want about 5s", first)
		}
		if n := len(to.got); to.got[n-1].ID == to.got[0].ID {
			t.Errorf("two events have the same id")
		}
	})
}

// A delivery is given up after a final reply, or after ten failures. The next delivery goes on. A dead letter
// can be sent again.
func TestDeliveryIsGivenUpAfterTenFailures(t *testing.T) {
	for name, c := range map[string]struct {
		reply    error
		attempts int
		within   time.Duration
	}{
		"final":    {&askback.SendError{Err: errors.New("gone"), Final: true}, 1, time.Hour},
		"too many": {errors.New("no reply"), 10, 200 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &receiver{}
				to.reply = func(n int) error {
					if n <= c.attempts {
						return c.reply
					}
					return nil
				}
				p := newSender(t, memstore.New(), to)
				defer p.run()()
				a := p.ask(calledBack())
				p.answer(p.ana, a, "SQLite")
				<-time.After(c.within)
				synctest.Wait()
				if got := to.events(); len(got) != c.attempts+1 || got[len(got)-1] != "question_answered" {
					t.Errorf("got %q, want %d attempts and then question_answered", got, c.attempts)
				}
				dead, err := p.engine.DeadLetters(t.Context(), store.Query{})
				if err != nil || len(dead) != 1 || dead[0].ID != to.got[0].ID {
					t.Fatalf("got dead letters %+v, %v, want %s", dead, err, to.got[0].ID)
				}
				if err := p.engine.RetryDeadLetter(t.Context(), dead[0].ID); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				synctest.Wait()
				if got := to.events(); len(got) != c.attempts+2 || got[len(got)-1] != "question_pending" {
					t.Errorf("after a retry: got %q, want question_pending once more", got)
				}
			})
		})
	}
}

// A failed attempt is recorded with the text of its error: at most 500 bytes of valid UTF-8 without control
// characters.
func TestErrorTextOfChannelIsSanitized(t *testing.T) {
	for text, want := range map[string]string{
		"a\x00b\nc\x1b[2J\u0085d": "a b c [2J d",
		"not \xff UTF-8":          "not \uFFFD UTF-8",
		strings.Repeat("x", 500):  strings.Repeat("x", 500),
		strings.Repeat("ü", 300):  strings.Repeat("ü", 248) + "…",
	} {
		synctest.Test(t, func(t *testing.T) {
			to := &receiver{reply: func(int) error { return errors.New(text) }}
			p := newSender(t, memstore.New(), to)
			defer p.run()()
			a := p.ask(calledBack())
			<-time.After(time.Second)
			synctest.Wait()
			page, err := p.agent.Deliveries(t.Context(), askback.DeliveryQuery{AskID: a.ID})
			if err != nil || len(page.Items) != 1 || page.Items[0].Error != want || page.Items[0].Attempts != 1 {
				t.Errorf("%.20q: got %+v, %v, want the error %q", text, page, err, want)
			}
			effects, err := p.store.Effects(t.Context(), store.Query{Kind: "send"})
			if err != nil || len(effects) != 1 || effects[0].Error != want {
				t.Errorf("%.20q: got the effects %+v, %v", text, effects, err)
			}
		})
	}
}

// A receiver can make the pause until the next attempt longer, up to a day.
func TestRetryAfterIsHonored(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Second: 5 * time.Second, time.Hour: time.Hour, 1000 * time.Hour: 24 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			to := &receiver{}
			to.reply = func(n int) error {
				if n == 1 {
					return &askback.SendError{Err: errors.New("busy"), RetryAfter: asked}
				}
				return nil
			}
			p := newSender(t, memstore.New(), to)
			defer p.run()()
			p.ask(calledBack())
			<-time.After(48 * time.Hour)
			synctest.Wait()
			if len(to.at) != 2 {
				t.Fatalf("got %d attempts, want 2", len(to.at))
			}
			if pause := to.at[1].Sub(to.at[0]); pause < want || pause > want+want/10+store.HeartbeatInterval {
				t.Errorf("Retry-After of %v: got a pause of %v, want %v", asked, pause, want)
			}
		})
	}
}

// Without the channel, a callback is rejected and not ignored.
func TestCallbackWithoutChannelIsRejected(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	var invalid askback.Invalid
	_, err := p.agent.Ask(t.Context(), calledBack())
	if !errors.As(err, &invalid) || invalid[0].Pointer != "/callback_url" {
		t.Errorf("got %v, want an error at /callback_url", err)
	}
}

// The callback of the settings receives the events of asks that name no callback. A repeated request must
// name the same callback.
func TestRepeatedRequestWithOtherCallbackIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"webhook": to}, Settings: engine.Settings{CallbackURL: callback},
		})
		defer p.run()()
		r := question()
		r.Key = "k"
		first := p.ask(r)
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending")
		p.engine.Set(engine.Settings{})
		if again := p.ask(r); again.ID != first.ID {
			t.Errorf("after a change of the settings: got another ask %s, want %s", again.ID, first.ID)
		}
		r.CallbackURL = callback
		if _, err := p.agent.Ask(t.Context(), r); !errors.Is(err, askback.ErrKeyReused) {
			t.Errorf("another callback with the same key: got %v, want ErrKeyReused", err)
		}
	})
}

// startCalling starts a session with a callback.
func (p *fixture) startCalling(address string) askback.Session {
	p.Helper()
	s, err := p.agent.Start(context.Background(), askback.SessionRequest{Key: "run", CallbackURL: address})
	if err != nil {
		p.Fatal(err)
	}
	return s
}

func (p *fixture) send(who askback.Client, session string, cmd askback.Command) {
	p.Helper()
	if _, err := who.Send(context.Background(), session, cmd); err != nil {
		p.Fatal(err)
	}
}

// The callback of a session receives the events of its asks, and the end of the session (E3).
func TestCallbackOfSessionReceivesItsAsksAndItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		p.engine.Link("https://ask.example.com")
		s := p.startCalling(callback)
		r := question()
		r.SessionKey = "run"
		a := p.ask(r)
		synctest.Wait()
		p.answer(p.ana, a, "SQLite")
		synctest.Wait()
		r.SessionKey, r.SessionID = "", s.ID
		p.ask(r)
		synctest.Wait()
		p.send(p.agent, s.ID, askback.Complete{Status: askback.SessionFailed, Error: "out of paper"})
		synctest.Wait()
		got := to.events()
		slices.Sort(got) // the end of the session and the end of its ask are two deliveries
		wantEvents(t, got, "question_answered", "question_cancelled", "question_pending", "question_pending",
			"session_failed")
		for i, d := range to.got {
			if want := "https://ask.example.com/sessions/" + s.ID; d.AskID == "" && to.asks[i].PageURL != want {
				t.Errorf("got page %q, want %s", to.asks[i].PageURL, want)
			}
			if d.SessionID != s.ID || (d.AskID == "") != (d.Event == "session_failed") ||
				(d.Session != nil) != (d.AskID == "") {
				t.Errorf("got delivery %+v, want it about the session or its ask", d)
			}
			if d.Session != nil && (d.Session.Error != "out of paper" || d.Session.Status != askback.SessionFailed) {
				t.Errorf("got session %+v, want it as it ended", d.Session)
			}
		}
	})
}

// The messages about an ask go to its own callback. Without a callback of its own, they go to the callback of
// its session, or else to the callback of the settings.
func TestCallbackOfAskPrecedesSessionAndSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		addresses := make(map[string][]string)
		p := newFixture(t, memstore.New(), &engine.Options{
			Channels: map[string]engine.Channel{"webhook": addressFunc(func(d askback.Delivery, address string) {
				addresses[address] = append(addresses[address], string(d.Event))
			})},
			Settings: engine.Settings{CallbackURL: "https://settings.example.com"},
		})
		defer p.run()()
		send := func(change func(*askback.Request)) {
			r := question()
			change(&r)
			p.ask(r)
			synctest.Wait()
		}
		s := p.startCalling("https://session.example.com")
		send(func(r *askback.Request) { r.SessionID, r.CallbackURL = s.ID, "https://ask.example.com" })
		send(func(r *askback.Request) { r.SessionID = s.ID })
		send(func(r *askback.Request) { r.SessionKey = "run" })
		send(func(r *askback.Request) { r.SessionKey = "another" })
		send(func(*askback.Request) {})
		p.startCalling("https://moved.example.com") // the same session
		send(func(r *askback.Request) { r.SessionKey = "run" })
		want := map[string][]string{
			"https://ask.example.com":      {"question_pending"},
			"https://session.example.com":  {"question_pending", "question_pending"},
			"https://settings.example.com": {"question_pending", "question_pending"},
			"https://moved.example.com":    {"question_pending"},
		}
		if diff := gocmp.Diff(want, addresses); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
		p.send(p.agent, s.ID, askback.Complete{})
		if _, err := p.agent.Start(t.Context(),
			askback.SessionRequest{Key: "run", CallbackURL: callback}); !errors.Is(err, askback.ErrEnded) {
			t.Errorf("another callback after the end: got %v, want ErrEnded", err)
		}
	})
}

// addressFunc is a channel that passes each delivery and its address to a function. No delivery fails.
type addressFunc func(d askback.Delivery, address string)

func (addressFunc) SendTest(context.Context, string, string, string, []string) (int, error) {
	return http.StatusOK, nil
}

func (f addressFunc) Send(_ context.Context, n askback.Notification) (string, error) {
	f(n.Delivery, n.Address)
	return "", nil
}

// A receiver fails for three days. It then gets the end of each turn of a session in order, each with the
// session as it was then. Deliveries that were given up are listed and can be sent again.
func TestReceiverThatFailsForThreeDaysGetsTheEndOfEachTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		to := &receiver{}
		to.reply = func(int) error {
			if time.Since(begun) < 72*time.Hour {
				return errors.New("no reply")
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		s := p.startCalling(callback)
		p.send(p.agent, s.ID, askback.EndTurn{})
		p.send(p.ana, s.ID, askback.SendMessage{Text: "go on"})
		p.send(p.agent, s.ID, askback.SetTodos{Todos: []askback.Todo{{Content: "Rhyme", Status: askback.TodoPending}}})
		p.send(p.agent, s.ID, askback.EndTurn{})
		p.send(p.agent, s.ID, askback.ResumeSession{})
		p.send(p.agent, s.ID, askback.Complete{Result: json.RawMessage(`{"poem":"a"}`)})
		<-time.After(150 * time.Hour)
		synctest.Wait()
		var ids []string
		sessions := map[string]askback.Session{}
		for _, d := range to.got {
			if !slices.Contains(ids, d.ID) {
				ids = append(ids, d.ID)
			} else if ids[len(ids)-1] != d.ID {
				t.Errorf("got %s again after a later one", d.ID)
			}
			if d.Event != askback.EventSessionCompleted {
				t.Errorf("got %s", d.Event)
			}
			sessions[d.ID] = *d.Session
		}
		if len(ids) != 3 {
			t.Fatalf("got deliveries %q, want three", ids)
		}
		for i, want := range []struct {
			phase, result string
			todos         int
		}{{"idle", "", 0}, {"idle", "", 1}, {"", `{"poem":"a"}`, 1}} {
			got := sessions[ids[i]]
			if got.Status != askback.SessionCompleted || got.Phase != want.phase || string(got.Result) != want.result ||
				len(got.Todos) != want.todos {
				t.Errorf("end %d: got session %+v, want %+v", i+1, got, want)
			}
		}
		if now, err := p.agent.Session(t.Context(), s.ID); err != nil || now.Status != askback.SessionCompleted {
			t.Errorf("got session %+v, %v", now, err)
		}
	})
}

// A receiver of several asks and sessions fails for three days. It then gets all messages about each ask and
// session in order. Each message has the same id in every attempt, and is not repeated after the receiver
// accepted it.
func TestReceiverThatFailsForThreeDaysGetsAllAsksAndSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		to := &receiver{}
		to.reply = func(int) error {
			if time.Since(begun) < 72*time.Hour {
				return &askback.SendError{Err: errors.New("the reply was 503 Service Unavailable")}
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		want := map[string][]string{} // the events of each ask and session
		for i := range 3 {
			s, err := p.agent.Start(t.Context(),
				askback.SessionRequest{Key: fmt.Sprint("run ", i), CallbackURL: callback})
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				r := question()
				r.SessionID = s.ID
				a := p.ask(r)
				<-time.After(time.Hour)
				p.answer(p.ana, a, "SQLite")
				want[a.ID] = []string{"question_pending", "question_answered"}
			}
			alone := p.ask(calledBack())
			want[alone.ID] = []string{"question_pending"}
			p.send(p.agent, s.ID, askback.EndTurn{})
			p.send(p.ana, s.ID, askback.SendMessage{Text: "go on"})
			p.send(p.agent, s.ID, askback.Complete{Status: askback.SessionFailed, Error: "out of paper"})
			want[s.ID] = []string{"session_completed", "session_failed"}
		}
		<-time.After(150 * time.Hour)
		synctest.Wait()
		got, ids, accepted := map[string][]string{}, map[string]string{}, map[string]bool{}
		for i, d := range to.got {
			subject := cmp.Or(d.AskID, d.SessionID)
			if accepted[d.ID] {
				t.Errorf("got %s of %s again after it was accepted", d.Event, subject)
			}
			if d.ID != ids[subject] { // the next message of this ask or session
				got[subject], ids[subject] = append(got[subject], string(d.Event)), d.ID
			}
			accepted[d.ID] = to.at[i].Sub(begun) >= 72*time.Hour
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("events of each ask and session; want -, got +:\n%s", diff)
		}
		for id, ok := range accepted {
			if !ok {
				t.Errorf("%s was not accepted", id)
			}
		}
	})
}

// An effect may be claimed after the commit and before the ask is cached. The cached ask, in which the
// delivery still waits, must not end the effect. The delivery is sent.
func TestDeliveryClaimedBeforeItsAskIsCachedIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		to.reply = func(n int) error {
			if n == 1 {
				return errors.New("no reply")
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			seq, err := next(ctx, c)
			if len(c.Done) > 0 && len(c.Effects) > 0 { // this commit completes the question and queues the outcome
				p.ask(calledBack()) // a new effect lets the engine claim effects now
				<-time.After(time.Second)
			}
			return seq, err
		})
		defer p.run()()
		a := p.ask(calledBack())
		p.answer(p.ana, a, "SQLite")
		<-time.After(time.Minute)
		synctest.Wait()
		var got []string
		for _, d := range to.got {
			if d.AskID == a.ID {
				got = append(got, string(d.Event))
			}
		}
		wantEvents(t, got, "question_pending", "question_pending", "question_answered")
	})
}

// An end of a session that was given up is listed, and can be sent again.
func TestGivenUpEndOfSessionCanBeSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		to.reply = func(n int) error {
			if n == 1 {
				return &askback.SendError{Err: errors.New("gone"), Final: true}
			}
			return nil
		}
		p := newSender(t, memstore.New(), to)
		defer p.run()()
		s := p.startCalling(callback)
		p.send(p.agent, s.ID, askback.Complete{})
		synctest.Wait()
		ops := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
		page, err := ops.Deliveries(t.Context(), askback.DeliveryQuery{Status: askback.DeliveryFailed})
		if err != nil || len(page.Items) != 1 || page.Items[0].SessionID != s.ID || page.Items[0].AskID != "" {
			t.Fatalf("got %+v, %v, want the end of the session", page, err)
		}
		again, err := ops.RetryDelivery(t.Context(), page.Items[0].ID)
		// the delivery may be sent by now
		if err != nil || again.Status != askback.DeliveryQueued && again.Status != askback.DeliverySent {
			t.Fatalf("got %+v, %v, want it queued or sent", again, err)
		}
		synctest.Wait()
		wantEvents(t, to.events(), "session_completed", "session_completed")
		if to.got[0].ID != to.got[1].ID {
			t.Errorf("got ids %s and %s, want the same", to.got[0].ID, to.got[1].ID)
		}
	})
}

// answer answers an ask with one question.
func (p *fixture) answer(who askback.Client, a askback.Ask, text string) {
	p.Helper()
	_, err := who.Answer(context.Background(), a.ID,
		askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{text}}}})
	if err != nil {
		p.Fatal(err)
	}
}
