package kinds_test

import (
	"slices"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
)

// In outcomes, a channel to people records its own name or push. The root package lists these names. Package
// lifecycle relies on this: an answer shows that the deliveries of its channel were seen.
func TestOutcomeRecordsTheNameOfTheChannelOrPush(t *testing.T) {
	for _, k := range kinds.All {
		switch {
		case k.Via == "" || k.Via == askback.ChannelPush:
			if slices.Contains(askback.Channels, askback.Channel(k.Name)) {
				t.Errorf("%s is a channel of answers, but records %q", k.Name, k.Via)
			}
		case k.Via != askback.Channel(k.Name) || !slices.Contains(askback.Channels, k.Via):
			t.Errorf("%s records %q, want push, or its name as a constant of the root", k.Name, k.Via)
		}
	}
}

// Each kind has a name that no other kind has, a title and a reader of settings.
func TestChannelsHaveNamesAndTitles(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds.All {
		if k.Name == "" || k.Title == "" || k.Read == nil || seen[k.Name] {
			t.Errorf("got %+v, want another name, a title and a reader of settings", k)
		}
		seen[k.Name] = true
	}
}
