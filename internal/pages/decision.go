package pages

import (
	"strings"
	"time"

	"github.com/askback/askback/internal/text/view"
)

// A Time is a duration of a standing approval that the page offers.
type Time struct {
	Value     string // value of the field
	Words     string
	ExpiresIn time.Duration
}

// Times are the durations that the page offers. The API accepts others, too.
var Times = []Time{
	{"1h", "1 hour", time.Hour},
	{"24h", "1 day", 24 * time.Hour},
	{"168h", "1 week", 7 * 24 * time.Hour},
}

// A scope is a choice in the menu for the scope of a standing approval.
type scope struct{ Value, Words string }

// scopesOf returns the scopes that the page of an ask offers, from narrow to wide. It
// omits a session that has only this ask.
func scopesOf(a view.Ask) []scope {
	out := []scope{{"tool_and_input", "This call again: exactly these arguments"}}
	if !a.OwnSession {
		out = append(out, scope{"session", "Every call of this tool in this session of the agent, with any arguments"})
	}
	return append(out, scope{"tool", "Every call of this tool by this agent, with any arguments, in all its sessions"})
}

// wantsGrant reports whether the person pressed the button for a standing approval, or
// changed its scope or duration.
func wantsGrant(f view.Form) bool {
	return f.Decision == "approve_all" || f.Scope != "" && f.Scope != "tool_and_input" ||
		f.ExpiresIn != 0 && f.ExpiresIn != 24*time.Hour
}

// fieldRows returns the height of a text field in rows. The height grows with the text, up to about one
// screen.
func fieldRows(t view.RawText) int {
	return min(max(strings.Count(string(t), "\n")+2, 4), 20)
}

// mustRead reports whether the Approve button is at the end of a call, and not in the bar that is always in
// view. The call is dangerous, has warnings, or its arguments may not fit on a screen.
func mustRead(c *view.Confirmation) bool {
	return c.Dangerous || len(c.Warnings) > 0 || rowCount(c.Arguments) > longPreview
}

// whyBelow returns the reason why the Approve button is at the end of a call, for [mustRead].
func whyBelow(c *view.Confirmation) string {
	switch {
	case c.Dangerous:
		return "Dangerous: read it all before you approve."
	case len(c.Warnings) > 0:
		return "Warnings: read them before you approve."
	}
	return "Long: read it all before you approve."
}
