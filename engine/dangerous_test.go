package engine_test

import (
	"errors"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// The engine refuses the answer to a dangerous call through a message channel, even if the channel does not
// refuse the answer itself. It also refuses answers through an unknown channel. A person who has logged in
// decides the call. Later answers get ErrSettled (T32).
func TestDangerousCallRequiresLogin(t *testing.T) {
	p := newFixture(t, memstore.New(),
		&engine.Options{Settings: engine.Settings{People: []askback.Person{{Name: "ana"}, {Name: "ben"}}}})
	dangerous := func() askback.Ask {
		r := confirm()
		r.Confirmation.Dangerous = true
		return p.ask(r)
	}
	approve := askback.Answer{Decision: askback.Approve}
	answers := []askback.Answer{approve, {Decision: askback.ApproveAll}, {Decision: askback.Deny}}
	messages := []askback.Channel{
		askback.ChannelSlack, askback.ChannelEmail, askback.ChannelPush, askback.ChannelTelegram, "pigeon",
	}
	a := dangerous()
	for _, via := range messages {
		person, err := p.engine.Person(t.Context(), "ben", via)
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			if _, err := person.Answer(t.Context(), a.ID, answer); !errors.Is(err, askback.ErrForbidden) {
				t.Errorf("%s: %s gives %v, want it forbidden", via, answer.Decision, err)
			}
		}
		if _, err := person.Decline(t.Context(), a.ID, ""); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("%s: declining gives %v, want it forbidden", via, err)
		}
		if got, err := person.Get(t.Context(), a.ID); err != nil || got.Settled() {
			t.Errorf("%s: got %s, %v; want it pending", via, got.Status, err)
		}
		harmless := p.ask(confirm())
		if got, err := person.Answer(t.Context(), harmless.ID, approve); err != nil || !got.Outcome.Approved() {
			t.Errorf("%s: a call that is not dangerous gives %v", via, err)
		}
	}
	for _, via := range []askback.Channel{
		askback.ChannelWeb, askback.ChannelTerminal, askback.ChannelAPI, askback.ChannelHook, askback.ChannelMCP, "",
	} {
		person := p.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: via})
		if got, err := person.Answer(t.Context(), a.ID, approve); err != nil || !got.Outcome.Approved() {
			t.Errorf("%q: got %v, want it approved", via, err)
		}
		late, err := p.engine.Person(t.Context(), "ben", askback.ChannelSlack)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.Answer(t.Context(), a.ID, approve); !errors.Is(err, askback.ErrSettled) {
			t.Errorf("late: got %v", err)
		}
		a = dangerous()
	}
}
