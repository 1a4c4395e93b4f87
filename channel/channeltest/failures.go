package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
)

// maxSteps is more than the number of requests that a channel makes for one message.
const maxSteps = 12

// testLostReply loses the reply to each request of an event in turn. After each loss, a new process sends the
// event again. A person must not be able to answer an old message that the channel does not know any more.
// After the outcome, no message may be live.
func testLostReply(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	for step := range maxSteps {
		p := f.place(f.ask(c.Request), ana)
		name := fmt.Sprint("reply ", step+1, " of the question is lost")
		failed := f.service.Fail(LostReply, step, 1)
		err := p.trySend(t.Context(), askback.EventQuestionPending)
		if failed() == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if step == 0 {
				t.Error("no reply was lost")
			}
			f.service.Fail(LostReply, 0, 0)
			break
		}
		if err != nil {
			f.checkRetried(name, err)
			f.restart()
			p.send(askback.EventQuestionPending)
		}
		f.checkRepeated(name, p, c)
	}
	for step := range maxSteps {
		p, _ := f.question(c.Request, ana)
		if _, err := f.as(ben).Answer(t.Context(), p.ask, askback.Choose("No")); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("reply ", step+1, " of the outcome is lost")
		failed := f.service.Fail(LostReply, step, 1)
		err := p.trySend(t.Context(), askback.EventQuestionAnswered)
		if failed() == 0 {
			f.service.Fail(LostReply, 0, 0)
			break
		}
		if err != nil {
			f.checkRetried(name, err)
			f.restart()
			p.sendOutcome()
		}
		f.wantNothingLive(name, p)
	}
}

// testUnknownQuestion checks a question whose message the channel does not know after a crash. A person who
// may have read the question must be told that the question is settled.
func testUnknownQuestion(t testing.TB, d Driver) {
	f := newFixture(t, d)
	p := f.place(f.ask(deploy()), ana)
	failed := f.service.Fail(LostReply, 0, 1)
	if err := p.trySend(t.Context(), askback.EventQuestionPending); failed() == 0 || err == nil {
		t.Errorf("%d replies were lost, and the error is %v", failed(), err)
	}
	f.restart()
	if _, err := f.as(ben).Answer(t.Context(), p.ask, askback.Choose("No")); err != nil {
		t.Fatal(err)
	}
	p.sendOutcome() // the question is not sent again
	f.wantNothingLive("a question that may have arrived", p)
}

// checkRetried requires that err is not final, so that the engine will send the message again.
func (f *fixture) checkRetried(when string, err error) {
	f.Helper()
	if sending, ok := errors.AsType[*askback.SendError](err); ok && (sending.Final || sending.Gone) {
		f.Errorf("%s: the error is final: %v", when, err)
	}
}

// checkRepeated checks a question that was sent twice. At most one of its messages may be live, and none
// after the outcome.
func (f *fixture) checkRepeated(when string, p *place, c Case) {
	f.Helper()
	live := f.live(ana, p.ask)
	if n, want := len(live), f.driver.inPlace(c); n > 1 || (n == 1) != want {
		f.Errorf("%s: %d messages are live after it was sent again, of %+v", when, n, f.messages(ana, p.ask))
	}
	if len(live) == 1 {
		if _, err := f.service.Answer(f.Context(), ana, live[0], askback.Choose("No")); err != nil {
			f.Errorf("%s: the message cannot be answered: %v", when, err)
		}
		f.settled(p.ask)
	} else if _, err := f.as(ben).Answer(f.Context(), p.ask, askback.Choose("No")); err != nil {
		f.Fatal(err)
	}
	p.sendOutcome()
	f.wantNothingLive(when, p)
}

// wantNothingLive requires that no message is live. If there are messages, at least one must show the
// outcome. A message that a crash left over need not be marked as settled.
func (f *fixture) wantNothingLive(when string, p *place) {
	f.Helper()
	all := f.messages(p.person, p.ask)
	if len(f.live(p.person, p.ask)) > 0 {
		f.Errorf("%s: a message is live after the outcome: %+v", when, all)
	}
	if len(all) > 0 && !slices.ContainsFunc(all, func(m Message) bool { return m.Settled }) {
		f.Errorf("%s: no message tells that the ask is settled: %+v", when, all)
	}
}

// testLostRecord makes the store fail after the service has accepted a message. The channel then has no
// record of the message.
func testLostRecord(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	p := f.place(f.ask(c.Request), ana)
	p.record = errors.New("the store is full")
	err := p.trySend(t.Context(), askback.EventQuestionPending)
	switch {
	case p.record != nil: // the store records nothing
		return
	case err == nil:
		t.Error("the receipt was not stored, and the channel says that it has sent the message")
	}
	if live := f.live(ana, p.ask); len(live) > 0 {
		t.Errorf("a message is live although its receipt was not stored: %+v", live)
	}
	f.restart()
	p.send(askback.EventQuestionPending)
	f.checkRepeated("the receipt was not stored", p, c)
}

// testTooMany checks that the engine waits as long as the service requests.
func testTooMany(t testing.TB, d Driver) {
	f := newFixture(t, d)
	p := f.place(f.ask(deploy()), ana)
	failed := f.service.Fail(TooMany, 0, 1)
	err := p.trySend(t.Context(), askback.EventQuestionPending)
	sending, _ := errors.AsType[*askback.SendError](err)
	switch {
	case failed() != 1:
		t.Error("the service has refused nothing")
	case err == nil:
		t.Error("the service refused the message, and the channel says that it has sent it")
	case d.RetryAfter > 0 && (sending == nil || sending.RetryAfter < d.RetryAfter):
		t.Errorf("got %#v, want at least %s until the next attempt", err, d.RetryAfter)
	}
	f.checkRetried("too many", err)
	p.send(askback.EventQuestionPending)
	f.checkRepeated("too many", p, byName("single"))
}

