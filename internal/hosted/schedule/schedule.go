// Package schedule computes the times at which the runs of an agent start, from a cron line (E15).
package schedule

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// A Schedule is a cron line and the time zone of its clock. The zero value has no times.
type Schedule struct {
	text  string
	zone  *time.Location
	times *cron.SpecSchedule // the times on a clock without changes of its offset
	// elapsed is set if the hours are "*". The schedule then follows elapsed time. Otherwise it follows the
	// local clock.
	elapsed bool
}

// The fields of a schedule in their order, with an example for each.
var fields = [...]struct{ name, example string }{
	{"minute", "0 to 59, as in 30 or */15"},
	{"hour", "0 to 23, as in 7 or 9-17"},
	{"day of the month", "1 to 31, as in 1,15"},
	{"month", "1 to 12, or jan to dec"},
	{"day of the week", "0 to 6 from Sunday, or sun to sat, as in 1-5 or mon-fri"},
}

// fieldForm matches a valid field. The parser accepts more forms, and ignores a part of their text.
var fieldForm = func() *regexp.Regexp {
	const value = `(\d{1,2}|[A-Za-z]{3})`
	const item = `(\*|` + value + `(-` + value + `)?)(/\d{1,2})?`
	return regexp.MustCompile(`^` + item + `(,` + item + `)*$`)
}()

// Parse parses the five fields of a cron line: minute, hour, day of the month, month, and day of the week. A
// field is "*", a value, a range, or a list of these. It may have a step, as in "*/15". If both days are
// limited, a day that matches either field is in the schedule. The times are local times of the zone. The
// error explains the first wrong field.
func Parse(text string, zone *time.Location) (Schedule, error) {
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return Schedule{}, fmt.Errorf(
			"%d fields instead of five: minute, hour, day of the month, month, and day of the week", len(parts),
		)
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	for i, part := range parts {
		alone := []string{"*", "*", "*", "*", "*"}
		alone[i] = part
		_, err := parser.Parse(strings.Join(alone, " "))
		if err != nil || !fieldForm.MatchString(part) {
			return Schedule{}, fmt.Errorf("%q is no %s: it is * or %s", part, fields[i].name, fields[i].example)
		}
	}
	s := Schedule{text: strings.Join(parts, " "), zone: zone}
	parsed, err := parser.Parse(s.text)
	if err != nil {
		return Schedule{}, err
	}
	// this parser does not accept descriptors such as @daily, so the result always has this type
	s.times = parsed.(*cron.SpecSchedule)
	s.times.Location = time.UTC
	s.elapsed = s.times.Hour&everyValue != 0
	if s.read(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, fmt.Errorf("%q is on no day of any year", s.text)
	}
	return s, nil
}

// everyValue is the bit that [cron.SpecSchedule] sets in a field that is "*".
const everyValue = 1 << 63

// IsZero reports whether the schedule is the zero value.
func (s Schedule) IsZero() bool { return s.times == nil }

// Equal reports whether s and t have the same text and the same time zone.
func (s Schedule) Equal(t Schedule) bool {
	return s.text == t.text && s.zone.String() == t.zone.String()
}

// Text returns the cron line, with one space between its fields, or "" for the zero value.
func (s Schedule) Text() string { return s.text }

// Zone returns the name of the time zone. The zero value has the zone UTC.
func (s Schedule) Zone() string { return s.zone.String() }

// Next returns the first time of the schedule after the time after, in the time zone of the schedule. If the
// schedule has no later time, Next returns the zero time.
//
// If clocks are put forward and skip a time, the schedule uses the moment of the change. If clocks are put
// back and show a time twice, it uses the first occurrence. A schedule for every hour is not affected,
// because it follows the hours that pass.
func (s Schedule) Next(after time.Time) time.Time {
	if s.IsZero() {
		return time.Time{}
	}
	t := after.In(s.zone)
	shown := clock(t)
	start, end := t.ZoneBounds()
	if !s.elapsed && !start.IsZero() {
		// if clocks were put back at start, they have shown all local times up to the time just before start
		shown = latest(shown, clock(start.Add(-1)))
	}
	next := s.read(shown)
	for !next.IsZero() {
		at := moment(next, t)
		switch {
		case at.Before(t): // skipped
			return t
		case end.IsZero() || at.Before(end):
			return at
		}
		t = end.In(s.zone)
		if _, end = t.ZoneBounds(); s.elapsed {
			next = s.read(clock(t).Add(-1))
		}
	}
	return time.Time{}
}

// clock returns the local time at t, as a time in UTC.
func clock(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// moment returns the time at which clocks show the local time shown. It uses the offset from UTC that applies
// at t.
func moment(shown, t time.Time) time.Time {
	_, offset := t.Zone()
	return shown.Add(-time.Duration(offset) * time.Second).In(t.Location())
}

// latest returns the later time of a and b.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// read returns the first time of the schedule after the local time shown, or the zero time if the schedule
// has no later time. The library searches only five years ahead, but the next leap year may be eight years
// away. So read searches twice.
func (s Schedule) read(shown time.Time) time.Time {
	for range 2 {
		if next := s.times.Next(shown); !next.IsZero() {
			return next
		}
		shown = shown.AddDate(5, 0, 0)
	}
	return time.Time{}
}
