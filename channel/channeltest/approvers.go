package channeltest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// testApprovers checks that a person who is not among the approvers of a call decides nothing in a
// message, although the message was sent while the person could decide, and reads who may (F12).
func testApprovers(t testing.TB, d Driver) {
	for _, a := range decisions[:2] {
		c := byName("call")
		if !slices.Contains(d.InPlace, c.Name+"/"+a.Name) {
			continue
		}
		f := newFixture(t, d)
		f.engine.Set(engine.Settings{
			People: people(), Receivers: f.service.Receivers(),
			Routes: []askback.Route{{Match: askback.Match{Kind: askback.Confirm}, To: []string{ana, ben}, Approvers: []string{ben}}},
		})
		p := f.place(f.ask(c.Request), ana)
		earlier := p.notification(askback.EventQuestionPending)
		earlier.Ask.Approvers = nil
		if _, err := f.channel.Send.Send(t.Context(), earlier); err != nil {
			t.Fatal(err, cause(err))
		}
		if !f.message(ana, p.ask).Live {
			t.Fatalf("%s: the message cannot be answered", a.Name)
		}
		logged := len(f.log.text())
		reply, err := f.service.Answer(t.Context(), ana, f.message(ana, p.ask), a.Answer)
		f.keep(err)
		f.eventually("ana reads who may decide, or the log mentions her", func() bool { return p.learned(reply, ben) || len(f.log.text()) > logged })
		f.wantSame(a.Name, askback.Ask{ID: p.ask})
		f.eventually("ana reads who may decide: "+reply, func() bool { return p.learned(reply, ben) })
		if _, err := f.as(ana).Answer(t.Context(), p.ask, a.Answer); !errors.Is(err, askback.ErrNotApprover) {
			t.Errorf("%s: got %v, want %v", a.Name, err, askback.ErrNotApprover)
		}
	}
}

// learned reports whether a person has read a name, in a reply or in a message about the ask.
func (p *place) learned(reply, name string) bool {
	texts := []string{reply}
	for _, m := range p.messages(p.person, p.ask) {
		texts = append(texts, m.Text)
	}
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "only "+name) || strings.Contains(s, "Only "+name) })
}
