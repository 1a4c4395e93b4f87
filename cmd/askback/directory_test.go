package main

import (
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/store/memstore"
)

// The channels use changes to people without a restart (F12). They use the Slack id and the mail address of
// an added person until the person is removed.
func TestChannelsUsePeopleAddedOverTheAPI(t *testing.T) {
	var file config.Config
	file.Channels = map[string]channels.Settings{
		"slack": slack.Settings{BotToken: "xoxb-1", AppToken: "xapp-1", Channel: "C1", Team: "T1"},
	}
	file.People = []config.Person{{Name: "cem", Slack: "U1", Email: "cem@example.com"}}
	set := newChannelSet(file, channels.Host{})
	e := engine.New(memstore.New(), engineOptions(file, set, nil))
	admin := e.As(askback.Principal{Kind: askback.Admin, Name: "olga"})
	if _, err := admin.PutPerson(t.Context(),
		askback.PersonRequest{Name: "dana", Slack: "U2", Email: "dana@example.com"}); err != nil {
		t.Fatal(err)
	}
	known := func() (members []string) {
		for _, p := range set.people() {
			members = append(members, p.Name+" "+p.Slack+" "+p.Email)
		}
		return members
	}
	if got, want := known(), []string{"cem U1 cem@example.com", "dana U2 dana@example.com"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Set(engineSettings(config.Config{Channels: file.Channels}))
	if got, want := known(), []string{"dana U2 dana@example.com"}; !slices.Equal(got, want) {
		t.Errorf("after a change of the settings: got %q, want %q", got, want)
	}
	if _, err := admin.DeletePerson(t.Context(), "dana"); err != nil {
		t.Fatal(err)
	}
	if got := known(); len(got) > 0 {
		t.Errorf("after the removal: got %q", got)
	}
	if _, ok := set.send["slack"].(*slack.Channel); !ok {
		t.Error("there is no channel to Slack")
	}
}

// A person with a time zone and without quiet hours is not listed as quiet.
func TestPersonLineSeparatesTheZoneFromQuietHours(t *testing.T) {
	for _, c := range []struct{ quiet, zone, want string }{
		{"", "", "ana  (settings)"},
		{"", "Europe/Berlin", "ana  (settings)  time zone Europe/Berlin"},
		{"22:00-07:00", "Europe/Berlin", "ana  (settings)  quiet 22:00-07:00 Europe/Berlin"},
	} {
		p := askback.Person{Name: "ana", Source: askback.SourceSettings, Quiet: c.quiet, TimeZone: c.zone}
		if got := personLine(p); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A time in a list has its day, and its year if this is not the present year.
func TestListTimeHasItsDay(t *testing.T) {
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.Local)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{now.Add(-time.Hour), "3 Nov 08:00"},
		{now.AddDate(0, -2, 0), "3 Sep 09:00"},
		{now.AddDate(-1, 0, 0), "3 Nov 2025 09:00"},
		{now.AddDate(1, 0, 0).UTC(), "3 Nov 2027 09:00"},
	} {
		if got := listTime(c.at, now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
