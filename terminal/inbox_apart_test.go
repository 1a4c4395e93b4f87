package terminal_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
)

// Rows of the inbox tell sessions of one agent apart.
func TestInboxTellsSessionsApart(t *testing.T) {
	f := newInboxFixture(t)
	bot := f.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot", Channel: askback.ChannelAPI})
	var ends []string
	for _, r := range []askback.SessionRequest{{Key: "1"}, {Key: "2"}, {Key: "3", Title: "Ticket 71"}} {
		s, err := bot.Start(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		q := questionRequest("Close it?", "Yes", "No")
		q.SessionID = s.ID
		f.ask("bot", q)
		ends = append(ends, "session "+s.ID[len(s.ID)-6:])
	}
	f.open(f.ana, 120)
	f.shows(120, `Close it\?`)
	screen := f.screen(120)
	for want, count := range map[string]int{ends[0]: 1, ends[1]: 1, ends[2]: 0, "Ticket 71": 1} {
		if got := strings.Count(screen, "bot · "+want); got != count {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, count, screen)
		}
	}
}
