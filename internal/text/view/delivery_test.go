package view_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// The sentence of a delivery shows the time at which the delivery was seen. If it was seen on another day,
// the sentence also shows the day.
func TestDeliverySentenceContainsTheTimeSeen(t *testing.T) {
	at := time.Date(2026, 11, 3, 14, 3, 0, 0, time.UTC)
	for _, c := range []struct {
		after time.Duration // time until the delivery was seen; 0 if not known
		want  string
	}{
		{0, "Telegram to ana: Asked, accepted 3 November 2026, 14:03 UTC"},
		{2 * time.Minute, "Telegram to ana: Asked, accepted 3 November 2026, 14:03 UTC, seen 14:05"},
		{
			20 * time.Hour,
			"Telegram to ana: Asked, accepted 3 November 2026, 14:03 UTC, seen 4 November 2026, 10:03 UTC",
		},
	} {
		d := askback.Delivery{
			Channel: "telegram", Target: "ctc_1", Person: "ana", Event: askback.EventQuestionPending,
			Status: askback.DeliverySent, At: at,
		}
		if c.after > 0 {
			d.SeenAt = at.Add(c.after)
		}
		if got := view.DeliveryOf(d, nil).Sentence(time.UTC).String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// People read the event of a delivery as words, not as its identifier, whatever the event is.
func TestDeliveryEventsAreShownAsWords(t *testing.T) {
	for event, want := range map[askback.EventType]string{
		askback.EventQuestionPending:    "Asked",
		askback.EventQuestionReminded:   "Reminded",
		askback.EventQuestionReassigned: "Reassigned",
		askback.EventQuestionEscalated:  "Escalated",
		askback.EventQuestionExpired:    "Expired",
		askback.EventSessionFailed:      "Session failed",
		"":                              "",
		"of_a_newer_server":             "Of a newer server",
	} {
		if got := view.DeliveryOf(askback.Delivery{Channel: "telegram", Event: event},
			nil).Event.String(); got != want {
			t.Errorf("%s: got %q, want %q", event, got, want)
		}
	}
	source, err := os.ReadFile("../../../event.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`EventType = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(all) < 30 {
		t.Fatalf("event.go has %d types of events, want all", len(all))
	}
	for _, found := range all {
		got := view.EventWords(askback.EventType(found[1]))
		if strings.Contains(got, "_") || strings.Contains(got, "uestion") && !strings.Contains(got, " ") ||
			got == "" || got[:1] != strings.ToUpper(got[:1]) {
			t.Errorf("%s: got %q, want words", found[1], got)
		}
	}
}
