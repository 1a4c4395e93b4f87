package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// admin returns the client of an admin.
func (p *fixture) admin() askback.Client {
	return p.engine.As(askback.Principal{Kind: askback.Admin, Name: "olga"})
}

func (p *fixture) putPerson(r askback.PersonRequest) askback.Person {
	p.T.Helper()
	got, err := p.admin().PutPerson(p.T.Context(), r)
	if err != nil {
		p.T.Fatal(err)
	}
	return got
}

func (p *fixture) putGroup(name string, people ...string) {
	p.T.Helper()
	if _, err := p.admin().PutGroup(p.T.Context(), name, people); err != nil {
		p.T.Fatal(err)
	}
}

func (p *fixture) putRoutes(routes ...askback.Route) askback.RouteList {
	p.T.Helper()
	before, err := p.admin().Routes(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	after, err := p.admin().PutRoutes(p.T.Context(), routes, before.Revision)
	if err != nil {
		p.T.Fatal(err)
	}
	return after
}

// reach returns the phone of a person of the API, which is the only receiver of that person.
func reach(p askback.Person) []engine.Receiver {
	return []engine.Receiver{{Channel: "post", Name: p.Name + "s-phone", Person: p.Name}}
}

// newDirectory returns a fixture with the settings of team, where each person of the API has a phone.
func newDirectory(t *testing.T, to *clockedChannel, routes ...askback.Route) *fixture {
	s := team(routes...)
	s.Reach = reach
	return newFixture(t, memstore.New(), &engine.Options{Channels: map[string]engine.Channel{"post": to}, Settings: s})
}

// People, groups and routes of the API take effect immediately: for new asks, for the receivers of their
// messages, and for escalations of open asks.
func TestDirectoryChangeTakesEffectImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		p := newDirectory(t, phones)
		defer p.run()()
		p.putPerson(askback.PersonRequest{Name: "eli"})
		p.putGroup("deployers", "eli", "stranger")
		p.putGroup("night", "dan")
		p.putRoutes(askback.Route{To: []string{"@deployers"}, Escalate: []askback.Escalation{
			{After: span(time.Hour), To: []string{"@night"}},
		}})
		a := p.ask(question())
		if len(a.Warnings) != 1 || !slices.Equal(a.People(), []string{"eli"}) {
			t.Errorf("got an ask for %v with %v", a.People(), a.Warnings)
		}
		want(t, "at first", phones.take(), "00:00 elis-phone pending")
		p.putPerson(askback.PersonRequest{Name: "fay"})
		p.putGroup("night", "fay")
		<-time.After(2 * time.Hour)
		want(t, "after an hour", phones.take(), "01:00 elis-phone reminded", "01:00 fays-phone pending")
		if _, err := must(p.engine.Person(t.Context(), "fay", askback.ChannelPush)).Answer(t.Context(), a.ID,
			askback.Choose("SQLite")); err != nil {
			t.Error(err)
		}
	})
}

// A route of the API can strengthen the requirements of the settings, but not weaken them. The routes of the
// settings are tried first.
func TestAPIRouteDoesNotWeakenSettings(t *testing.T) {
	p := newDirectory(t, &clockedChannel{}, askback.Route{
		Match: askback.Match{Agent: "deploy-*"}, To: []string{"ana", "ben", "cem"}, Quorum: 2, NoSelfApproval: true,
	})
	p.putRoutes(askback.Route{Match: askback.Match{Kind: askback.Confirm}, Quorum: 3},
		askback.Route{To: []string{"dan"}, Quorum: 1})
	r := confirm()
	r.Agent = "deploy-web"
	a := p.ask(r)
	if a.Quorum != 3 || !a.NoSelfApproval || !slices.Equal(a.To, []string{"ana", "ben", "cem"}) {
		t.Errorf("got quorum %d, no self-approval %v, to %v; want 3, true and the people of the settings", a.Quorum,
			a.NoSelfApproval, a.To)
	}
	q := question()
	q.Agent = "other"
	if a := p.ask(q); !slices.Equal(a.To, []string{"dan"}) {
		t.Errorf("got %v, want dan by the route of the API", a.To)
	}
}

