package main

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/store/memstore"
)

// The channels know a person whom an admin added, and forget one who was removed, without a
// restart: the id in Slack, the address for mails, and where the person gets asks (F12).
func TestChannelsKnowPeopleOfAPI(t *testing.T) {
	var file config.Config
	file.Channels.Slack = config.Slack{BotToken: "xoxb-1", AppToken: "xapp-1", Channel: "C1", Team: "T1"}
	file.People = []config.Person{{Name: "cem", Slack: "U1", Email: "cem@example.com"}}
	set := newChannelSet(file, channelOptions{})
	e := engine.New(memstore.New(), engineOptions(file, set, nil))
	admin := e.As(askback.Principal{Kind: askback.Admin, Name: "olga"})
	if _, err := admin.PutPerson(t.Context(), askback.PersonRequest{Name: "dana", Slack: "U2", Email: "dana@example.com"}); err != nil {
		t.Fatal(err)
	}
	if name, ok := set.personInSlack("U2"); name != "dana" || !ok {
		t.Errorf("U2 is %q, %v", name, ok)
	}
	if got := addressesOf(set.settings.Load().People); got["dana"] != "dana@example.com" || got["cem"] != "cem@example.com" {
		t.Errorf("got %v", got)
	}
	e.Set(engineSettings(config.Config{Channels: file.Channels}))
	if name, ok := set.personInSlack("U2"); name != "dana" || !ok {
		t.Errorf("after a change of the settings: U2 is %q, %v", name, ok)
	}
	if name, ok := set.personInSlack("U1"); ok {
		t.Errorf("after a change of the settings: U1 is %q", name)
	}
	if _, err := admin.DeletePerson(t.Context(), "dana"); err != nil {
		t.Fatal(err)
	}
	if name, ok := set.personInSlack("U2"); ok {
		t.Errorf("after the removal: U2 is %q", name)
	}
	if _, ok := set.send["slack"].(*slack.Channel); !ok {
		t.Error("there is no channel to Slack")
	}
}
