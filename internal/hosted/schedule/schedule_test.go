package schedule_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/hosted/schedule"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parse(t *testing.T, text, zoneName string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text, zone(t, zoneName))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next returns the first n times of a schedule after a time, in RFC 3339 and separated by spaces.
func next(t *testing.T, s schedule.Schedule, after string, n int) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range n {
		at = s.Next(at)
		all = append(all, at.Format(time.RFC3339))
	}
	return strings.Join(all, " ")
}

func TestNextReturnsFirstTimeOfSchedule(t *testing.T) {
	for _, c := range []struct{ text, zone, after, want string }{
		{"0 7 * * 1-5", "Europe/Berlin", "2026-11-20T05:59:59Z", "2026-11-20T07:00:00+01:00 2026-11-23T07:00:00+01:00"},
		{"0 7 * * mon-FRI", "UTC", "2026-11-20T07:00:00Z", "2026-11-23T07:00:00Z 2026-11-24T07:00:00Z"},
		{"*/20 9-10 * * *", "UTC", "2026-11-20T09:50:00.5Z", "2026-11-20T10:00:00Z 2026-11-20T10:20:00Z"},
		{"5,35 0 1 jan,jul *", "UTC", "2026-11-20T00:00:00Z", "2027-01-01T00:05:00Z 2027-01-01T00:35:00Z"},
		// if both days are limited, a day that matches either field is enough
		{"0 0 13 * fri", "UTC", "2026-11-10T00:00:00Z", "2026-11-13T00:00:00Z 2026-11-20T00:00:00Z"},
		{"0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z"},
		{
			" 0  0 31 * * ", "Asia/Kathmandu", "2026-11-01T00:00:00Z",
			"2026-12-31T00:00:00+05:45 2027-01-31T00:00:00+05:45",
		},
	} {
		n := len(strings.Fields(c.want))
		if got := next(t, parse(t, c.text, c.zone), c.after, n); got != c.want {
			t.Errorf("%s in %s after %s: got %s, want %s", c.text, c.zone, c.after, got, c.want)
		}
	}
}

// In Berlin, clocks are put forward on 2027-03-28 from 2:00 to 3:00, and back on 2026-10-25 from 3:00 to
// 2:00. In Santiago, clocks are put forward at midnight. On Lord Howe Island, they are put forward by half an
// hour.
func TestClockChangesNeitherSkipNorRepeatARun(t *testing.T) {
	for _, c := range []struct{ text, zone, after, want string }{
		{
			"30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z",
			"2027-03-27T02:30:00+01:00 2027-03-28T03:00:00+02:00 2027-03-29T02:30:00+02:00",
		},
		{
			"*/10 2 * * *", "Europe/Berlin", "2027-03-27T01:45:00Z",
			"2027-03-27T02:50:00+01:00 2027-03-28T03:00:00+02:00 2027-03-29T02:00:00+02:00",
		},
		{
			"30 2,3 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z",
			"2027-03-28T03:00:00+02:00 2027-03-28T03:30:00+02:00",
		},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		// the clock shows 2:10 for the second time
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T02:30:00+01:00"},
		{"0 3 * * *", "Europe/Berlin", "2026-10-25T00:59:59Z", "2026-10-25T03:00:00+01:00"},
		{
			"30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
			"2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00",
		},
		{"30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T01:30:00+01:00 2027-03-28T03:30:00+02:00"},
		{
			"0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z",
			"2026-09-06T01:00:00-03:00 2026-09-07T00:00:00-03:00",
		},
		{
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z",
			"2026-10-04T02:30:00+11:00 2026-10-05T02:15:00+11:00",
		},
		// Samoa skipped 30 December 2011
		{"0 0 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2011-12-31T00:00:00+14:00 2012-12-30T00:00:00+14:00"},
	} {
		n := len(strings.Fields(c.want))
		if got := next(t, parse(t, c.text, c.zone), c.after, n); got != c.want {
			t.Errorf("%s in %s after %s: got %s, want %s", c.text, c.zone, c.after, got, c.want)
		}
	}
}