// Only an admin may change people, groups and routes.
func TestOnlyAdminChangesDirectory(t *testing.T) {
	p := newDirectory(t, &clockedChannel{})
	for _, kind := range []askback.Kind{askback.Agent, askback.Responder, askback.Operator} {
		c := p.engine.As(askback.Principal{Kind: kind, Name: "ana"})
		_, person := c.PutPerson(t.Context(), askback.PersonRequest{Name: "eli"})
		_, noPerson := c.DeletePerson(t.Context(), "eli")
		_, group := c.PutGroup(t.Context(), "mine", []string{"ana"})
		_, noGroup := c.DeleteGroup(t.Context(), "mine")
		_, routes := c.PutRoutes(t.Context(), []askback.Route{{To: []string{"ana"}}}, 0)
		for _, err := range []error{person, noPerson, group, noGroup, routes} {
			if !errors.Is(err, askback.ErrForbidden) {
				t.Errorf("%s: got %v, want %v", kind, err, askback.ErrForbidden)
			}
		}
	}
	if all, err := p.admin().Routes(t.Context()); err != nil || len(all.Items) != 0 || all.Revision != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// A person who was removed can answer nothing: not through a channel, not by a sign-in, and not with a grant.
// Queued messages to the person are not sent, and other people are asked.
func TestRemovedPersonCannotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		p := newDirectory(t, phones)
		defer p.run()()
		s := team()
		s.Reach, s.Issuer = reach, issuer
		p.engine.Set(s)
		p.putPerson(askback.PersonRequest{Name: "eli", Email: "eli@example.com", TimeZone: "UTC", Quiet: "00:00-02:00"})
		p.putGroup("two", "eli", "ana")
		r := question()
		r.To = []string{"@two"}
		a := p.ask(r)
		want(t, "at first", phones.take(), "00:00 anas-phone pending")
		secret, err := p.engine.SignIn(t.Context(), issuer, "eli@example.com", askback.Browser{})
		if err != nil {
			t.Fatal(err)
		}
		known := question() // the engine looks up the recipients and caches the results for a moment
		known.To = []string{"eli", "stranger", "ana"}
		p.ask(known)
		want(t, "the second ask", phones.take(), "00:00 anas-phone pending")
		c := must(p.engine.Person(t.Context(), "eli", askback.ChannelEmail))
		root := must(p.engine.Root(t.Context(), "name:eli"))
		if _, err := c.Get(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		gone, err := p.admin().DeletePerson(t.Context(), "eli")
		if err != nil ||
			gone.Warning !=
				`this person is still named by the group "two", where the person is skipped with a warning` {
			t.Errorf("got %q, %v", gone.Warning, err)
		}
		if _, err := p.engine.Person(t.Context(), "eli", askback.ChannelEmail); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("through a channel: got %v", err)
		}
		if _, err := p.engine.Authenticate(t.Context(), secret); !errors.Is(err, askback.ErrUnauthorized) {
			t.Errorf("by a sign-in: got %v", err)
		}
		if valid, err := p.engine.RootValid(t.Context(), root, "eli", time.Now()); valid || err != nil {
			t.Errorf("a grant: got %v, %v", valid, err)
		}
		b := p.ask(r)
		if !slices.Equal(b.People(), []string{"ana"}) || len(b.Warnings) != 1 {
			t.Errorf("a new ask is for %v with the warnings %v", b.People(), b.Warnings)
		}
		<-time.After(3 * time.Hour)
		want(t, "after quiet hours", phones.take(), "00:00 anas-phone pending")
	})
}

// An admin's changes survive a restart unchanged.
func TestStoredDirectorySurvivesRestart(t *testing.T) {
	db := memstore.New()
	first := newFixture(t, db, &engine.Options{Settings: team()})
	first.putPerson(askback.PersonRequest{
		Name: "eli", Email: "eli@example.com", Slack: "U1", TimeZone: "UTC", Quiet: "01:00-02:00",
	})
	first.putGroup("deployers", "eli")
	first.putRoutes(askback.Route{
		Match: askback.Match{Tags: []string{"x"}}, To: []string{"@deployers"},
		Remind: []askback.Span{span(time.Minute)}, Join: true,
	})
	second := newFixture(t, db, &engine.Options{Settings: team()})
	r := question()
	r.Tags = []string{"x"}
	if a := second.ask(r); !slices.Equal(a.People(), []string{"eli"}) || len(a.FollowUps) != 1 {
		t.Errorf("an ask is for %v with %v", a.People(), a.FollowUps)
	}
	for what, list := range map[string]func(askback.Client) string{
		"people": func(c askback.Client) string { return fmt.Sprintf("%+v", must(c.People(t.Context()))) },
		"groups": func(c askback.Client) string { return fmt.Sprintf("%+v", must(c.Groups(t.Context()))) },
		"routes": func(c askback.Client) string { return fmt.Sprintf("%+v", must(c.Routes(t.Context()))) },
	} {
		if before, after := list(first.admin()), list(second.admin()); before != after ||
			!strings.Contains(after, "olga") {
			t.Errorf("%s: got\n%s after\n%s", what, after, before)
		}
	}
}

