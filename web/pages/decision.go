package pages

import (
	"strings"
	"time"

	"github.com/askback/askback/internal/view"
)

// A Time is how long a standing approval can last.
type Time struct {
	Value     string // of the field
	Words     string
	ExpiresIn time.Duration
}

// Times are those that the page offers. Whoever wants others has the API.
var Times = []Time{
	{"1h", "1 hour", time.Hour},
	{"24h", "1 day", 24 * time.Hour},
	{"168h", "1 week", 7 * 24 * time.Hour},
}

// A scope is what a standing approval can cover.
type scope struct{ Value, Words string }

// scopesOf returns the scopes that an ask can have, from narrow to wide.
func scopesOf(a view.Ask) []scope {
	out := []scope{{"tool_and_input", "This call again: exactly these arguments"}}
	if !a.OwnSession {
		out = append(out, scope{"session", "Every call of this tool in this session of the agent, with any arguments"})
	}
	return append(out, scope{"tool", "Every call of this tool by this agent, with any arguments, in all its sessions"})
}

// wide reports whether a person was about to approve more than one call.
func wide(f view.Form) bool {
	return f.Decision == "approve_all" || f.Scope != "" && f.Scope != "tool_and_input" || f.ExpiresIn != 0 && f.ExpiresIn != 24*time.Hour
}

// tall is how many rows a field has: up to a screen.
func tall(t view.RawText) int {
	return min(max(strings.Count(string(t), "\n")+2, 4), 20)
}
