package config_test

import (
	"testing"

	"github.com/askback/askback/channel/slack"
)

func TestSlackSettingsAreRead(t *testing.T) {
	got, err := load(`channels: {slack: {bot_token: xoxb-1, signing_secret: s3cret, app_token: xapp-1, channel: "#agents", team: T012AB3CD}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := slack.Settings{
		BotToken: "xoxb-1", SigningSecret: "s3cret", AppToken: "xapp-1", Channel: "#agents", Team: "T012AB3CD",
	}
	if got.Channels["slack"] != want {
		t.Errorf("got %+v, want %+v", got.Channels["slack"], want)
	}
	if _, err := load(`channels: {slack: {bot_token: xoxb-1, signing_secret: s3cret, channel: C012AB3CD, team: T012AB3CD}}`); err != nil {
		t.Errorf("without Socket Mode: %v", err)
	}
}
