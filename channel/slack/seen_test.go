package slack

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack/slacktest"
)

// A message in a channel is seen when a member opens its form, or presses Send without a choice. Neither
// action settles the ask. In a direct message, the actions mark only the delivery to this member.
func TestPressWithoutAChoiceMarksTheMessageSeen(t *testing.T) {
	several := choice("lint", "unit", "race")
	several.Questions[0].MultiSelect = true
	for button, r := range map[string]askback.Request{"Other": choice("PostgreSQL", "SQLite"), "Send": several} {
		f := newFixture(t, nil)
		a := f.ask(r)
		m := f.live(a)
		f.wantSeen(a)
		f.slack.Press(slacktest.Ana, m, button, nil)
		f.working.Wait()
		f.wantSeen(a, Room)
	}
	f := newFixture(t, nil)
	several.To = []string{"ana", "ben"}
	a := f.ask(several)
	f.slack.Press(slacktest.Ana, f.message(a, "D"+slacktest.Ana.ID[1:], slacktest.Message.HasElements), "Send", nil)
	f.working.Wait()
	f.wantSeen(a, slacktest.Ana.ID)
}

// wantSeen requires that only the delivery to the receiver want was seen, or no delivery if want is missing.
func (f *fixture) wantSeen(a askback.Ask, want ...string) {
	f.Helper()
	page, err := f.agent.Deliveries(f.Context(), askback.DeliveryQuery{AskID: a.ID})
	must(f, err)
	for _, d := range page.Items {
		if seen := !d.SeenAt.IsZero(); seen != (len(want) == 1 && d.Target == want[0]) {
			f.Errorf("the delivery to %s: seen: %v, want only %q", d.Target, seen, want)
		}
	}
}
