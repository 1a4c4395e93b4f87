package pages

import (
	"strconv"
	"time"

	"github.com/askback/askback/internal/text/view"
)

// Values of the field "until" of the form that snoozes an ask. Other values are the names of
// [view.SnoozeTimes].
const (
	SnoozeOwn = "own" // the time in the field "at"
	SnoozeEnd = "end" // ends the snooze
)

// Snoozes contains the snoozes of the logged-in person.
type Snoozes struct {
	Until map[string]time.Time // ends of snoozes by the id of the ask
	Count string               // number of asks that are hidden now; "" for 0
	Next  time.Time            // time when the next of these asks comes back; zero if no ask is hidden
}

// of returns the end of an ask's snooze, or the zero time.
func (s Snoozes) of(a view.Ask) time.Time { return s.Until[a.ID.String()] }

// key returns a text that changes with the time when the next ask comes back.
func (s Snoozes) key() string {
	if s.Next.IsZero() {
		return ""
	}
	return strconv.FormatInt(s.Next.UnixMilli(), 10)
}

// until returns the end of a snooze in words.
func (f Frame) until(t time.Time) string { return view.FormatSnooze(t, f.Now, f.Zone) }

// zoneName returns the name of the page's time zone.
func (f Frame) zoneName() string {
	if f.Zone == nil {
		return "UTC"
	}
	name, _ := f.Now.In(f.Zone).Zone()
	if zone := f.Zone.String(); zone != "Local" && zone != name {
		return zone + " (" + name + ")"
	}
	return name
}

// fieldTime formats a time for a field of the type datetime-local.
func (f Frame) fieldTime(t time.Time) string {
	if f.Zone == nil {
		return t.UTC().Format("2006-01-02T15:04")
	}
	return t.In(f.Zone).Format("2006-01-02T15:04")
}

// snoozePath returns the address of the form that snoozes an ask.
func (i Inbox) snoozePath(a view.Ask) string {
	return a.PagePath() + "/snooze" + i.Filter.query()
}

// isHidden reports whether the list hides an ask now.
func (i Inbox) isHidden(f Frame, a view.Ask) bool { return f.Now.Before(i.Snoozes.of(a)) }
