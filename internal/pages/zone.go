package pages

import (
	"time"

	"github.com/askback/askback/internal/text/view"
)

// ServerZone is the name of the server's time zone in the field "zone" of a form, and for the script.
const ServerZone = "server"

// location returns the time zone of the page.
func (f Frame) location() *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}

// zoneID returns the name of the page's time zone for forms and for the script: a name of the IANA database, or
// [ServerZone].
func (f Frame) zoneID() string {
	if !f.OwnZone {
		return ServerZone
	}
	return f.location().String()
}

// zoneName returns the name of the page's time zone for people, such as "Europe/Berlin (CET)".
func (f Frame) zoneName() string {
	short := view.ZoneName(f.Now.In(f.location()))
	switch name := f.location().String(); {
	case !f.OwnZone:
		return short + ", the time zone of the server"
	case name != short:
		return name + " (" + short + ")"
	}
	return short
}

// ofServer returns the name of the zone of a time, after a space, if the reader may be in another zone.
func (f Frame) ofServer(t time.Time) string {
	if f.OwnZone {
		return ""
	}
	return " " + view.ZoneName(t.In(f.location()))
}

// when returns a time with its date and zone.
func (f Frame) when(t time.Time) string { return view.FormatTime(t, f.Zone) }

// Until returns a time as short as possible, such as "14:05" for a time of today, or "tomorrow 09:00".
func (f Frame) Until(t time.Time) string { return view.FormatSnooze(t, f.Now, f.Zone) + f.ofServer(t) }

// clockTime returns the time of day.
func (f Frame) clockTime(t time.Time) string {
	return t.In(f.location()).Format("15:04") + f.ofServer(t)
}

// machineTime formats a time for the datetime attribute.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// fieldTime formats a time for a field of the type datetime-local.
func (f Frame) fieldTime(t time.Time) string { return t.In(f.location()).Format("2006-01-02T15:04") }

// dayOf returns the day of a time.
func (f Frame) dayOf(t time.Time) string { return t.In(f.location()).Format(time.DateOnly) }

// dayName returns the day of a time as a phrase that follows a verb, such as "yesterday".
func (f Frame) dayName(t time.Time) string {
	t = t.In(f.location())
	switch view.DaysBetween(t, f.Now.In(f.location())) {
	case 0:
		return "today"
	case 1:
		return "yesterday"
	}
	return "on " + t.Format("Monday, 2 January 2006")
}
