package engine

import (
	"strings"
	"time"

	"github.com/askback/askback"
)

// quietUntil returns the end of the quiet hours of a person, or zero if the person has none
// now.
func (s *Settings) quietUntil(person string, now time.Time) time.Time {
	if person == "" {
		return time.Time{}
	}
	for i := range s.People {
		if s.People[i].Name == person {
			return quietUntil(&s.People[i], now)
		}
	}
	return time.Time{}
}

// quietUntil returns the end of the quiet hours of a person, or zero. Both ends are by the clock
// in the time zone of the person, so that they follow changes to summer time.
func quietUntil(p *askback.Person, now time.Time) time.Time {
	from, to, ok := strings.Cut(p.Quiet, "-")
	if !ok {
		return time.Time{}
	}
	zone, errZone := time.LoadLocation(p.TimeZone)
	begin, errBegin := time.Parse("15:04", from)
	end, errEnd := time.Parse("15:04", to)
	if errZone != nil || errBegin != nil || errEnd != nil {
		return time.Time{} // the settings were checked when they were read
	}
	local := now.In(zone)
	at := func(day int, clock time.Time) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()+day, clock.Hour(), clock.Minute(), 0, 0, zone)
	}
	for _, day := range []int{-1, 0} { // quiet hours that began yesterday may last until today
		last := day
		if !end.After(begin) {
			last++
		}
		if until := at(last, end); !now.Before(at(day, begin)) && now.Before(until) {
			return until.UTC()
		}
	}
	return time.Time{}
}
