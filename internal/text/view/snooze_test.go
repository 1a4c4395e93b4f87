package view_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/askback/askback/internal/text/view"
)

// berlin returns a zone with summer time, which changes on 29 March and 25 October 2026.
func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// ParseSnooze returns the next time, in the zone of the person, that matches the typed text (E6).
func TestParseSnoozeReturnsTheNextSuchTime(t *testing.T) {
	zone := berlin(t)
	now := time.Date(2026, 3, 28, 14, 30, 20, 0, zone) // a Saturday; summer time begins at night
	const layout = "2006-01-02T15:04:05Z07:00"
	for typed, want := range map[string]string{
		"1h":                   "2026-03-28T15:30:20+01:00",
		"90m":                  "2026-03-28T16:00:20+01:00",
		"7d":                   "2026-04-04T15:30:20+02:00", // 7 times 24 hours
		"18:00":                "2026-03-28T18:00:00+01:00",
		"9:00":                 "2026-03-29T09:00:00+02:00",
		"14:30":                "2026-03-29T14:30:00+02:00",
		"Evening":              "2026-03-28T18:00:00+01:00",
		"tomorrow":             "2026-03-29T09:00:00+02:00",
		"monday":               "2026-03-30T09:00:00+02:00",
		"sat":                  "2026-04-04T09:00:00+02:00",
		"2026-11-24T09:00":     "2026-11-24T09:00:00+01:00",
		"2026-11-24 09:00":     "2026-11-24T09:00:00+01:00",
		"2026-11-24":           "2026-11-24T09:00:00+01:00",
		"2026-11-24T09:00:00Z": "2026-11-24T09:00:00Z",
	} {
		got, err := view.ParseSnooze(typed, now, zone)
		if err != nil || got.Format(layout) != want {
			t.Errorf("%q: got %s, %v, want %s", typed, got.Format(layout), err, want)
		}
	}
	for _, typed := range []string{"", "soon", "0m", "-1h", "25:00", "2026-13-01", "1"} {
		if got, err := view.ParseSnooze(typed, now, zone); err == nil {
			t.Errorf("%q: got %v, want an error", typed, got)
		} else if want := strconv.Quote(typed) + " is not a time; write 1h, "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got error %q, want it to begin with %q", typed, err, want)
		}
	}
}

// The offered times are in the future, differ from each other, and equal the results of ParseSnooze.
func TestSnoozeTimesAreInTheFuture(t *testing.T) {
	zone := berlin(t)
	for hour := range 24 * 8 {
		now := time.Date(2026, 10, 19, hour, 10, 0, 0, zone)
		seen := map[int64]bool{}
		for _, c := range view.SnoozeTimes(now, zone) {
			got, err := view.ParseSnooze(c.Name, now, zone)
			if err != nil || !got.Equal(c.At) || !got.After(now) || seen[got.Unix()] {
				t.Errorf("at %v: %s is %v, and ParseSnooze returns %v, %v", now, c.Words, c.At, got, err)
			}
			seen[got.Unix()] = true
		}
	}
	if got := len(view.SnoozeTimes(time.Date(2026, 10, 19, 17, 30, 0, 0, zone), zone)); got != 3 {
		t.Errorf("got %d times before the evening, want 3, without this evening", got)
	}
	if got := len(view.SnoozeTimes(time.Date(2026, 10, 25, 12, 0, 0, 0, zone), zone)); got != 3 {
		t.Errorf("got %d times on a Sunday, want 3, because tomorrow is Monday", got)
	}
}

func TestEndOfSnoozeIsFormatted(t *testing.T) {
	zone := berlin(t)
	now := time.Date(2026, 11, 22, 23, 30, 0, 0, zone) // a Sunday
	for until, want := range map[string]string{
		"2026-11-22T09:00": "09:00",
		"2026-11-22T23:59": "23:59",
		"2026-11-23T09:00": "tomorrow 09:00",
		"2026-11-21T09:00": "yesterday 09:00",
		"2026-11-28T09:00": "Saturday 09:00",
		"2026-11-29T09:00": "29 November, 09:00",
		"2026-11-20T09:00": "20 November, 09:00",
		"2027-01-02T09:00": "2 January 2027, 09:00",
	} {
		at, err := time.ParseInLocation("2006-01-02T15:04", until, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := view.FormatSnooze(at.UTC(), now.UTC(), zone); got != want {
			t.Errorf("%s: got %q, want %q", until, got, want)
		}
	}
}