func TestInvalidScheduleIsRejected(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "0 fields",
		"0 7 * *":               "4 fields",
		"0 0 7 * * 1-5":         "6 fields",
		"@daily":                "1 fields",
		"CRON_TZ=UTC 7 * * * *": "6 fields",
		"TZ=UTC 7 * * *":        `"TZ=UTC" is no minute`,
		"60 7 * * *":            `"60" is no minute: it is * or 0 to 59`,
		"0 24 * * *":            `"24" is no hour`,
		"0 7 0 * *":             `"0" is no day of the month`,
		"0 7 * 13 *":            `"13" is no month`,
		"0 7 * * 7":             `"7" is no day of the week: it is * or 0 to 6 from Sunday`,
		"0 7 * * mo":            `"mo" is no day of the week`,
		"0 17-9 * * *":          `"17-9" is no hour`,
		"*/0 * * * *":           `"*/0" is no minute`,
		"1,,2 * * * *":          `"1,,2" is no minute`,
		", * * * *":             `"," is no minute`,
		"*-5 * * * *":           `"*-5" is no minute`,
		"? * * * *":             `"?" is no minute`,
		"0 0 30 2 *":            `"0 0 30 2 *" is on no day of any year`,
	} {
		if s, err := schedule.Parse(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, s, err, want)
		}
	}
}

func TestZeroScheduleHasNoTimes(t *testing.T) {
	var s schedule.Schedule
	if at := s.Next(time.Now()); !s.IsZero() || !at.IsZero() || s.Text() != "" {
		t.Errorf("got %v", at)
	}
	a, b := parse(t, "0 7 * * *", "UTC"), parse(t, "0  7 * * *", "UTC")
	if a.IsZero() || !a.Equal(b) || a.Equal(s) || a.Equal(parse(t, "0 7 * * *", "Europe/Berlin")) || a.Zone() != "UTC" {
		t.Error("Equal or IsZero is wrong")
	}
}

// The result of Next is compared with the function reference, which steps through a few days minute by
// minute.
func TestNextMatchesLocalClock(t *testing.T) {
	zones := []string{
		"UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata",
	}
	values := func(last int) *rapid.Generator[int] { return rapid.IntRange(0, last) }
	rapid.Check(t, func(t *rapid.T) {
		hour, minute := values(23).Draw(t, "hour"), values(59).Draw(t, "minute")
		every := rapid.Bool().Draw(t, "every hour")
		name := rapid.SampledFrom(zones).Draw(t, "zone")
		z := zone(t, name)
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0,
			time.UTC).Add(time.Duration(values(2*365*24).Draw(t, "hours")) * time.Hour).In(z)
		if _, end := begin.ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(t, "near a change") {
			begin = end.Add(
				time.Duration(rapid.IntRange(-300, 90).Draw(t, "minutes after the change")) * time.Minute,
			).In(z)
			hour %= 4
		}
		hours := "*"
		if !every {
			hours = strconv.Itoa(hour)
		}
		s, err := schedule.Parse(strconv.Itoa(minute)+" "+hours+" * * *", z)
		if err != nil {
			t.Fatal(err)
		}
		got, want := s.Next(begin), reference(begin, hour, minute, every)
		if !got.Equal(want) {
			t.Fatalf("%s in %s after %s: got %s, want %s", s.Text(), name, begin, got, want)
		}
	})
}

// reference returns the first whole minute after begin at which a clock shows the time, or at which the clock
// has just skipped the time. If the clock shows the time again, this does not count. If every is set, only
// the minute is compared, and every match counts.
func reference(begin time.Time, hour, minute int, every bool) time.Time {
	shown := map[string]bool{}
	last := clockOf(begin.Add(-4 * time.Hour))
	for t := begin.Add(-4 * time.Hour); ; t = t.Add(time.Minute) {
		now := clockOf(t)
		matches := func(c time.Time) bool { return c.Minute() == minute && (every || c.Hour() == hour) }
		hit := matches(now) && (every || !shown[now.String()])
		if !every {
			for c := last.Add(time.Minute); c.Before(now); c = c.Add(time.Minute) { // skipped
				hit = hit || matches(c)
			}
		}
		if shown[now.String()] = true; hit && t.After(begin) {
			return t
		}
		if now.After(last) {
			last = now
		}
	}
}

func clockOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}
