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

// snoozePath returns the address of the form that snoozes an ask.
func (i Inbox) snoozePath(a view.Ask) string {
	return a.PagePath() + "/snooze" + i.Filter.query()
}

// isHidden reports whether the list hides an ask now.
func (i Inbox) isHidden(f Frame, a view.Ask) bool { return f.Now.Before(i.Snoozes.of(a)) }
