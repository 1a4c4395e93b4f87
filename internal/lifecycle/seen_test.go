package lifecycle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// A delivery is marked as seen once: while the ask is pending, or by the answer that settles the ask. The
// deliveries to a person are marked by that person. The deliveries to a room are marked by one of the people
// in the room (E3 to E7).
func TestDeliveryIsMarkedSeenOnlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _, err := step(lifecycle.AskState{}, anyAsked().Draw(t, "asked"))
		if err != nil {
			t.Fatal(err)
		}
		s, _, err = step(s, lifecycle.ReceiversAdded{At: nine, Receivers: []lifecycle.Receiver{
			{Channel: "telegram", Name: "ana's", Person: "ana"},
			{Channel: "telegram", Name: "ben's", Person: "ben"},
			{Channel: "slack", Name: "room"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "events") {
			at := nine.Add(time.Duration(i) * time.Minute)
			by, via := people.Draw(t, "by"), rapid.SampledFrom(
				[]askback.Channel{askback.ChannelWeb, askback.ChannelSlack, askback.ChannelTelegram},
			).Draw(t, "via")
			var in lifecycle.Input = lifecycle.Seen{By: by, Via: via, At: at}
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				in = lifecycle.Declined{By: by, Via: via, At: at}
			case 1, 2, 3:
				by, in = "", anyDeliveryEvent(s.Deliveries, at).Draw(t, "delivery event")
			}
			after, _, _ := step(s, in)
			checkSeen(t, in, by, s, after)
			s = after
		}
	})
}

// checkSeen checks the change that one step by a person has made.
func checkSeen(t *rapid.T, in lifecycle.Input, by string, before, after lifecycle.AskState) {
	t.Helper()
	for i, d := range before.Deliveries {
		at := after.Deliveries[i].SeenAt
		if at.Equal(d.SeenAt) {
			continue
		}
		if !d.SeenAt.IsZero() || before.Ask.Settled() || by == "" ||
			d.Person != by && (d.Person != "" || d.Channel == "webhook") {
			t.Errorf("%T by %q: the delivery to %q of %q was seen %v, then %v", in, by, d.Target, d.Person, d.SeenAt,
				at)
		}
	}
}
