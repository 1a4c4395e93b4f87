package main

import (
	"slices"
	"testing"

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
