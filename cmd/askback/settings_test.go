package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/server/config"
)

// Without a setting, a person gets ten messages a minute about the questions of one agent (T18).
func TestDigestsAreOnByDefault(t *testing.T) {
	for setting, want := range map[int]int{0: 10, 3: 3, -1: 0} {
		if got := engineSettings(config.Config{Limits: config.Limits{DigestAfter: setting}}).DigestAfter; got != want {
			t.Errorf("setting %d: got %d, want %d", setting, got, want)
		}
	}
}

// A channel keeps the settings that the server has started with, and the log names the changes that need a
// restart. Only the address of webhooks changes without a restart.
func TestChannelsKeepTheirSettingsUntilARestart(t *testing.T) {
	r := &reloader{initial: config.Config{Channels: map[string]channels.Settings{
		"telegram": telegram.Settings{Token: "1:x", Groups: []int64{-1}}, "slack": slack.Settings{BotToken: "xoxb-1"},
		"webhook": webhook.Settings{URL: "https://a.example.com", Secret: "one"}, "webpush": webpush.Settings{},
	}}}
	now, restart := r.channels(config.Config{Channels: map[string]channels.Settings{
		"telegram": telegram.Settings{Token: "1:x", Groups: []int64{-1, -2}},
		"email":    email.Settings{From: "ask@example.com"},
		"webhook":  webhook.Settings{URL: "https://b.example.com", Secret: "two"}, "webpush": webpush.Settings{},
	}})
	want := maps.Clone(r.initial.Channels)
	want["webhook"] = webhook.Settings{URL: "https://b.example.com", Secret: "one"}
	if diff := cmp.Diff(want, now); diff != "" {
		t.Error(diff)
	}
	slices.Sort(restart)
	if want := []string{
		"channels.email", "channels.slack", "channels.telegram", "channels.webhook",
	}; !slices.Equal(restart, want) {
		t.Errorf("got %q, want %q", restart, want)
	}
}