// testBroken checks that a failure of the service is not final, whichever request fails.
func testBroken(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	for step := range maxSteps {
		p := f.place(f.ask(c.Request), ana)
		name := fmt.Sprint("request ", step+1, " fails")
		failed := f.service.Fail(Broken, step, 1)
		err := p.trySend(t.Context(), askback.EventQuestionPending)
		if failed() == 0 {
			f.service.Fail(Broken, 0, 0)
			break
		}
		if step == 0 && err == nil {
			t.Error("the service failed, and the channel says that it has sent the message")
		}
		if err != nil {
			f.checkRetried(name, err)
			p.send(askback.EventQuestionPending)
		}
		f.checkRepeated(name, p, c)
	}
}

// testSlow checks the time limit for a service that does not reply. The channel must not wait longer than the
// engine allows.
func testSlow(t testing.TB, d Driver) {
	f := newFixture(t, d)
	p := f.place(f.ask(deploy()), ana)
	f.service.Fail(Slow, 0, 1)
	defer func() { f.service.Fail(Slow, 0, 0) }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.trySend(ctx, askback.EventQuestionPending) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("the service did not reply, and the channel says that it has sent the message")
		}
		f.checkRetried("slow", err)
	case <-time.After(f.patience()):
		t.Fatal("the channel still waits for a service that does not reply, although its time is over")
	}
}

// outage lists the times between the attempts at a delivery while a service fails for three days. The times
// are slightly longer than the pauses of the engine, which are partly random.
var outage = []time.Duration{
	time.Minute, 6 * time.Minute, 34 * time.Minute, 140 * time.Minute, 6 * time.Hour, 12 * time.Hour, 16 * time.Hour,
	23 * time.Hour,
}

// lastPause is the time from the last attempt of an outage to the successful attempt.
const lastPause = 27 * time.Hour

// testOrder makes the service fail for three days while questions are sent, and again while outcomes are
// sent. Each person gets all messages in order, and each attempt at a delivery has the same id (E3 to E7).
func testOrder(t testing.TB, d Driver) {
	f := newFixture(t, d)
	stop := f.run()
	defer func() { stop() }()
	later := func(by time.Duration) { // the engine uses timers of the real clock, so the test starts the engine again
		stop()
		f.pass(by)
		stop = f.run()
	}
	f.service.Fail(Broken, 0, 1000)
	asks := []askback.Ask{f.ask(deploy()), f.ask(deploy())}
	f.failFor(asks, askback.EventQuestionPending, later)
	asks = append(asks, f.ask(deploy()))
	for _, a := range asks {
		f.eventually("everybody has each question",
			func() bool { return len(f.messages(ana, a.ID)) == 1 && len(f.messages(ben, a.ID)) == 1 })
	}
	f.eventually("the receipts are stored", f.allSent)
	f.service.Fail(Broken, 0, 1000)
	for _, a := range asks {
		if _, err := f.as(ben).Answer(t.Context(), a.ID, askback.Choose("No")); err != nil {
			t.Fatal(err)
		}
	}
	f.failFor(asks, askback.EventQuestionAnswered, later)
	f.eventually("everything is sent", f.allSent)
	for _, a := range asks {
		f.wantSettled("after the failure", ana, a.ID)
		f.wantSettled("after the failure", ben, a.ID)
	}
	f.checkAttempts()
}

// failFor makes the service fail at each attempt for three days, and then succeed.
func (f *fixture) failFor(asks []askback.Ask, event askback.EventType, later func(time.Duration)) {
	f.Helper()
	began := f.now()
	for i, pause := range append([]time.Duration{0}, outage...) {
		later(pause)
		want := 2 * len(asks) * (i + 1)
		f.eventually(fmt.Sprint("attempt ", i+1, " at each ", event),
			func() bool { return len(f.attempted(event)) >= want })
	}
	f.service.Fail(Broken, 0, 0)
	later(lastPause)
	if took := f.now().Sub(began); took < 72*time.Hour {
		f.Errorf("the service failed for %s, want three days", took)
	}
}

// allSent reports whether no delivery is waiting or queued.
func (f *fixture) allSent() bool {
	operator := f.engine.As(askback.Principal{Kind: askback.Operator, Name: "olga"})
	page, err := operator.Deliveries(f.Context(), askback.DeliveryQuery{Limit: askback.MaxLimit})
	if err != nil {
		f.Fatal(err)
	}
	return err == nil && len(page.Items) == 0
}

// attempted returns the attempts of the engine to send notifications of this event type.
func (f *fixture) attempted(event askback.EventType) []attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.attempts), func(a attempt) bool { return a.event != event })
}

// checkAttempts checks the ids and the order of the attempts of the engine. No message may be sent twice, or
// before its question.
func (f *fixture) checkAttempts() {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	type key struct {
		ask, person string
		event       askback.EventType
	}
	ids, sent := map[key]string{}, map[key]bool{}
	for _, a := range f.attempts {
		k := key{a.ask, a.person, a.event}
		if ids[k] == "" {
			ids[k] = a.id
		}
		switch {
		case ids[k] != a.id:
			f.Errorf("%+v: an earlier attempt has the id %s", a, ids[k])
		case sent[k]:
			f.Errorf("%+v: it was sent before", a)
		case a.event.Settles() && !sent[key{a.ask, a.person, askback.EventQuestionPending}]:
			f.Errorf("%+v: before the question was sent", a)
		}
		sent[k] = !a.failed
	}
}
