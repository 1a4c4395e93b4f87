package channeltest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
)

// testSettled settles an ask outside of its messages, in each possible way. It checks that the messages are
// then marked or withdrawn (F3).
func testSettled(t testing.TB, d Driver) {
	f := newFixture(t, d)
	limited := deploy()
	limited.Timeout = time.Hour
	for _, c := range []struct {
		how     string
		request askback.Request
		settle  func(id string) error
	}{
		{
			"answered", deploy(),
			func(id string) error { _, err := f.as(ben).Answer(t.Context(), id, askback.Choose("No")); return err },
		},
		{
			"declined", deploy(),
			func(id string) error { _, err := f.as(ben).Decline(t.Context(), id, "not now"); return err },
		},
		{
			"cancelled", deploy(),
			func(id string) error { _, err := f.agent.Cancel(t.Context(), id, "done without"); return err },
		},
		{"expired", limited, func(id string) error {
			f.pass(2 * time.Hour)
			if _, err := f.as(ben).Answer(t.Context(), id, askback.Choose("No")); !errors.Is(err, askback.ErrSettled) {
				return cmp.Or(err, errors.New("answered after the deadline"))
			}
			return nil
		}},
		{"a call denied", byName("call").Request, func(id string) error {
			_, err := f.as(ben).Answer(t.Context(), id, askback.Decide(askback.Deny, ""))
			return err
		}},
		{"only a link", byName("1 MB").Request, func(id string) error {
			_, err := f.as(ben).Answer(t.Context(), id, askback.Choose("Variant 1"))
			return err
		}},
	} {
		p, _ := f.question(c.request, ana)
		if err := c.settle(p.ask); err != nil {
			t.Fatalf("%s: %v", c.how, err)
		}
		p.sendOutcome()
		p.wantSettled(c.how, ana, p.ask)
		if c.how == "answered" || c.how == "declined" {
			p.wantWinner(c.how, "", ana, ben)
		}
		before := f.messages(ana, p.ask)
		p.sendOutcome() // after a crash, with the same id
		p.wantSettled(c.how+", sent again", ana, p.ask)
		if n := len(f.messages(ana, p.ask)); n > len(before)+1 || !f.driver.Appends && n != len(before) {
			t.Errorf("%s: %d messages after the outcome was sent again, %d before", c.how, n, len(before))
		}
	}
}

// wantWinner requires that the reply, or a message about the ask to the person, names the winner.
func (p *place) wantWinner(when, reply, person, winner string) {
	p.Helper()
	texts := []string{reply}
	for _, m := range p.messages(person, p.ask) {
		texts = append(texts, m.Text)
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, winner) }) {
		p.Errorf("%s: %s was not told that %s was first: %q", when, person, winner, texts)
	}
}

// testLate checks a late answer in a message whose channel does not know yet that the ask is settled. The
// answer changes nothing, and the person is told who was first.
func testLate(t testing.TB, d Driver) {
	f := newFixture(t, d)
	if len(d.InPlace) == 0 {
		return
	}
	for _, name := range []string{"single", "call"} {
		c := byName(name)
		if !d.inPlace(c) {
			continue
		}
		p, m := f.question(c.Request, ana)
		first, late := c.Answers[0].Answer, lateAnswer(c)
		if _, err := f.as(ben).Answer(t.Context(), p.ask, first); err != nil {
			t.Fatal(err)
		}
		before := f.get(p.ask)
		reply, err := f.service.Answer(t.Context(), ana, m, late)
		if err != nil {
			t.Errorf("%s: a late answer is not an error of the service: %v", name, err)
		}
		p.sendOutcome()
		f.wantSame(name, before)
		p.wantSettled(name, ana, p.ask)
		p.wantWinner(name, reply, ana, ben)
	}
}

// lateAnswer returns an answer other than the first answer of a case.
func lateAnswer(c Case) askback.Answer {
	if c.Request.Confirmation != nil {
		return askback.Decide(askback.Deny, "")
	}
	return askback.Choose("Yes")
}

// wantSame requires that an ask has the same outcome as before, or that it is still open.
func (f *fixture) wantSame(when string, before askback.Ask) {
	f.Helper()
	after := f.get(before.ID)
	switch {
	case before.Outcome == nil && after.Outcome != nil:
		f.Errorf("%s: it settled the ask: %+v", when, after.Outcome)
	case before.Outcome != nil && !before.Outcome.Same(after.Outcome):
		f.Errorf("%s: the outcome was %+v and is %+v", when, before.Outcome, after.Outcome)
	}
}

