package conformance

import (
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

var snoozing = []testCase{
	{"SnoozedAskIsHiddenFromOnePerson", snoozeHides},
	{"SnoozeIsVisibleToItsPersonOnly", snoozeIsPrivate},
	{"SettledAskCannotBeSnoozed", snoozeOfSettledAsk},
	{"WrongSnoozesAreRejected", snoozeIsChecked},
	{"SnoozedAsksHavePages", snoozePages},
}

// tomorrow is a time in the future for every subject, whose clock may differ.
func tomorrow() time.Time { return time.Now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond) }

// wantList requires the items and the snoozes of a list.
func (f fixture) wantList(
	what string, client askback.Asks, snoozed *bool, items []askback.Ask, marks ...askback.Snooze,
) {
	f.Helper()
	page, err := client.List(f.ctx(), askback.Query{Snoozed: snoozed})
	if err != nil {
		f.Fatal(err)
	}
	f.wantIDs(what, page.Items, items)
	if !slices.Equal(page.Snoozes, marks) {
		f.Errorf("%s: got snoozes %v, want %v", what, page.Snoozes, marks)
	}
}

func (f fixture) snooze(client askback.Snoozer, id string, until time.Time) askback.Snooze {
	f.Helper()
	s, err := client.Snooze(f.ctx(), id, until)
	if want := (askback.Snooze{AskID: id, Until: until}); err != nil || s != want {
		f.Fatalf("got %v, %v, want %v", s, err, want)
	}
	return s
}

func snoozeHides(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	a, b := f.ask(agent, database()), f.ask(agent, confirmation())
	s := f.snooze(ana, a.ID, tomorrow())
	f.wantList("all", ana, nil, []askback.Ask{a, b}, s)
	f.wantList("hidden", ana, new(false), []askback.Ask{b})
	f.wantList("only", ana, new(true), []askback.Ask{a}, s)
	f.wantList("ben", ben, new(false), []askback.Ask{a, b})
	f.wantList("ben, only", ben, new(true), nil)
	f.wantPending(a) // the ask itself is unchanged
	s = f.snooze(ana, a.ID, s.Until.Add(time.Hour))
	if got, err := ana.Snoozed(f.ctx(), a.ID); err != nil || got != s {
		f.Errorf("got %v, %v, want %v", got, err, s)
	}
	page, err := ana.List(f.ctx(), askback.Query{Snoozed: new(true), Agent: "unknown"})
	if err != nil || len(page.Items) != 0 {
		f.Errorf("another agent: got %s, %v, want no asks", text(page), err)
	}
	for range 2 {
		if err := ana.Unsnooze(f.ctx(), a.ID); err != nil {
			f.Errorf("unsnooze: %v", err)
		}
		f.wantList("unsnoozed", ana, new(false), []askback.Ask{a, b})
		f.wantList("unsnoozed, all", ana, nil, []askback.Ask{a, b})
	}
	f.snooze(ana, a.ID, tomorrow())
	f.noError(ben.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.wantList("settled", ana, new(true), nil)
	if got, err := ana.Snoozed(f.ctx(), a.ID); err != nil || !got.Until.IsZero() {
		f.Errorf("settled: got %v, %v, want no snooze", got, err)
	}
	page, err = ana.List(f.ctx(), askback.Query{Status: askback.AnyStatus, Snoozed: new(false)})
	if err != nil || len(page.Items) != 2 || page.Snoozes != nil {
		f.Errorf("all statuses: got %s, %v, want both asks without a snooze", text(page), err)
	}
}

func snoozeIsPrivate(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	q := database()
	q.To = []string{"ana"}
	hers, open := f.ask(agent, q), f.ask(agent, database())
	f.snooze(ana, hers.ID, tomorrow())
	f.snooze(ana, open.ID, tomorrow())
	f.wantList("agent", agent, nil, []askback.Ask{hers, open})
	f.wantList("agent, hidden", agent, new(false), []askback.Ask{hers, open})
	f.wantList("agent, only", agent, new(true), nil)
	_, err := agent.Snooze(f.ctx(), open.ID, tomorrow())
	f.wantError(err, askback.ErrForbidden)
	_, err = agent.Snoozed(f.ctx(), open.ID)
	f.wantError(err, askback.ErrForbidden)
	f.wantError(agent.Unsnooze(f.ctx(), open.ID), askback.ErrForbidden)
	_, err = ben.Snooze(f.ctx(), hers.ID, tomorrow())
	f.wantError(err, askback.ErrNotFound)
	_, err = ben.Snoozed(f.ctx(), hers.ID)
	f.wantError(err, askback.ErrNotFound)
	f.wantError(ben.Unsnooze(f.ctx(), hers.ID), askback.ErrNotFound)
	if got, err := ben.Snoozed(f.ctx(), open.ID); err != nil || !got.Until.IsZero() {
		f.Errorf("ben: got %v, %v, want no snooze", got, err)
	}
	f.wantList("ben", ben, nil, []askback.Ask{open})
}

func snoozeOfSettledAsk(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.ask(agent, database())
	f.noError(ana.Decline(f.ctx(), a.ID, ""))
	_, err := ana.Snooze(f.ctx(), a.ID, tomorrow())
	f.wantError(err, askback.ErrSettled)
	if err := ana.Unsnooze(f.ctx(), a.ID); err != nil {
		f.Errorf("unsnooze: got error %v, want none", err)
	}
}

func snoozeIsChecked(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.ask(agent, database())
	for _, until := range []time.Time{
		time.Now().Add(-48 * time.Hour), time.Now().Add(limits.MaxSnooze + 48*time.Hour),
	} {
		_, err := ana.Snooze(f.ctx(), a.ID, until)
		f.wantInvalid(err, "/until")
	}
	_, err := ana.Snooze(f.ctx(), "ask_unknown", tomorrow())
	f.wantError(err, askback.ErrNotFound)
	for _, q := range []askback.Query{{Status: askback.Answered}, {Status: askback.AnyStatus}, {Unacked: true}} {
		q.Snoozed = new(true)
		_, err := ana.List(f.ctx(), q)
		f.wantInvalid(err, "/snoozed")
	}
}

func snoozePages(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	all := f.askSeveral(agent, 9)
	for _, a := range all[2:7] {
		f.snooze(ana, a.ID, tomorrow())
	}
	f.wantIDs("snoozed", f.list(ana, askback.Query{Snoozed: new(true), Limit: 2}, nothing), all[2:7])
	f.wantIDs("others", f.list(ana, askback.Query{Snoozed: new(false), Limit: 2}, nothing),
		append(slices.Clone(all[:2]), all[7:]...))
	f.wantIDs("all", f.list(ana, askback.Query{Limit: 2}, nothing), all)
}
