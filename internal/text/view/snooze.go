package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A SnoozeTime is a time until which a person can snooze an ask.
type SnoozeTime struct {
	Name  string // text that ParseSnooze takes
	Words string // "Tomorrow, 09:00"
	At    time.Time
}

// Hours of a day, in the time zone of the person, at which a snoozed ask comes back.
const (
	snoozeMorning = 9
	snoozeEvening = 18
)

// SnoozeTimes returns the times to choose from. It omits this evening if the evening is over, or is less than
// an hour away. It omits next Monday if tomorrow is Monday. A nil zone is UTC.
func SnoozeTimes(now time.Time, zone *time.Location) []SnoozeTime {
	now = in(now, zone)
	out := []SnoozeTime{{"1h", "In an hour", now.Add(time.Hour)}}
	if evening := at(now, 0, snoozeEvening, 0); evening.Sub(now) > time.Hour {
		out = append(out, SnoozeTime{"evening", "This evening, 18:00", evening})
	}
	out = append(out, SnoozeTime{"tomorrow", "Tomorrow, 09:00", at(now, 1, snoozeMorning, 0)})
	if monday := at(now, daysUntil(now, time.Monday), snoozeMorning, 0); !monday.Equal(out[len(out)-1].At) {
		out = append(out, SnoozeTime{"monday", "Next Monday, 09:00", monday})
	}
	return out
}

// LatestSnooze returns the latest time until which an ask can be snoozed now.
func LatestSnooze(now time.Time) time.Time { return now.Add(limits.MaxSnooze) }

// ParseSnooze returns the time that a person typed. The text is a duration, a time of day, the name of a day,
// or a date with or without a time. A time of day and the name of a day mean the next such time. A day
// without a time begins at 09:00. A nil zone is UTC.
func ParseSnooze(typed string, now time.Time, zone *time.Location) (time.Time, error) {
	now = in(now, zone)
	original := typed
	typed = strings.ToLower(strings.TrimSpace(typed))
	switch typed {
	case "evening", "tonight":
		return next(now, snoozeEvening, 0), nil
	case "tomorrow":
		return at(now, 1, snoozeMorning, 0), nil
	}
	for day := range time.Weekday(7) {
		if name := strings.ToLower(day.String()); typed == name || typed == name[:3] {
			return at(now, daysUntil(now, day), snoozeMorning, 0), nil
		}
	}
	if t, err := time.Parse("15:04", typed); err == nil {
		return next(now, t.Hour(), t.Minute()), nil
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(typed)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02t15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, typed, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, typed, now.Location()); err == nil {
		return at(t, 0, snoozeMorning, 0), nil
	}
	if d, err := askback.ParseDuration(typed); err == nil && d > 0 && !isDigit(typed[len(typed)-1]) {
		return now.Add(d), nil
	}
	return time.Time{}, fmt.Errorf(
		"%q is not a time; write 1h, 18:00, evening, tomorrow, monday or 2026-11-24T09:00", original)
}

// isDigit reports whether c is a digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// in returns a time in a zone. A nil zone is UTC.
func in(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone)
}

// at returns the time of day hour:minute, days after t, in the zone of t.
func at(t time.Time, days, hour, minute int) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day+days, hour, minute, 0, 0, t.Location())
}

// next returns the next time with this hour and minute.
func next(now time.Time, hour, minute int) time.Time {
	if t := at(now, 0, hour, minute); t.After(now) {
		return t
	}
	return at(now, 1, hour, minute)
}

// daysUntil returns the number of days from now until the next day of the week day, from 1 to 7.
func daysUntil(now time.Time, day time.Weekday) int {
	return (int(day-now.Weekday())+6)%7 + 1
}

// FormatSnooze formats the end of a snooze for people. It returns "09:00" for today, "tomorrow 09:00" or
// "yesterday 09:00". Within a week it returns the day of the week and the time, and otherwise the date and
// the time. A nil zone is UTC.
func FormatSnooze(until, now time.Time, zone *time.Location) string {
	until, now = in(until, zone), in(now, zone)
	clock := until.Format("15:04")
	switch days := DaysBetween(now, until); {
	case days == 0:
		return clock
	case days == 1:
		return "tomorrow " + clock
	case days == -1:
		return "yesterday " + clock
	case days > 0 && days < 7:
		return until.Format("Monday ") + clock
	case until.Year() == now.Year():
		return until.Format("2 January, ") + clock
	}
	return until.Format("2 January 2006, ") + clock
}

// DaysBetween returns the number of days from the day of a to the day of b, each in its own zone.
func DaysBetween(a, b time.Time) int {
	day := func(t time.Time) int64 {
		year, month, day := t.Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
	}
	return int(day(b) - day(a))
}