// must returns a value, and panics if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The settings take precedence over the API for names, e-mail addresses and ids in Slack. An entry of the API
// that the settings hide is listed with a warning and has no effect. The entry has its effect again when the
// settings no longer hide it.
func TestSettingsTakePrecedenceOverAPI(t *testing.T) {
	p := newFixture(t, memstore.New(), &engine.Options{})
	p.engine.Set(engine.Settings{Issuer: issuer})
	p.putPerson(askback.PersonRequest{Name: "eli", Email: "eli@example.com"})
	p.putPerson(askback.PersonRequest{Name: "fay", Email: "Fay@example.com", Slack: "U7"})
	p.putGroup("crew", "eli")
	p.putRoutes(askback.Route{To: []string{"@crew"}})
	p.engine.Set(engine.Settings{
		Issuer: issuer, Groups: map[string][]string{"crew": {"gus"}},
		People: []askback.Person{
			{Name: "eli", Email: "other@example.com"}, {Name: "gus", Email: "fay@example.com", Slack: "U7"},
		},
	})
	people := must(p.admin().People(t.Context()))
	type row struct{ name, email, source string }
	var got []row
	for _, one := range people {
		got = append(got, row{one.Name, one.Email, string(one.Source)})
		if hasWarning := one.Warning != ""; hasWarning != (one.Name != "gus") {
			t.Errorf("%s has the warning %q", one.Name, one.Warning)
		}
	}
	if !slices.Equal(got,
		[]row{{"eli", "other@example.com", "settings"}, {"fay", "", "api"}, {"gus", "fay@example.com", "settings"}}) {
		t.Errorf("got %v", got)
	}
	if a := p.ask(question()); !slices.Equal(a.People(), []string{"gus"}) {
		t.Errorf("an ask is for %v, want gus", a.People())
	}
	_, err := p.engine.SignIn(t.Context(), issuer, "eli@example.com", askback.Browser{})
	if !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("an address of the hidden person: got %v", err)
	}
	var invalid askback.Invalid
	if _, err := p.admin().PutPerson(t.Context(), askback.PersonRequest{Name: "eli"}); !errors.As(err, &invalid) {
		t.Errorf("a person of the settings is replaced: %v", err)
	}
	if _, err := p.admin().PutGroup(t.Context(), "crew", []string{"eli"}); !errors.As(err, &invalid) {
		t.Errorf("a group of the settings is replaced: %v", err)
	}
	if _, err := p.admin().DeletePerson(t.Context(), "gus"); !errors.As(err, &invalid) {
		t.Errorf("a person of the settings is removed: %v", err)
	}
	if _, err := p.admin().DeleteGroup(t.Context(), "crew"); err != nil {
		t.Errorf("a hidden group cannot be removed: %v", err)
	}
	p.engine.Set(engine.Settings{})
	if all := must(p.admin().Routes(t.Context())); all.Items[0].Warning == "" {
		t.Error("a route names a group that does not exist, without a warning")
	}
	if _, err := p.agent.Ask(t.Context(), question()); !errors.As(err, &invalid) {
		t.Errorf("an ask whose route names only a group that does not exist: got %v", err)
	}
	if _, err := p.admin().DeletePerson(t.Context(), "eli"); err != nil {
		t.Errorf("a person who was hidden cannot be removed: %v", err)
	}
}

// If two admins replace the routes, one admin gets ErrChanged. A repeat of the same change succeeds.
func TestConcurrentRouteChangeIsRejected(t *testing.T) {
	p := newDirectory(t, &clockedChannel{})
	routes := []askback.Route{{To: []string{"ana"}}}
	first := p.putRoutes(routes...)
	again, err := p.admin().PutRoutes(t.Context(), routes, 0)
	if err != nil || again.Revision != first.Revision {
		t.Errorf("a repeat: got revision %d, %v, want %d", again.Revision, err, first.Revision)
	}
	if _, err := p.admin().PutRoutes(t.Context(), []askback.Route{{To: []string{"ben"}}},
		0); !errors.Is(err, askback.ErrChanged) {
		t.Errorf("got %v, want %v", err, askback.ErrChanged)
	}
}

