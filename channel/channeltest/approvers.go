package channeltest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// testApprovers requires that messages about a call name its approvers (F12). If a message does not contain
// the names, a person who is not an approver cannot decide in the message, and is told the names.
func testApprovers(t testing.TB, d Driver) {
	c := byName("call")
	f := newFixture(t, d)
	f.engine.Set(engine.Settings{
		People: people(), Receivers: f.service.Receivers(),
		Routes: []askback.Route{
			{Match: askback.Match{Kind: askback.Confirm}, To: []string{ana, ben}, Approvers: []string{ben}},
		},
	})
	for _, a := range decisions[:2] {
		p := f.place(f.ask(c.Request), ben)
		p.send(askback.EventQuestionPending)
		if d.Via != "" && !p.learned("", ben) { // programs get the approvers as data
			t.Errorf("the message does not name who may decide: %+v", f.messages(ben, p.ask))
		}
		if slices.Contains(d.InPlace, c.Name+"/"+a.Name) {
			f.refuses(p.ask, a)
		}
	}
}

// refuses sends ana a message that does not name the approvers. It requires that her answer in the message
// changes nothing, and that she is told that only ben may decide.
func (f *fixture) refuses(id string, a NamedAnswer) {
	f.Helper()
	p := f.place(askback.Ask{ID: id}, ana)
	earlier := p.notification(askback.EventQuestionPending)
	earlier.Ask.Approvers = nil
	if _, err := f.channel.Send.Send(f.Context(), earlier); err != nil {
		f.Fatal(err, cause(err))
	}
	m := f.message(ana, id)
	if !m.Live || p.learned("", ben) {
		f.Fatalf("%s: got %+v, want a message that can be answered and names no approver", a.Name, m)
	}
	reply, err := f.service.Answer(f.Context(), ana, m, a.Answer)
	f.keep(err)
	f.eventually(a.Name+": ana reads who may decide: "+reply, func() bool { return p.learned(reply, ben) })
	f.wantSame(a.Name, askback.Ask{ID: id})
	if _, err := f.as(ana).Answer(f.Context(), id, a.Answer); !errors.Is(err, askback.ErrNotApprover) {
		f.Errorf("%s: got %v, want %v", a.Name, err, askback.ErrNotApprover)
	}
}

// learned reports whether the reply, or a message about the ask to the person, contains the word "only"
// before the name.
func (p *place) learned(reply, name string) bool {
	texts := []string{reply}
	for _, m := range p.messages(p.person, p.ask) {
		texts = append(texts, m.Text)
	}
	return slices.ContainsFunc(texts,
		func(s string) bool { return strings.Contains(s, "only "+name) || strings.Contains(s, "Only "+name) })
}
