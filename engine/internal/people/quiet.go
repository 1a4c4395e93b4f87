package people

import (
	"strings"
	"time"

	"github.com/askback/askback"
)

// quietHours are the hours of a person without messages. Both ends are clock times in the person's time zone,
// so that they follow daylight saving time.
type quietHours struct {
	begin, end time.Time // the times of day; only their hour and minute count
	zone       *time.Location
}

// quietHoursOf returns the quiet hours of each person who has some, keyed by name.
func quietHoursOf(people []askback.Person) map[string]quietHours {
	all := map[string]quietHours{}
	for i := range people {
		p := &people[i]
		from, to, ok := strings.Cut(p.Quiet, "-")
		if !ok {
			continue
		}
		zone, errZone := time.LoadLocation(p.TimeZone)
		begin, errBegin := time.Parse("15:04", from)
		end, errEnd := time.Parse("15:04", to)
		if errZone == nil && errBegin == nil && errEnd == nil { // the settings were checked when they were read
			all[p.Name] = quietHours{begin, end, zone}
		}
	}
	return all
}

// until returns the end of the quiet hours if they include now, and zero otherwise.
func (q quietHours) until(now time.Time) time.Time {
	if q.zone == nil {
		return time.Time{}
	}
	local := now.In(q.zone)
	at := func(day int, clock time.Time) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()+day, clock.Hour(), clock.Minute(), 0, 0, q.zone)
	}
	for _, day := range []int{-1, 0} { // quiet hours that began yesterday may last until today
		last := day
		if !q.end.After(q.begin) {
			last++
		}
		if until := at(last, q.end); !now.Before(at(day, q.begin)) && now.Before(until) {
			return until.UTC()
		}
	}
	return time.Time{}
}
