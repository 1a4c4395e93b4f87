package channeltest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// testDriver checks that the driver names only cases, answers, failures and attacks that exist. Otherwise a
// spelling mistake would omit a test.
func testDriver(t testing.TB, d Driver) {
	known := map[string]bool{}
	for _, c := range Cases() {
		known[c.Name] = true
		for _, a := range c.Answers {
			known[c.Name+"/"+a.Name] = true
		}
	}
	for _, name := range slices.Concat(d.Short, d.InPlace) {
		if !known[name] {
			t.Errorf("there is no case or answer %q", name)
		}
	}
	if d.Handled != "" && !known[d.Handled] {
		t.Errorf("there is no case %q", d.Handled)
	}
	for name, reason := range d.Without {
		if !slices.Contains(Attacks, Attack(name)) &&
			!slices.Contains([]Failure{TooMany, Broken, LostReply, Slow}, Failure(name)) || reason == "" {
			t.Errorf("there is no failure or attack %q, or no reason", name)
		}
	}
	if d.Via == "" && len(d.InPlace) > 0 {
		t.Error("a channel that takes answers has a name for them")
	}
	if secrets := newFixture(t, d).service.Secrets(); len(secrets) == 0 || slices.Contains(secrets, "") {
		t.Error("the settings have no secret, or an empty one: the suite could not see that it leaks")
	}
}

// inPlace reports whether an ask can be answered in its message.
func (d Driver) inPlace(c Case) bool {
	return slices.ContainsFunc(c.Answers,
		func(a NamedAnswer) bool { return slices.Contains(d.InPlace, c.Name+"/"+a.Name) })
}

// testMatrix checks each message. A message has either the whole ask, without text that the service acts on,
// or the link, without a part of the question. Only a message that can be answered is live (F3, T7, T9, T10).
func testMatrix(t testing.TB, d Driver) {
	f := newFixture(t, d)
	for _, c := range Cases() {
		p := f.place(f.ask(c.Request), ana)
		if err := p.trySend(t.Context(), askback.EventQuestionPending); err != nil {
			t.Errorf("%s: %v %v", c.Name, err, cause(err))
			continue
		}
		found := f.messages(ana, p.ask)
		if len(found) != 1 {
			t.Errorf("%s: ana sees %d messages, want 1", c.Name, len(found))
			continue
		}
		m, a := found[0], f.get(p.ask)
		for _, text := range append([]string{m.Text}, m.Also...) {
			checkText(t, c, slices.Contains(d.Short, c.Name), text, a)
		}
		if len(m.Damage) > 0 {
			t.Errorf("%s: the service changes the text or acts on it: %q", c.Name, m.Damage)
		}
		if !strings.HasPrefix(m.Link, Pages+"/") {
			t.Errorf("%s: the message has the link %q", c.Name, m.Link)
		}
		if m.Settled {
			t.Errorf("%s: the message says that no answer is needed", c.Name)
		}
		if want := d.inPlace(c); m.Live != want {
			t.Errorf("%s: can be answered in the message: %v, want %v", c.Name, m.Live, want)
		}
	}
}

// checkText checks one form of a message about an ask.
func checkText(t testing.TB, c Case, short bool, text string, a askback.Ask) {
	missing := lacks(text, a)
	switch {
	case !short && missing != "":
		t.Errorf("%s: the message lacks %s:\n%.2000s", c.Name, missing, text)
	case short && missing == "":
		t.Errorf("%s: the message is whole, although the driver says that it is not", c.Name)
	}
	if line := spoofs(text); line != "" {
		t.Errorf("%s: the message has %q", c.Name, line)
	}
	for _, excerpt := range excerpts(a) {
		if short && strings.Contains(text, excerpt) {
			t.Errorf("%s: a message with only the link has a part of the question, %q:\n%.2000s", c.Name, excerpt, text)
			break
		}
	}
}

// testAnswers checks that each answer in a message equals the same answer on another channel after
// normalization. The outcome must name the person who gave the answer (T18).
func testAnswers(t testing.TB, d Driver) {
	f := newFixture(t, d)
	for _, c := range Cases() {
		for _, a := range c.Answers {
			if !slices.Contains(d.InPlace, c.Name+"/"+a.Name) {
				continue
			}
			p, m := f.question(c.Request, ana)
			if _, err := f.service.Answer(t.Context(), ana, m, a.Answer); err != nil {
				t.Errorf("%s/%s: %v", c.Name, a.Name, err)
				continue
			}
			got := f.settled(p.ask)
			elsewhere := f.ask(c.Request)
			want, err := f.as(ana).Answer(t.Context(), elsewhere.ID, a.Answer)
			if err != nil {
				t.Fatal(err)
			}
			if o := got.Outcome; o.Actor.Name != ana || o.Channel != d.Via {
				t.Errorf("%s/%s: answered by %q over %q, want ana over %q", c.Name, a.Name, o.Actor.Name, o.Channel,
					d.Via)
			}
			if !reflect.DeepEqual(comparable(got.Outcome), comparable(want.Outcome)) {
				t.Errorf("%s/%s: got %+v, want %+v", c.Name, a.Name, got.Outcome, want.Outcome)
			}
			p.sendOutcome()
			p.wantSettled(c.Name+"/"+a.Name, ana, p.ask)
		}
	}
}

// comparable returns the parts of an outcome that are equal for equal answers.
func comparable(o *askback.Outcome) askback.Outcome {
	return askback.Outcome{
		Status: o.Status, Answers: o.Answers, Comment: o.Comment, Decision: o.Decision, Input: o.Input,
		Digest: o.Digest, Reason: o.Reason,
	}
}

// without reports whether the driver lacks the failure or the attack what. It requires that err is
// errors.ErrUnsupported if, and only if, the driver lacks what.
func (f *fixture) without(what string, err error) bool {
	_, none := f.driver.Without[what]
	if none != errors.Is(err, errors.ErrUnsupported) {
		f.Errorf("%s: the driver does not have it: %v, but the service: %v", what, none, err)
		return true
	}
	return none
}
