package channeltest

import (
	"slices"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// testAttacks checks that input of a person who may not answer changes nothing, and that the log mentions the
// input (T7, T18).
func testAttacks(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	if !d.inPlace(c) {
		return
	}
	for _, how := range Attacks {
		r := c.Request
		if how == Other {
			r.To = []string{ana}
		}
		p, m := f.question(r, ana)
		if how == Replayed {
			f.testReplay(p, m)
			continue
		}
		logged := len(f.log.text())
		err := f.service.Attack(t.Context(), how, m, askback.Choose("Yes"))
		if f.without(string(how), err) {
			continue
		}
		f.keep(err)
		f.eventually("the log mentions the attack: "+string(how), func() bool { return len(f.log.text()) > logged })
		f.wantSame(string(how), askback.Ask{ID: p.ask})
		f.wantSeen(string(how), p.ask)
		if found := f.messages(ana, p.ask); len(found) != 1 || !found[0].Live {
			t.Errorf("%s: the message is %+v, want as it was", how, found)
		}
		if _, err := f.service.Answer(t.Context(), ana, m, askback.Choose("No")); err != nil {
			t.Errorf("%s: ana cannot answer any more: %v", how, err)
		}
		if got := f.settled(p.ask).Outcome; got.Actor.Name != ana || got.Answers[0].Selected[0] != "No" {
			t.Errorf("%s: got %+v, want the answer of ana", how, got)
		}
	}
}

// testReplay checks that a repeated answer to one ask changes neither that ask nor another ask.
func (f *fixture) testReplay(p *place, m Message) {
	f.Helper()
	open, _ := f.question(deploy(), ana)
	if _, err := f.service.Answer(f.Context(), ana, m, askback.Choose("No")); err != nil {
		f.Fatal(err)
	}
	before := f.settled(p.ask)
	err := f.service.Attack(f.Context(), Replayed, m, askback.Answer{})
	if f.without(string(Replayed), err) {
		return
	}
	f.keep(err)
	p.sendOutcome()
	f.wantSame("replayed", before)
	f.wantSame("another ask after the replay", askback.Ask{ID: open.ask})
	p.wantSettled("replayed", ana, p.ask)
}

// testLeft checks that the channel rejects the answer of a person who was removed from the settings.
func testLeft(t testing.TB, d Driver) {
	f := newFixture(t, d)
	c := byName("single")
	if !d.inPlace(c) {
		return
	}
	p, m := f.question(c.Request, ana)
	f.engine.Set(engine.Settings{
		People:    slices.DeleteFunc(people(), func(p askback.Person) bool { return p.Name == ana }),
		Receivers: slices.DeleteFunc(f.service.Receivers(), func(r engine.Receiver) bool { return r.Person == ana }),
	})
	logged := len(f.log.text())
	_, err := f.service.Answer(t.Context(), ana, m, c.Answers[0].Answer)
	f.keep(err)
	f.eventually("the log mentions the answer of a removed person", func() bool { return len(f.log.text()) > logged })
	f.wantSame("removed person", askback.Ask{ID: p.ask})
}