// If the settings and the API change at the same time, both changes are applied.
func TestConcurrentSettingsAndAPIChangesAreBothApplied(t *testing.T) {
	p := newDirectory(t, &clockedChannel{})
	const each = 20
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for j := range each {
				p.putPerson(askback.PersonRequest{Name: fmt.Sprintf("eli-%d-%02d", i, j)})
				p.putGroup(fmt.Sprintf("crew-%d", i), fmt.Sprintf("eli-%d-%02d", i, j), "ana")
			}
		})
		group.Go(func() {
			for j := range each {
				s := team()
				s.Reach, s.AsksPerMinute = reach, 1000+j
				p.engine.Set(s)
				r := question()
				r.To = []string{"@payments"}
				p.ask(r)
			}
		})
	}
	group.Wait()
	people, groups := must(p.admin().People(t.Context())), must(p.admin().Groups(t.Context()))
	if len(people) != 4+4*each || len(groups) != 3+4 {
		t.Errorf("got %d people and %d groups", len(people), len(groups))
	}
	for i := range 4 {
		r := question()
		r.To = []string{fmt.Sprintf("@crew-%d", i)}
		if a := p.ask(r); !slices.Equal(a.People(), []string{fmt.Sprintf("eli-%d-%02d", i, each-1), "ana"}) {
			t.Errorf("an ask is for %v", a.People())
		}
	}
}

// If the stored directory cannot be read, asks are rejected, because the directory may have a rule for
// approvals.
func TestUnreadableDirectoryRejectsAsks(t *testing.T) {
	for _, state := range []string{`{`, `{"v": 2}`} {
		db := memstore.New()
		if _, err := db.Commit(t.Context(), store.Change{Put: []store.Record{
			{
				Kind: engine.KindDirectory, ID: "directory", Fixed: []byte("{}"), State: []byte(state),
				Created: time.UnixMilli(1).UTC(), Updated: time.UnixMilli(1).UTC(),
			},
		}}); err != nil {
			t.Fatal(err)
		}
		p := newFixture(t, db, &engine.Options{Settings: team()})
		if _, err := p.agent.Ask(t.Context(), question()); err == nil {
			t.Errorf("%s: an ask is accepted", state)
		}
		if _, err := p.admin().PutGroup(t.Context(), "x", []string{"ana"}); err == nil {
			t.Errorf("%s: it is replaced", state)
		}
		if err := p.engine.ReadDirectory(t.Context()); err == nil {
			t.Errorf("%s: it is read", state)
		}
	}
}

// The numbers of people, groups and routes of the API are limited.
func TestStoredDirectoryIsLimited(t *testing.T) {
	p := newDirectory(t, &clockedChannel{})
	var invalid askback.Invalid
	for i := range limits.MaxGroups {
		p.putGroup(fmt.Sprintf("g%03d", i), "ana")
	}
	if _, err := p.admin().PutGroup(t.Context(), "more", []string{"ana"}); !errors.As(err, &invalid) {
		t.Errorf("one group more: got %v", err)
	}
	p.putGroup("g000", "ben") // replaces an existing group, so it is allowed
	if _, err := p.admin().PutRoutes(t.Context(), make([]askback.Route, limits.MaxRoutes+1), 0); !errors.As(err,
		&invalid) {
		t.Errorf("one route more: got %v", err)
	}
	if _, err := p.admin().PutGroup(t.Context(), "long",
		slices.Repeat([]string{strings.Repeat("x", 150)}, 20)); !errors.As(err, &invalid) {
		t.Errorf("long names: got %v", err)
	}
}

// A second reader of the stored directory waits for the first reader, and never gets the settings alone
// (F12).
func TestConcurrentReadersGetStoredDirectory(t *testing.T) {
	db := memstore.New()
	before := newFixture(t, db, nil)
	before.putPerson(askback.PersonRequest{Name: "dana"})
	before.putRoutes(askback.Route{To: []string{"dana"}})
	routes := make(chan askback.RouteList, 1)
	var p *fixture
	var once sync.Once
	meanwhile := func(askback.Person) []engine.Receiver { // while the settings are combined with the directory
		once.Do(func() {
			go func() {
				all, err := p.admin().Routes(t.Context())
				if err != nil {
					t.Error(err)
				}
				routes <- all
			}()
			for range 1000 { // gives the other reader time to run; it should wait
				runtime.Gosched()
			}
		})
		return nil
	}
	p = newFixture(t, db, &engine.Options{Settings: engine.Settings{Reach: meanwhile}})
	if err := p.engine.ReadDirectory(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := <-routes; len(all.Items) != 1 {
		t.Errorf("the other reader got %+v, want the route of the API", all)
	}
}