// testRace lets two people answer in their messages at the same time. One answer wins, and the other person
// is told who gave it. No message stays live.
func testRace(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	if !d.inPlace(c) {
		return
	}
	for range 8 {
		a := f.ask(c.Request)
		replies := map[string]string{}
		places := map[string]*place{}
		var mu sync.Mutex
		var group sync.WaitGroup
		begin := make(chan struct{})
		for person, answer := range map[string]askback.Answer{ana: askback.Choose("Yes"), ben: askback.Choose("No")} {
			p := f.place(a, person)
			p.send(askback.EventQuestionPending)
			m := f.message(person, a.ID)
			places[person] = p
			group.Go(func() {
				<-begin
				reply, err := f.service.Answer(t.Context(), person, m, answer)
				mu.Lock()
				defer mu.Unlock()
				replies[person] = reply
				f.keep(err)
				if err != nil {
					t.Errorf("%s: %v", person, err)
				}
			})
		}
		close(begin)
		group.Wait()
		winner := f.settled(a.ID).Outcome.Actor.Name
		for person, p := range places {
			p.sendOutcome()
			p.wantSettled("race", person, a.ID)
			p.wantWinner("race", replies[person], person, winner)
		}
	}
}

// testDeadline checks that the channel rejects an answer in a message after the deadline.
func testDeadline(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	if !d.inPlace(c) {
		return
	}
	c.Request.Timeout = time.Hour
	p, m := f.question(c.Request, ana)
	f.pass(2 * time.Hour)
	if _, err := f.service.Answer(t.Context(), ana, m, c.Answers[0].Answer); err != nil {
		t.Error(err)
	}
	if got := f.settled(p.ask); got.Status != askback.Expired {
		t.Errorf("the ask is %s by %+v, want expired", got.Status, got.Outcome)
	}
	p.sendOutcome()
	p.wantSettled("expired", ana, p.ask)
}

// testZone checks that each person reads the deadline in the own time zone, with its date and the name of the zone.
func testZone(t testing.TB, d Driver) {
	if d.Programs {
		return
	}
	f := newFixture(t, d)
	c := byName("single")
	c.Request.Timeout = time.Hour
	for _, person := range []string{ana, ben} {
		p, m := f.question(c.Request, person)
		want := f.get(p.ask).Deadline.In(zoneOf(person)).Format("2 January 2006, 15:04 MST")
		if !strings.Contains(m.Text, want) {
			t.Errorf("the message to %s lacks the deadline %q:\n%s", person, want, m.Text)
		}
	}
}

// testRestart checks that the channel takes an answer in a message that an earlier process sent.
func testRestart(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	if !d.inPlace(c) {
		return
	}
	p, m := f.question(c.Request, ana)
	f.restart()
	if _, err := f.service.Answer(t.Context(), ana, m, c.Answers[0].Answer); err != nil {
		t.Fatal(err)
	}
	if got := f.settled(p.ask).Outcome; got.Actor.Name != ana {
		t.Errorf("got %+v, want the answer of ana", got)
	}
	p.sendOutcome()
	p.wantSettled("restart", ana, p.ask)
}

// testSettledQuestion settles an ask before its question is sent. It checks that no message then asks for an
// answer.
func testSettledQuestion(t testing.TB, d Driver) {
	f := newFixture(t, d)
	p := f.place(f.ask(deploy()), ana)
	if _, err := f.as(ben).Answer(t.Context(), p.ask, askback.Choose("No")); err != nil {
		t.Fatal(err)
	}
	p.send(askback.EventQuestionPending)
	if n := len(f.live(ana, p.ask)); n > 0 {
		t.Errorf("%d messages about a settled ask are live", n)
	}
	p.sendOutcome()
	if n := len(f.live(ana, p.ask)); n > 0 {
		t.Errorf("%d messages are live after the outcome", n)
	}
}

// testUnknownEvent sends an event that only a later release knows. It checks that the channel shows the
// present state of the ask.
func testUnknownEvent(t testing.TB, d Driver) {
	f := newFixture(t, d)
	later := askback.EventType("question_of_a_later_release")
	c := byName("single")
	p, m := f.question(c.Request, ana)
	p.send(later)
	all := f.messages(ana, p.ask)
	live := f.live(ana, p.ask)
	if len(all) == 0 || d.inPlace(c) != (len(live) > 0) {
		t.Errorf("got %+v after an unknown event, before it %+v", all, m)
	}
	for _, m := range all {
		if m.Settled {
			t.Errorf("an unknown event of an open ask marked the message as settled: %+v", m)
		}
	}
	if _, err := f.as(ben).Answer(t.Context(), p.ask, askback.Choose("No")); err != nil {
		t.Fatal(err)
	}
	p.sendOutcome()
	p.wantSettled("after an unknown event", ana, p.ask)
	other := f.place(f.ask(c.Request), ana)
	other.send(later) // the event is the first that the person gets
	if all := f.messages(ana, other.ask); len(all) != 1 || lacks(all[0].Text, f.get(other.ask)) != "" {
		t.Errorf("the first message after an unknown event is %+v", all)
	}
	if _, err := f.as(ben).Answer(t.Context(), other.ask, askback.Choose("No")); err != nil {
		t.Fatal(err)
	}
	p.send(later)
	if n := len(f.live(ana, p.ask)); n > 0 {
		t.Errorf("an unknown event of a settled ask made %d messages live", n)
	}
}
