package people_test

import (
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/people"
)

// Quiet hours include their begin and not their end. Quiet hours over midnight last until the next day. Both
// ends follow the clock of the person.
func TestQuietHoursFollowThePersonsClock(t *testing.T) {
	for _, c := range []struct{ quiet, zone, now, until string }{
		{"22:00-07:00", "Europe/Berlin", "2026-01-10T21:59:59+01:00", ""},
		{"22:00-07:00", "Europe/Berlin", "2026-01-10T22:00:00+01:00", "2026-01-11T07:00:00+01:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-01-10T23:59:59+01:00", "2026-01-11T07:00:00+01:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-01-11T00:00:00+01:00", "2026-01-11T07:00:00+01:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-01-11T03:00:00+01:00", "2026-01-11T07:00:00+01:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-01-11T06:59:59+01:00", "2026-01-11T07:00:00+01:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-01-11T07:00:00+01:00", ""},
		{"22:00-07:00", "Europe/Berlin", "2026-03-29T01:30:00+01:00", "2026-03-29T07:00:00+02:00"},
		{"22:00-07:00", "Europe/Berlin", "2026-10-25T01:30:00+02:00", "2026-10-25T07:00:00+01:00"},
		{"22:00-07:00", "America/New_York", "2026-01-11T03:00:00+01:00", ""},
		{"22:00-07:00", "America/New_York", "2026-01-11T04:00:00+01:00", "2026-01-11T13:00:00+01:00"},
		{"12:00-13:00", "Europe/Berlin", "2026-01-11T12:30:00+01:00", "2026-01-11T13:00:00+01:00"},
		{"12:00-13:00", "Europe/Berlin", "2026-01-11T00:30:00+01:00", ""},
		{"00:00-23:59", "Europe/Berlin", "2026-01-11T23:59:00+01:00", ""},
		{"", "Europe/Berlin", "2026-01-11T03:00:00+01:00", ""},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		var want time.Time
		if c.until != "" {
			if want, err = time.Parse(time.RFC3339, c.until); err != nil {
				t.Fatal(err)
			}
		}
		if got := people.QuietUntil(askback.Person{Name: "ana", TimeZone: c.zone, Quiet: c.quiet},
			now); !got.Equal(want) {
			t.Errorf("%q in %s at %s: got %v, want %v", c.quiet, c.zone, c.now, got, want)
		}
	}
}
